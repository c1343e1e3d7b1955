"""Ingest: from files to rows.

Enters: paths and settings (`add`). Leaves: one commit a video in the archive, and a report
that names every file that failed. May import: index, media, models, schema; never query.

    paths -> workers -> attempt -> one: File, Known --- nothing to do, or a twin's rows copied
                                    |
                                  pass_: Ahead(decoding) -> SceneFinder, Sampler -> Rows -> Writer
                                                                         +-> Embedding
"""
