"""Reasoners: who judges what a strategy has looked at.

`ChatReasoner` asks chat and vision models; `EmbeddingReasoner` uses no language model, only
similarity, so every strategy runs offline, and its answers say so. Both are a `Reasoner`.
"""

from reeldb.query.reasoners.protocol import (
    Action,
    Conclusion,
    Reasoner,
    View,
)

__all__ = ["Action", "Conclusion", "Reasoner", "View"]
