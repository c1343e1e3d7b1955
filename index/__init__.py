"""Index: the archive on disk, and everything that reads or writes it.

Enters: rows (`commit`), addresses (`ledger`), SQL over registered Arrow tables (`session`).
Leaves: one consistent version of all tables (`snapshot`), nearest pictures (`vectors`).
Lance stores, DuckDB computes: `store` is the only module that touches Lance, `session` the
only one that touches DuckDB. Writers hold one lock for commits only (`lock`); readers never
lock. May import: schema, numpy, lance, duckdb, pyarrow.
"""
