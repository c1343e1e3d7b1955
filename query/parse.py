"""Text to a statement: which kind it is, its budget, and its checked syntax tree.

Length and depth are bounded on the tokens, before anything recursive starts. Errors are
ParseError with line and column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from sqlglot import Token, exp
from sqlglot import TokenType as T
from sqlglot.errors import ParseError as SqlglotParseError
from sqlglot.errors import TokenError, UnsupportedError

from reeldb.query.allow import validate
from reeldb.query.budget import Limits, unit_of
from reeldb.query.dialect import check_printable, parse_tokens, tokenize
from reeldb.schema.errors import ParseError

MAX_CHARS = 100_000
MAX_TOKENS = 4_000
MAX_DEPTH = 24  # sqlglot takes some 20 Python frames a parenthesis; 50 reach the limit
MAX_SET_OPERATIONS = 32
MAX_AFTERTHOUGHTS = 150  # `f(x)[1]`, `f(x).g()`: the time to read them grows with the square

Explain = Literal["plan", "analyze"]
STARTS = ("SELECT", "WITH", "FROM", "VALUES", "ASK", "SUMMARIZE VIDEO", "EXPLAIN", "REPLAY",
          "SHOW TABLES", "DESCRIBE", "SET")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Using:
    """`name(option => value, ...)`: a strategy and its options."""

    name: str
    options: dict[str, str | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Select:
    text: str
    tree: exp.Query
    budget: Limits | None = None
    explain: Explain | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """`scope` is the checked text after FROM, with its WHERE; None is the whole archive."""

    text: str
    question: str
    choices: tuple[str, ...] = ()
    scope: str | None = None
    using: Using | None = None
    budget: Limits | None = None
    explain: Explain | None = None


@dataclass(frozen=True, slots=True)
class Summarize:
    text: str
    video: str
    using: Using | None = None
    budget: Limits | None = None
    explain: Explain | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    id: str


@dataclass(frozen=True, slots=True)
class ShowTables:
    pass


@dataclass(frozen=True, slots=True)
class Describe:
    relation: str


@dataclass(frozen=True, slots=True)
class SetVariable:
    name: str
    value: str


Statement = Select | Ask | Summarize | Replay | ShowTables | Describe | SetVariable


def parse(sql: str) -> Statement:
    """The statement in `sql`. Raises ParseError where it is not part of the language."""
    sql = sql.removeprefix("\ufeff")  # how some editors mark a file as UTF-8
    return _Reader(sql, _tokens(sql)).statement()


def using(text: str) -> Using:
    """A strategy with its options, `tree(branch_width => 4)`. Raises ParseError for anything else.

    >>> using("tree(branch_width => 4)")
    Using(name='tree', options={'branch_width': 4.0})
    """
    statement = parse(f"ASK 'x' USING {text}")
    if not isinstance(statement, Ask) or statement.using is None or statement.budget is not None:
        raise ParseError(f"{text!r} is no strategy; write its name, or name(option => value)")
    return statement.using


def position(sql: str, offset: int) -> str:
    """`(line 2, column 7)` of a character of `sql`, both from 1."""
    before = sql[:offset]
    return f"(line {before.count(chr(10)) + 1}, column {offset - (before.rfind(chr(10)) + 1) + 1})"


_OPEN = {T.L_PAREN, T.L_BRACKET, T.L_BRACE, T.CASE}
_CLOSE = {T.R_PAREN, T.R_BRACKET, T.R_BRACE, T.END}
_PREFIX = {T.NOT, T.DASH, T.PLUS, T.TILDE}
_AFTER = {T.L_BRACKET, T.DOT}
_SET = {T.UNION, T.EXCEPT, T.INTERSECT}


def _tokens(sql: str) -> list[Any]:
    if len(sql) > MAX_CHARS:
        raise ParseError(f"the statement is longer than {MAX_CHARS:,} characters")
    if "\0" in sql:
        raise ParseError(
            f"a NUL character stands in the statement {position(sql, sql.index(chr(0)))}"
        )
    try:
        tokens = tokenize(sql)
    except TokenError as e:
        raise ParseError("the text cannot be read: a quote or comment is not closed") from e
    while tokens and tokens[-1].token_type == T.SEMICOLON:
        tokens.pop()
    if not tokens:
        raise ParseError(f"the statement is empty; it can start with {', '.join(STARTS)}")
    if len(tokens) > MAX_TOKENS:
        raise ParseError(f"the statement has more than {MAX_TOKENS:,} words")
    _bound_depth(sql, tokens)
    return tokens


def _bound_depth(sql: str, tokens: Sequence[Any]) -> None:
    depth = run = sets = after = 0
    before = None
    for token in tokens:
        kind = token.token_type
        after += before in _CLOSE and kind in _AFTER
        before = kind
        depth += (kind in _OPEN) - (kind in _CLOSE)
        run = run + 1 if kind in _PREFIX else 0
        sets += kind in _SET
        wrong = ""
        if depth > MAX_DEPTH or run > MAX_DEPTH:
            wrong = f"nested deeper than {MAX_DEPTH} levels"
        elif after > MAX_AFTERTHOUGHTS:
            wrong = f"more than {MAX_AFTERTHOUGHTS} brackets or dots after brackets"
        elif sets > MAX_SET_OPERATIONS:
            wrong = f"more than {MAX_SET_OPERATIONS} set operations"
        elif kind == T.SEMICOLON:
            wrong = "one statement at a time: a second one starts here"
        if wrong:
            raise ParseError(f"{wrong} {position(sql, token.start)}")


def _numbered(tokens: Sequence[Any]) -> list[Any]:
    """`?` as `$p1`, `$p2` ... in the order of the text, which a tree no longer knows."""
    out: list[Any] = []
    n = 0
    for token in tokens:
        if token.token_type != T.PLACEHOLDER:
            out.append(token)
            continue
        n += 1
        at = {"line": token.line, "col": token.col, "start": token.start, "end": token.end}
        out.append(Token(T.PARAMETER, "$", **at))
        out.append(Token(T.VAR, f"p{n}", **at))
    return out


def _select_of(values: exp.Values) -> exp.Select:
    """`VALUES ... ORDER BY ... LIMIT ...` as a SELECT, which the order and limit belong to."""
    select = exp.select("*").from_(values)
    inner = select.args["from_"].this
    for part in ("order", "limit", "offset"):
        select.set(part, inner.args.get(part))
        inner.set(part, None)
    return select


class _Reader:
    """Reads the words round a query by hand; the query itself is sqlglot's."""

    def __init__(self, sql: str, tokens: list[Any]) -> None:
        self.sql, self.tokens = sql, _numbered(tokens)
        tokens = self.tokens
        quoted = (T.STRING, T.IDENTIFIER)
        self.words = [None if t.token_type in quoted else str(t.text).upper() for t in tokens]

    def error(self, index: int, message: str) -> ParseError:
        if index < len(self.tokens):
            return ParseError(f"{message} {position(self.sql, self.tokens[index].start)}")
        return ParseError(f"{message} {position(self.sql, len(self.sql.rstrip()))}")

    def statement(self) -> Statement:
        at, explain = self._explain()
        cut = self._budget_at(at)
        budget = None if cut is None else self.limits(cut + 1)
        end = len(self.tokens) if cut is None else cut
        head = self.words[at] if at < end else None
        if head in ("SELECT", "WITH", "FROM", "VALUES", "(", "TABLE"):
            return Select(self.sql, self._query(at, end), budget, explain)
        if head == "ASK":
            return self._ask(at, end, budget, explain)
        if head == "SUMMARIZE" and self.words[at + 1 : at + 2] == ["VIDEO"]:
            return self._summarize(at, end, budget, explain)
        if explain is None and budget is None and (plain := self._plain()) is not None:
            return plain
        text = self.tokens[at].text if at < len(self.tokens) else "nothing"
        raise self.error(
            at, f"{text[:40]!r} cannot start a statement; possible: {', '.join(STARTS)}"
        )

    def _explain(self) -> tuple[int, Explain | None]:
        if self.words[0] != "EXPLAIN":
            return 0, None
        return (2, "analyze") if self.words[1:2] == ["ANALYZE"] else (1, "plan")

    def _budget_at(self, start: int) -> int | None:
        """Where the clause starts: the last BUDGET that a number and a unit follow."""
        for i in range(len(self.tokens) - 3, start, -1):
            number = self.tokens[i + 1].token_type == T.NUMBER
            if self.words[i] == "BUDGET" and number and unit_of(self.words[i + 2] or ""):
                return i
        return None

    def limits(self, at: int) -> Limits:
        """`n UNIT [, n UNIT]...` up to the end of the text."""
        pairs: list[tuple[str, float]] = []
        while True:
            unit = unit_of(self.words[at + 1] or "") if at + 1 < len(self.tokens) else None
            if unit is None or self.tokens[at].token_type != T.NUMBER:
                raise self.error(
                    at, "a budget is a number and CAPTIONS, CALLS, SECONDS, TOKENS or USD"
                )
            if unit in dict(pairs):
                raise self.error(at + 1, f"the budget gives {unit} twice")
            pairs.append((unit, float(self.tokens[at].text)))
            at += 2
            if at >= len(self.tokens):
                return Limits.of(pairs)
            if self.tokens[at].token_type != T.COMMA:
                raise self.error(at, "a comma or the end is expected after a part of the budget")
            at += 1

    def _query(self, start: int, end: int, prefix: str = "") -> exp.Query:
        tokens = self.tokens[start:end]
        for first, second in pairwise(tokens):
            if first.token_type == second.token_type == T.COMMA:
                raise ParseError(f"two commas in a row {position(self.sql, second.start)}")
        if prefix:
            tokens = [*tokenize(prefix), *tokens]
        try:
            trees = parse_tokens(tokens, self.sql)
        except SqlglotParseError as e:
            raise ParseError(self._why(e)) from None
        except RecursionError:
            raise ParseError("the statement is nested too deep") from None
        except TokenError:  # of the name of a type
            raise self.error(start, "a name of a type cannot be read in the query") from None
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as e:
            # sqlglot itself trips over a few texts, such as `struct_pack(1 = 2)`
            raise self.error(start, "the query cannot be read: a part is out of place") from e
        tree = trees[0] if len(trees) == 1 else None
        if isinstance(tree, exp.Values):
            tree = _select_of(tree)
        if not isinstance(tree, exp.Query):
            raise self.error(start, "only a query (SELECT ...) can stand here")
        validate(tree, self.sql)
        try:
            check_printable(tree)
        except UnsupportedError as e:
            why = " ".join(str(e).split())
            raise self.error(start, f"not part of the language: {why}") from None
        return tree

    def _why(self, error: SqlglotParseError) -> str:
        first = error.errors[0] if error.errors else {}
        what = str(first.get("description") or "the statement cannot be read").rstrip(".")
        if "<class" in what or "<Token" in what:  # of sqlglot itself
            what = "something is missing or out of place"
        near = str(first.get("highlight") or "")[:40]
        line, col = first.get("line"), first.get("col")
        start = max(1, int(col) - len(near) + 1) if col else 1
        return f"{what}, at {near!r} (line {line}, column {start})" if near else what

    def _ask(self, at: int, end: int, budget: Limits | None, explain: Explain | None) -> Ask:
        if at + 1 >= end or self.tokens[at + 1].token_type != T.STRING:
            raise self.error(at + 1, "ASK wants a question in single quotes")
        question, i = str(self.tokens[at + 1].text), at + 2
        choices: tuple[str, ...] = ()
        if i < end and self.words[i] == "CHOICES":
            choices, i = self._choices(i + 1, end)
        using_at = self._using_at(i, end)
        scope_end = end if using_at is None else using_at
        scope = None
        if i < scope_end:
            if self.words[i] != "FROM":
                raise self.error(i, "expected CHOICES, FROM, USING or BUDGET after the question")
            self._query(i, scope_end, "SELECT *")
            first, last = self.tokens[i].end + 1, self.tokens[scope_end - 1].end + 1
            scope = self.sql[first:last].strip()
        using = None if using_at is None else self._using(using_at + 1, end)
        return Ask(self.sql, question, choices, scope, using, budget, explain)

    def _choices(self, at: int, end: int) -> tuple[tuple[str, ...], int]:
        if at >= end or self.words[at] != "(":
            raise self.error(at, "CHOICES wants a list: CHOICES ('this', 'that')")
        out, at = [], at + 1
        while at < end and self.tokens[at].token_type == T.STRING:
            out.append(str(self.tokens[at].text))
            at += 1
            if at < end and self.words[at] == ",":
                at += 1
        if at >= end or self.words[at] != ")" or len(out) < 2:
            raise self.error(at, "CHOICES wants two or more quoted texts and a closing parenthesis")
        return tuple(out), at + 1

    def _using_at(self, start: int, end: int) -> int | None:
        """The last USING outside parentheses that is not a join's `USING (`."""
        depth = 0
        for i in range(end - 1, start - 1, -1):
            depth += (self.words[i] == ")") - (self.words[i] == "(")
            if depth == 0 and self.words[i] == "USING" and self.words[i + 1 : i + 2] != ["("]:
                return i
        return None

    def _using(self, at: int, end: int) -> Using:
        if at >= end or self.tokens[at].token_type == T.STRING:
            raise self.error(at, "USING wants the name of a strategy")
        name, at = str(self.tokens[at].text).lower(), at + 1
        options: dict[str, str | float | bool] = {}
        if at < end:
            if self.words[at] != "(" or self.words[end - 1] != ")":
                raise self.error(at, "options stand in parentheses: USING tree(branch_width => 4)")
            at += 1
            while at < end - 1:
                key, at = str(self.tokens[at].text).lower(), at + 1
                if at >= end - 1 or self.tokens[at].token_type not in (T.FARROW, T.COLON_EQ, T.EQ):
                    raise self.error(at, f"option {key} wants a value: {key} => 4")
                options[key], at = self._value(at + 1, end - 1)
                if at < end - 1 and self.tokens[at].token_type != T.COMMA:
                    raise self.error(at, "a comma is expected between options")
                at += 1
        return Using(name, options)

    def _value(self, at: int, end: int) -> tuple[str | float | bool, int]:
        sign = 1
        if at < end and self.words[at] == "-":
            sign, at = -1, at + 1
        if at >= end:
            raise self.error(at, "an option wants a number, a quoted text, true or false")
        token = self.tokens[at]
        if token.token_type == T.NUMBER:
            return sign * float(token.text), at + 1
        if token.token_type == T.STRING and sign == 1:
            return str(token.text), at + 1
        if self.words[at] in ("TRUE", "FALSE") and sign == 1:
            return self.words[at] == "TRUE", at + 1
        raise self.error(at, "an option wants a number, a quoted text, true or false")

    def _summarize(
        self, at: int, end: int, budget: Limits | None, explain: Explain | None
    ) -> Summarize:
        if at + 2 >= end or self.tokens[at + 2].token_type not in (T.STRING, T.IDENTIFIER):
            raise self.error(at + 2, "SUMMARIZE VIDEO wants the name of a video in quotes")
        using = None
        if at + 3 < end:
            if self.words[at + 3] != "USING":
                raise self.error(at + 3, "expected USING or BUDGET after the video")
            using = self._using(at + 4, end)
        return Summarize(self.sql, str(self.tokens[at + 2].text), using, budget, explain)

    def _plain(self) -> Statement | None:
        """The statements that are a few words: REPLAY, SHOW, DESCRIBE, SET."""
        words, tokens = self.words, self.tokens
        if words[0] == "REPLAY" and len(tokens) > 1:
            return self._replay()
        if words[0] == "SHOW":
            if words[1:] == ["TABLES"]:
                return ShowTables()
            raise self.error(1, "SHOW knows TABLES only")
        if words[0] == "DESCRIBE":
            if len(tokens) == 2:
                return Describe(str(tokens[1].text))
            raise self.error(1, "DESCRIBE wants the name of one relation")
        if words[0] == "SET":
            return self._set()
        return None

    def _replay(self) -> Replay:
        """The id may stand bare: `8f3a` is a number and a word to the tokenizer."""
        bare = self.sql[self.tokens[1].start : self.tokens[-1].end + 1].strip("'\"")
        if not bare.isalnum():
            raise self.error(1, "REPLAY wants the id of an answer")
        return Replay(bare)

    def _set(self) -> SetVariable:
        words, tokens = self.words, self.tokens
        if len(tokens) == 4 and (words[2] in ("=", "TO")) and words[1] is not None:
            return SetVariable(str(tokens[1].text).lower(), str(tokens[3].text))
        raise self.error(1, "SET wants a name and a value: SET captions = 'cached'")
