"""DuckDB's SQL as sqlglot reads it, minus the keywords that would eat words of ours."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import TokenType, exp
from sqlglot.dialects.duckdb import DuckDB

_DUCKDB = DuckDB.Tokenizer
# A command token swallows the rest of the text as one string; `overlaps` and `describe` are
# functions here.
_COMMANDS = frozenset({*_DUCKDB.COMMANDS, TokenType.COMMAND})
_OURS = frozenset({"OVERLAPS", "DESCRIBE", "EXPLAIN", "SUMMARIZE", "SHOW", "ANALYZE"})


class Reel(DuckDB):
    """The dialect: `sqlglot.parse(text, dialect=Reel)`."""

    class Tokenizer(_DUCKDB):
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            word: kind
            for word, kind in _DUCKDB.KEYWORDS.items()
            if kind not in _COMMANDS and word not in _OURS
        }


_DIALECT = Reel()


def tokenize(sql: str) -> list[Any]:
    return list(_DIALECT.tokenize(sql))


def parse_tokens(tokens: list[Any], sql: str) -> list[exp.Expr | None]:
    return list(_DIALECT.parser().parse(tokens, sql))


def sql_of(tree: exp.Expr) -> str:
    """The text that DuckDB gets, or a message shows."""
    return _DIALECT.generate(tree, comments=False)


def label_of(tree: exp.Expr) -> str:
    """A short name for an expression without one, functions in lower case."""
    return _DIALECT.generate(tree, comments=False, normalize_functions="lower")
