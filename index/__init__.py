"""Index: the archive on disk, and everything that reads or writes it.

Enters: rows (`commit`), what models said (`ledger`), SQL over registered Arrow tables
(`session`). Leaves: one consistent moment of all tables (`snapshot`, its rows put together
by `assemble`), nearest pictures (`vectors`, over `matrix` and `ivf`), faults (`verify`, by
`checks`), numbers (`status`), a DuckDB file (`export`). `archive` ties them together,
`compact` keeps it small, and so does `tidy` while the ledger grows (`known_keys`).

Lance stores, DuckDB computes: `store` is the only module that touches Lance, `session` the
only one that touches DuckDB. Writers hold one lock for commits only (`lock`); readers never
lock. May import: schema, numpy, lance, duckdb, pyarrow.
"""
