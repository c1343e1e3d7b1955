"""Query: from a statement to rows or an answer.

Enters: text (`parse`), names bound to the archive (`bind`), a plan that can be shown before
it runs (`plan`, `explain`), values that models make only where the plan needs them (`fill`,
`run`). Leaves: a `Result` with rows and a status. `strategies/` holds the ways to answer ASK,
one file each. May import: index, media, models, schema; never ingest.
"""
