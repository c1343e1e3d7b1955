"""Ingest: from files to rows.

Enters: paths and settings (`add`). Leaves: one commit a video in the archive, and a report
that names every file that failed. One decode pass feeds scene detection (`scenes`), the
sampling grid, thumbnails and embeddings (`pass_`). May import: index, media, models, schema;
never query.
"""
