"""Lazy values to slots: columns of the scans, so that one relational tree stays one tree.

A lazy column that a derived table only hands on is no read: its value, flag and key travel
upward as hidden columns, and the read is where the value is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from reeldb.query.allow import place_of
from reeldb.query.bm25 import words_of
from reeldb.query.expressions import is_transparent
from reeldb.query.functions import IN_FROM, LAZY_CALLS, TAKES, is_lazy_call, name_of
from reeldb.query.units import (
    NAME,
    Unit,
    UnitKind,
    dense_name,
    key_name,
    ok_name,
    there_name,
    value_name,
)
from reeldb.schema.errors import BindError
from reeldb.schema.relations import RELATIONS, Relation


@dataclass(slots=True)
class Scan:
    """A scan of a relation: which slots it carries. `lazy_rows`: reading it makes a tool look."""

    alias: str
    relation: str
    video_id: str | None
    lazy_rows: bool = False
    units: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Origin:
    """A bare column of a scan, and the derived tables that hand it on, outermost first."""

    scan: str
    relation: str
    column: str
    path: tuple[tuple[exp.Select, str], ...] = ()


@dataclass(slots=True)
class Rewritten:
    """The final tree: run as it is once nothing is missing that it needs."""

    tree: exp.Query
    units: list[Unit]
    scans: dict[str, Scan]


def lazy_relations(scans: Mapping[str, Scan]) -> dict[str, Relation]:
    """The relations that tools may fill, by the alias of their scan."""
    return {s.alias: RELATIONS[s.relation] for s in scans.values() if s.lazy_rows}


def rewrite(
    tree: exp.Query, sql: str, values: Mapping[str, object], lazy_rows: frozenset[str]
) -> Rewritten:
    """`values` are the bound parameters; `lazy_rows` names the relations that tools may fill."""
    return _Rewriter(tree, sql, values, lazy_rows).run()


class _Rewriter:
    def __init__(
        self, tree: exp.Query, sql: str, values: Mapping[str, object], lazy_rows: frozenset[str]
    ) -> None:
        self.tree, self.sql, self.values = tree, sql, values
        self.lazy_rows = lazy_rows
        self.units: list[Unit] = []
        self.scans: dict[str, Scan] = {}
        self.nodes: dict[str, exp.Expr] = {}

    def error(self, node: exp.Expr, message: str) -> BindError:
        return BindError(f"{message}{place_of(node, self.sql)}")

    def run(self) -> Rewritten:
        for node in self.tree.find_all(exp.Table, exp.Subquery):
            if node.alias:
                self.nodes[node.alias] = node
                if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
                    self._scan_of(node)
        for call in [*self.tree.find_all(exp.Anonymous)]:
            if is_lazy_call(call):
                self._call(call)
            elif name_of(call) in IN_FROM:
                raise self.error(call, f"{name_of(call)}() is a relation: it stands in FROM")
        handed = [c for c in [*self.tree.find_all(exp.Column)] if self._column(c)]
        for column in handed:  # only now: the reads above looked through them
            column.replace(exp.Null())
        for scan in [*self.scans.values()]:
            if scan.lazy_rows:
                self._exists(scan)
        for scan in self.scans.values():
            self.nodes[scan.alias].replace(self._scan(scan))
        return Rewritten(self.tree, self.units, self.scans)

    def _scan_of(self, node: exp.Table) -> None:
        video_id = node.meta.get("video_id")
        lazy = node.name in self.lazy_rows
        self.scans[node.alias] = Scan(node.alias, node.name, video_id, lazy)

    # Reads

    def _call(self, call: exp.Anonymous) -> None:
        name, arguments = name_of(call), call.expressions
        usage = LAZY_CALLS[name]
        wanted = 1 if name == "caption_status" else 2
        if len(arguments) != wanted:
            raise self.error(call, f"{name}() is written {usage}")
        column = arguments[0].unnest()
        bare = isinstance(column, exp.Column)
        origin = self.origin(column.table, column.name) if bare else None
        if origin is None:
            raise self.error(
                call, f"{name}(): its first argument is computed, not a column of a relation"
            )
        takes = TAKES[name]
        if origin.column not in takes.get(origin.relation, ()):
            columns = " or ".join(dict.fromkeys(c for cs in takes.values() for c in cs))
            of = " or ".join(takes)
            raise self.error(call, f"{name}() takes {columns} of {of}: {usage}")
        unit = self._unit_of(call, name, origin)
        call.replace(self._slot(column.table, origin, unit))

    def _unit_of(self, call: exp.Anonymous, name: str, origin: Origin) -> Unit:
        kind: UnitKind = "status" if name == "caption_status" else name  # type: ignore[assignment]
        if kind == "status":
            return Unit(origin.relation, kind, origin.column, late=self._in_last_list(call))
        text, parameter = self._constant(call, call.expressions[1])
        if kind == "bm25" and not words_of(text):
            raise self.error(call, f"bm25(): there is no word in {text!r}")
        return Unit(origin.relation, kind, origin.column, text, parameter)

    def _constant(self, call: exp.Anonymous, node: exp.Expr) -> tuple[str, str]:
        """The text of a literal or of a bound parameter, or ('', name) for a bound picture."""
        if isinstance(node, exp.Literal) and node.is_string:
            return str(node.this), ""
        if isinstance(node, exp.Placeholder):
            value = self.values[node.name]
            if isinstance(value, str):
                return value, ""
            if name_of(call) == "similarity" and value is not None:
                return "", node.name
            raise self.error(call, f"{name_of(call)}(): ${node.name} must be a text")
        raise self.error(call, f"{name_of(call)}() is written {LAZY_CALLS[name_of(call)]}")

    def _in_last_list(self, node: exp.Expr) -> bool:
        above: exp.Expr | None = node
        while above is not None and not isinstance(above, exp.Select):
            if above.parent is self.tree and above.arg_key == "expressions":
                return isinstance(self.tree, exp.Select)
            above = above.parent
        return False

    def _column(self, column: exp.Column) -> bool:
        """Makes a read of a lazy column a slot; True for one that is only handed on."""
        if NAME.match(column.name) or column.table not in self.nodes:
            return False
        origin = self.origin(column.table, column.name)
        if origin is None:
            return False
        kind = RELATIONS[origin.relation].by_name[origin.column].kind
        if kind == "stored":
            return False
        if self._hands_on(column):
            return True
        unit_kind: UnitKind = "heavy" if kind == "heavy" else "column"
        unit = Unit(origin.relation, unit_kind, origin.column)
        column.replace(self._slot(column.table, origin, unit))
        return False

    def _hands_on(self, column: exp.Column) -> bool:
        """Whether a derived table's list only names the column."""
        alias = column.parent
        if not isinstance(alias, exp.Alias) or alias.arg_key != "expressions":
            return False
        select = alias.parent
        holder = select.parent if isinstance(select, exp.Select) else None
        derived = isinstance(holder, exp.Subquery) and isinstance(
            holder.parent, (exp.From, exp.Join)
        )
        return derived and isinstance(select, exp.Select) and is_transparent(select)

    def origin(self, alias: str, column: str) -> Origin | None:
        """Where a column comes from, when it is a bare column of a scan all the way down."""
        node = self.nodes.get(alias)
        if isinstance(node, exp.Table):
            relation = node.name
            known = relation in RELATIONS and column in RELATIONS[relation].by_name
            return Origin(alias, relation, column) if known else None
        if not isinstance(node, exp.Subquery) or not isinstance(node.this, exp.Select):
            return None
        select = node.this
        if not is_transparent(select):
            return None
        item = next((p for p in select.selects if p.alias_or_name == column), None)
        inner = item.unalias() if item is not None else None
        if not isinstance(inner, exp.Column):
            return None
        below = self.origin(inner.table, inner.name)
        if below is None:
            return None
        path = ((select, inner.table), *below.path)
        return Origin(below.scan, below.relation, below.column, path)

    # Slots

    def _number(self, unit: Unit) -> int:
        if unit not in self.units:
            self.units.append(unit)
        return self.units.index(unit)

    def _slot(self, table: str, origin: Origin, unit: Unit) -> exp.Column:
        """The column to read, handed up through the derived tables on the way."""
        number, scan = self._number(unit), origin.scan
        self.scans[scan].units.add(number)
        if unit.at_once:
            names = [dense_name(number, scan)]
        else:
            names = [value_name(number, scan), ok_name(number, scan), key_name(scan)]
        for select, inner in origin.path:
            there = {p.alias for p in select.selects}
            for name in names:
                if name not in there:
                    select.append("expressions", exp.alias_(exp.column(name, inner), name))
        return exp.column(names[0], table)

    # Scans

    def _exists(self, scan: Scan) -> None:
        """A lazy relation's rows count only where they are real: one more condition."""
        condition = exp.column(there_name(scan.alias), scan.alias)
        node = self.nodes[scan.alias]
        holder = node.parent
        if isinstance(holder, exp.Join) and holder.side in ("", "LEFT"):
            on = holder.args.get("on")
            if on is not None:
                holder.set("on", exp.and_(condition, on.copy()))
                return
        select = node.find_ancestor(exp.Select)
        if select is None:
            raise BindError(f"{scan.relation} cannot stand here")
        if any(j.side in ("RIGHT", "FULL") for j in select.args.get("joins") or []):
            self._fence(scan, node)
        else:
            select.where(condition, copy=False)

    def _fence(self, scan: Scan, node: exp.Expr) -> None:
        """Beside a RIGHT or FULL join the rows must be known before: a derived table of them."""
        inner = exp.Table(this=exp.to_identifier(scan.relation))
        columns = [c.name for c in RELATIONS[scan.relation].columns]
        outer, alias = scan.alias, f"{scan.alias}9999"
        inner.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
        there = exp.column(there_name(alias), alias)
        names = [exp.to_identifier(c, quoted=True) for c in columns]
        select = exp.select(*(exp.alias_(exp.column(n, alias), n.copy()) for n in names))
        select.set("from_", exp.From(this=inner))
        select.set("where", exp.Where(this=there))
        derived = exp.Subquery(this=select)
        derived.set("alias", exp.TableAlias(this=exp.to_identifier(outer)))
        node.replace(derived)
        self.nodes[outer], self.nodes[alias] = derived, inner
        del self.scans[outer]
        scan.alias = alias
        self.scans[alias] = scan

    def _scan(self, scan: Scan) -> exp.Subquery:
        """`(SELECT b.*, <key>, <values and flags> FROM <relation> b LEFT JOIN <fills>) AS r0`."""
        alias = scan.alias
        columns: list[exp.Expr] = [
            exp.column(exp.Star(), "b"),
            exp.alias_(exp.column("__k", "b"), key_name(alias)),
        ]
        if scan.lazy_rows:
            columns.append(exp.alias_(exp.column("__e", "b"), there_name(alias)))
        select = exp.select(*columns).from_(exp.to_table(f"b_{scan.relation}").as_("b"))
        for number in sorted(scan.units):
            if self.units[number].at_once:
                dense = exp.column(f"__c{number}", "b")
                select.append("expressions", exp.alias_(dense, dense_name(number, alias)))
                continue
            fill = f"f{number}"
            value = exp.alias_(exp.column("v", fill), value_name(number, alias))
            known = exp.Not(this=exp.Is(this=exp.column("k", fill), expression=exp.Null()))
            select.append("expressions", value)
            select.append("expressions", exp.alias_(known, ok_name(number, alias)))
            same = exp.EQ(this=exp.column("k", fill), expression=exp.column("__k", "b"))
            select = select.join(exp.to_table(fill), on=same, join_type="left", copy=False)
        if scan.video_id is not None:
            mine = exp.EQ(
                this=exp.column("video_id", "b"), expression=exp.Literal.string(scan.video_id)
            )
            select = select.where(mine)
        return select.subquery(alias)
