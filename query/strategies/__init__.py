"""Strategies: ways to answer a question over the archive, one file each.

A strategy composes the same few operators (sample, search, caption, select, answer) over one
ledger and one budget, and writes a trace. `STRATEGIES` in `registry.py` is the list.
"""
