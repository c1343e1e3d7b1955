"""Reasoners: who judges what a strategy has looked at.

`EmbeddingReasoner` uses no language model, only similarity, so every strategy runs offline;
its answers say so.
"""
