"""Operators: the few things that a strategy can do, behind the methods of `Task`.

`grid` gives the pictures in the scope, `nearest` compares them with texts, `captions` describes
pictures and stretches, `replies` asks chat and vision models, `words` reads what the archive
holds of on-screen text and speech. Captions and replies go through the ledger: known ones are
free, others are paid for once, after the budget was debited. In a replay (`recorded`) nothing is
made: what is not on record is an error that names it.
"""
