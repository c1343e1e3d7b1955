"""DuckDB's SQL as sqlglot reads it, minus the keywords that would eat words of ours."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

from sqlglot import ErrorLevel, Token, TokenType, exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.parsers.duckdb import DuckDBParser

_DUCKDB = DuckDB.Tokenizer
# A command token swallows the rest of the text as one string; `overlaps` and `describe` are
# functions here, and `?::` is a parameter that is cast.
_COMMANDS = frozenset({*_DUCKDB.COMMANDS, TokenType.COMMAND})
_OURS = frozenset({"OVERLAPS", "DESCRIBE", "EXPLAIN", "SUMMARIZE", "SHOW", "ANALYZE", "?::"})


class Reel(DuckDB):
    """The dialect: `sqlglot.parse(text, dialect=Reel)`."""

    class Tokenizer(_DUCKDB):
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            word: kind
            for word, kind in _DUCKDB.KEYWORDS.items()
            if kind not in _COMMANDS and word not in _OURS
        }

    class Parser(DuckDBParser):
        def _warn_unsupported(self) -> None:
            """sqlglot would log it and hand the rest of the text on as it is."""
            self.raise_error("not part of the language")


_DIALECT = Reel()


def tokenize(sql: str) -> list[Any]:
    """The words of a statement; `$$...$$` is a text like any other."""
    return [_plain(token) for token in _DIALECT.tokenize(sql)]


def _plain(token: Any) -> Any:
    if token.token_type not in (TokenType.HEREDOC_STRING, TokenType.RAW_STRING):
        return token
    at = {"line": token.line, "col": token.col, "start": token.start, "end": token.end}
    return Token(TokenType.STRING, token.text, **at)


def parse_tokens(tokens: list[Any], sql: str) -> list[exp.Expr | None]:
    return list(_DIALECT.parser().parse(tokens, sql))


class _Generators(threading.local):
    """Generators keep state while they write, so each thread has its own."""

    def __init__(self) -> None:
        quiet, strict = ErrorLevel.IGNORE, ErrorLevel.RAISE
        self.strict = _DIALECT.generator(comments=False, unsupported_level=strict)
        self.plain = _DIALECT.generator(comments=False, unsupported_level=quiet)
        self.lower = _DIALECT.generator(
            comments=False, normalize_functions="lower", unsupported_level=quiet
        )


_GENERATORS = _Generators()


def check_printable(tree: exp.Expr) -> None:
    """Raises sqlglot's UnsupportedError where DuckDB's text would not say what the tree says."""
    _GENERATORS.strict.generate(tree)


def sql_of(tree: exp.Expr) -> str:
    """The text that DuckDB gets, or a message shows."""
    return str(_GENERATORS.plain.generate(tree))


def label_of(tree: exp.Expr) -> str:
    """A short name for an expression without one, functions in lower case."""
    return str(_GENERATORS.lower.generate(tree))
