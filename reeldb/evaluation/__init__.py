"""Evaluation: benchmarks, made or loaded, and what strategies make of them.

Enters: a benchmark folder (`benchmark` says what one is; `made/` makes one of any size from a
seed) and the names of strategies. `run` asks every question of every strategy and keeps each
answer as a line of JSON, so that a run that was stopped goes on; `table` sums the lines up with
bootstrap intervals. Leaves: files and tables of numbers.
May import: database and everything below; never cli.
"""
