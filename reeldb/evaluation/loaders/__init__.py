"""Benchmarks as their publishers give them: annotation files to questions, one file a benchmark.

Enters: a published file or folder, and a folder of the videos that the user has. Leaves: a
`Published` benchmark (`published`): every question, the file of each video that is there, and
which are missing. Each loader names the upstream file it was written from. A row that is not of
the format is an error that names file and row; none is dropped. Nothing is downloaded.
"""
