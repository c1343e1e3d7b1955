"""Query: from a statement to rows or an answer.

Enters: text. `parse` reads the statement, `allow` refuses what is not of the language, `bind`
ties every name to the archive, `rewrite` makes lazy values slots of the scans, `planner` finds
the key queries, `run` fills in waves until no missing value can matter and finishes in DuckDB;
`partial` gives the sound part where a budget ended, `explain` shows the plan. How a kind of
value is remembered or made is a file in `fillers/`; the words sent to models are in `prompts/`,
ways to answer ASK in `strategies/`. Leaves: a `Result` with rows and a status, or an `Answer`.
May import: index, media, models, schema; never ingest.
"""
