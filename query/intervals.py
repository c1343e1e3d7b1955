"""before, after, overlaps, during, within: how two rows of one video lie in time.

A span is `[start_s, end_s)`, a point `t_s`. `before(a, b)` is a.end_s <= b.start_s; a point is
before a span that starts later, and overlaps one that it lies in, so for any pair exactly one
of before, overlaps, after holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from reeldb.query.functions import SPAN_CALLS, name_of
from reeldb.query.scope import Scope, Source
from reeldb.schema.errors import BindError, near

MakeError = Callable[..., BindError]


@dataclass(frozen=True, slots=True)
class _Ends:
    video_id: exp.Expr
    start: exp.Expr
    end: exp.Expr
    point: bool


def span_condition(call: exp.Expr, scope: Scope, error: MakeError) -> exp.Expr:
    """The condition on columns that a call such as `before(a, b)` stands for."""
    name, arguments = name_of(call), list(call.expressions)
    wanted = 3 if name == "within" else 2
    if len(arguments) != wanted:
        raise error(call, f"{name}() takes {wanted} arguments: {SPAN_CALLS[name]}")
    a, b = (_ends(x, name, scope, error) for x in arguments[:2])
    same = exp.EQ(this=a.video_id.copy(), expression=b.video_id.copy())
    if name == "after":
        name, a, b = "before", b, a
    if name == "within":
        condition = _within(a, b, _seconds(arguments[2], error))
    else:
        condition = {"before": _before, "overlaps": _overlaps, "during": _during}[name](a, b)
    return exp.paren(exp.and_(same, condition, copy=False), copy=False)


def _ends(node: exp.Expr, name: str, scope: Scope, error: MakeError) -> _Ends:
    if not isinstance(node, exp.Column) or node.table:
        raise error(node, f"{name}() takes relations by their alias: {SPAN_CALLS[name]}")
    source = scope.source(node.name)
    if source is None:
        known = [s.name for s in scope.sources]
        raise error(node, f"{name}(): no relation {node.name!r} here", near(node.name, known))
    if source.field("video_id") is None or not (_has_span(source) or source.field("t_s")):
        raise error(node, f"{name}(): {node.name} needs video_id and start_s, end_s or t_s")
    video_id = source.column("video_id")
    if _has_span(source):
        return _Ends(video_id, source.column("start_s"), source.column("end_s"), False)
    return _Ends(video_id, source.column("t_s"), source.column("t_s"), True)


def _has_span(source: Source) -> bool:
    return source.field("start_s") is not None and source.field("end_s") is not None


def _seconds(node: exp.Expr, error: MakeError) -> exp.Expr:
    inner = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(inner, (exp.Literal, exp.Placeholder)) or (
        isinstance(inner, exp.Literal) and inner.is_string
    ):
        raise error(node, f"within() takes a number of seconds: {SPAN_CALLS['within']}")
    return node


def _before(a: _Ends, b: _Ends) -> exp.Expr:
    return (exp.LT if a.point else exp.LTE)(this=a.end.copy(), expression=b.start.copy())


def _overlaps(a: _Ends, b: _Ends) -> exp.Expr:
    if a.point and b.point:
        return exp.EQ(this=a.start.copy(), expression=b.start.copy())
    if a.point:
        return _contains(b, a.start)
    if b.point:
        return _contains(a, b.start)
    return exp.and_(
        exp.LT(this=a.start.copy(), expression=b.end.copy()),
        exp.LT(this=b.start.copy(), expression=a.end.copy()),
    )


def _during(a: _Ends, b: _Ends) -> exp.Expr:
    if a.point:
        return _overlaps(a, b)
    return exp.and_(
        exp.GTE(this=a.start.copy(), expression=b.start.copy()),
        exp.LTE(this=a.end.copy(), expression=b.end.copy()),
    )


def _contains(span: _Ends, t: exp.Expr) -> exp.Expr:
    return exp.and_(
        exp.LTE(this=span.start.copy(), expression=t.copy()),
        exp.LT(this=t.copy(), expression=span.end.copy()),
    )


def _within(a: _Ends, b: _Ends, seconds: exp.Expr) -> exp.Expr:
    def reach(end: exp.Expr) -> exp.Expr:
        return exp.Add(this=end.copy(), expression=seconds.copy())

    return exp.and_(
        exp.LTE(this=a.start.copy(), expression=reach(b.end)),
        exp.LTE(this=b.start.copy(), expression=reach(a.end)),
    )
