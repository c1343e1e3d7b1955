"""Random SELECTs over stored columns: everything that DuckDB's SELECT has, nothing lazy.

DuckDB itself is the witness: the same text over the same tables gives the same rows. A
statement with LIMIT is in an order without ties that matter; lists are gathered in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

NUMBERS = {
    "videos": ["duration_s", "width", "bytes", "scene_count", "lost_frames"],
    "scenes": ["scene_no", "start_s", "end_s", "key_s"],
    "frames": ["t_s", "frame_no", "scene_no"],
    "speech": ["start_s", "end_s", "line_no", "confidence"],
}
TEXTS = {
    "videos": ["video", "codec", "note", "embedder"],
    "scenes": ["video", "video_id"],
    "frames": ["video", "video_id"],
    "speech": ["text", "language", "video"],
}
FLAGS = {"videos": ["damaged", "has_audio", "missing"], "frames": ["on_grid"]}
RELATIONS = sorted(NUMBERS)
WORDS = ["a", "b.mp4", "it''s", "ünï", "%", "hello", "", "x_y", "-- no", "; no"]
AGGREGATES = ["count(*)", "count({n})", "sum({n})", "min({n})", "max({t})", "min({t})",
              "count(DISTINCT {t})", "avg({n})", "bool_or({b})", "bool_and({b})",
              "count(*) FILTER (WHERE {b})", "sum({n}) FILTER (WHERE {b})",
              "string_agg({k}, '|' ORDER BY {k})", "list({k} ORDER BY {k})", "median({n})",
              "max({n}) - min({n})", "quantile_disc({n}, 0.5)", "any_value(1)",
              "list(DISTINCT {k} ORDER BY {k})", "coalesce(sum({n}), 0)"]  # fmt: skip
NUMBER_FORMS = ["({n} + {n})", "({n} - {n})", "({n} * 2)", "-{n}", "abs({n})", "round({n}, 1)",
                "floor({n})", "coalesce({n}, {n})", "least({n}, {n})", "greatest({n}, 0)",
                "CASE WHEN {b} THEN {n} ELSE {n} END", "CASE WHEN {b} THEN {n} END",
                "length({t})", "nullif({n}, 2)", "{n} / 4", "{n} % 3", "strpos({t}, 'e')",
                "if({b}, {n}, 0)", "CAST({n} AS INTEGER)", "({n})::DOUBLE", "{n} // 2",
                "CASE {n} WHEN 1 THEN {n} WHEN 2 THEN 0 END", "len({l})", "list_sum({l})",
                "(SELECT max(q.{c}) FROM {r} q)", "({l})[1]", "{{'a': {n}, 'b': 1}}.a",
                "try_cast({t} AS INTEGER)"]  # fmt: skip
TEXT_FORMS = ["upper({t})", "lower({t})", "({t} || {t})", "concat({t}, {t})", "substr({t}, 1, 3)",
              "left({t}, 2)", "replace({t}, 'a', 'o')", "coalesce({t}, 'none')", "trim({t})",
              "CASE WHEN {b} THEN {t} ELSE {t} END", "CAST({n} AS VARCHAR)", "reverse({t})",
              "split_part({t}, '.', 1)", "regexp_replace({t}, '[aeiou]', '_', 'g')",
              "nullif({t}, 'a')", "array_to_string({l}, '-')", "repeat({t}, 2)",
              "lpad({t}, 4, '*')", "printf('%s!', {t})"]  # fmt: skip
FLAG_FORMS = ["{n} < {n}", "{n} >= {n}", "{n} = {n}", "{n} <> 1", "{t} = {t}", "{t} LIKE '%e%'",
              "{t} ILIKE 'A%'", "{n} BETWEEN {n} AND {n}", "{n} NOT BETWEEN 5 AND 1",
              "{n} IS NULL", "{t} IS NOT NULL", "({b} AND {b})", "({b} OR {b})", "NOT ({b})",
              "{n} IN (0, 1, 2, NULL)", "{t} NOT IN ('a', 'b.mp4')", "{n} IS DISTINCT FROM {n}",
              "{t} IS NOT DISTINCT FROM {t}", "regexp_matches({t}, 'e+')", "{b} IS TRUE",
              "({n}, {t}) = ({n}, {t})", "list_contains({l}, {n})", "starts_with({t}, 'a')",
              "{n} IN (SELECT q.{c} FROM {r} q)", "{n} > ALL (SELECT q.{c} FROM {r} q)",
              "{n} = ANY (SELECT q.{c} FROM {r} q)", "{t} SIMILAR TO '.*e.*'",
              "{n} NOT IN (SELECT q.{c} FROM {r} q WHERE q.{c} IS NOT NULL)",
              "EXISTS (SELECT 1 FROM {r} q WHERE q.{c} < {n})",
              "NOT EXISTS (SELECT * FROM {r} q WHERE q.{c} = {n} AND {b})",
              "(SELECT count(*) FROM {r} q WHERE q.{c} > {n}) > 1"]  # fmt: skip
LIST_FORMS = ["[{n}, {n}, 1]", "list_transform([{n}, 2], lambda x: x + {n})",
              "list_filter([{n}, 1, 3], lambda x: x > 1)", "[{n}, 5, 6][2:3]",
              "[x * 2 FOR x IN [{n}, 7]]", "list_sort([{n}, {n}])", "range(4)",
              "list_distinct([{n}, 1, 1])[1:1]", "list_concat([{n}], [1])"]  # fmt: skip
WINDOWS = ["row_number() OVER ({o})", "rank() OVER ({o})", "sum({n}) OVER ({o})",
           "lag({n}) OVER ({o})", "first_value({t}) OVER ({o})", "count(*) OVER ()",
           "lead({n}, 1, 0) OVER ({o})", "dense_rank() OVER ({o})", "ntile(3) OVER ({o})",
           "max({n}) OVER ({o} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
           "sum({n}) FILTER (WHERE {b}) OVER (PARTITION BY {t})", "sum({n}) OVER w",
           "count(*) OVER ({o} RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
           "min({n}) OVER ({o} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING EXCLUDE "
           "CURRENT ROW)"]  # fmt: skip


class Stored:
    """A generator of one statement a seed."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.names = 0
        self.sources: list[tuple[str, list[str], list[str], list[str]]] = []

    def query(self) -> str:
        makers: list[Callable[[], str]] = [
            self._plain, self._plain, self._grouped, self._grouped, self._windowed, self._set,
            self._limited, self._distinct, self._with, self._derived, self._star, self._sets,
        ]  # fmt: skip
        return self.dice.choice(makers)()

    # Expressions

    def _alias(self) -> str:
        self.names += 1
        return f"t{self.names}"

    def _leaf(self, kind: int, literal: str) -> str:
        held = [f"{a}.{c}" for a, *columns in self.sources for c in columns[kind]]
        if not held or self.dice.random() < 0.2:
            return literal
        return self.dice.choice(held)

    def _of(self, forms: list[str], depth: int) -> str:
        form = self.dice.choice(forms)
        relation = self.dice.choice(RELATIONS)
        column = self.dice.choice(NUMBERS[relation])
        key = self.dice.choice(self._keys() or ["NULL"])
        over = self._over() if "{o}" in form else ""
        parts = {"r": relation, "c": column, "k": key, "o": over}
        makers = {"n": self.number, "t": self.text, "b": self.flag, "l": self.items}
        out = form
        for name, make in makers.items():
            while "{" + name + "}" in out:
                out = out.replace("{" + name + "}", make(depth - 1), 1)
        for name, value in parts.items():
            out = out.replace("{" + name + "}", value)
        return out.replace("{{", "{").replace("}}", "}")

    def number(self, depth: int = 2) -> str:
        if depth <= 0 or self.dice.random() < 0.4:
            return self._leaf(0, str(self.dice.choice([0, 1, 2, 3, 2.5, 10])))
        return self._of(NUMBER_FORMS, depth)

    def text(self, depth: int = 2) -> str:
        if depth <= 0 or self.dice.random() < 0.5:
            return self._leaf(1, f"'{self.dice.choice(WORDS)}'")
        return self._of(TEXT_FORMS, depth)

    def flag(self, depth: int = 2) -> str:
        if depth <= 0:
            return self._leaf(2, f"{self.number(0)} < {self.number(0)}")
        return self._of(FLAG_FORMS, depth)

    def items(self, depth: int = 1) -> str:
        return self._of(LIST_FORMS, min(depth, 1))

    def _over(self) -> str:
        part = f"PARTITION BY {self.text(0)} " if self.dice.random() < 0.6 else ""
        return f"{part}ORDER BY {', '.join(self._keys())}"

    def _keys(self) -> list[str]:
        """Columns by which no two rows of FROM that differ are tied."""
        return [f"{a}.{c}" for a, *columns in self.sources for c in columns[0] + columns[1]]

    # FROM

    def _add(self, relation: str) -> str:
        a = self._alias()
        self.sources.append((a, NUMBERS[relation], TEXTS[relation], FLAGS.get(relation, [])))
        return f"{relation} {a}"

    def _from(self, most: int = 2) -> str:
        self.sources = []
        first = self.dice.choice(RELATIONS)
        text = self._item(first)
        while len(self.sources) < most and self.dice.random() < 0.5:
            text += self._join()
        return text

    def _item(self, relation: str) -> str:
        roll = self.dice.random()
        if roll < 0.75:
            return self._add(relation)
        a = self._alias()
        if roll < 0.83:
            self.sources.append((a, ["x"], ["y"], []))
            return f"(VALUES (1, 'a'), (2, NULL), (NULL, 'b.mp4')) AS {a}(x, y)"
        if roll < 0.88:
            self.sources.append((a, ["x"], [], []))
            return f"range(1, 4) AS {a}(x)"
        if roll < 0.92:
            self.sources.append((a, ["x"], [], []))
            return f"unnest([1, 2, NULL]) AS {a}(x)"
        columns = NUMBERS[relation]
        self.sources.append((a, columns, TEXTS[relation], FLAGS.get(relation, [])))
        return f"(SELECT * FROM {relation} WHERE {columns[0]} < 5) AS {a}"

    def _join(self) -> str:
        kind = self.dice.choice(
            ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", ",", "USING", "LATERAL"]
        )
        before = list(self.sources)
        if kind == "LATERAL":
            a = self._alias()
            inner = self.number(1)
            self.sources.append((a, ["z"], [], []))
            return f", LATERAL (SELECT {inner} AS z) AS {a}"
        relation = self.dice.choice(RELATIONS)
        item = self._add(relation)
        new = self.sources[-1]
        left = next((a for a, _, texts, _ in before if "video" in texts), None)
        if kind in ("CROSS JOIN", ","):
            return f"{' ' if kind != ',' else ''}{kind} {item}"
        if kind == "USING" and left is not None and len(before) == 1:
            return f" JOIN {item} USING (video)"
        kind = "JOIN" if kind == "USING" else kind
        on = f"{left}.video = {new[0]}.video" if left is not None else f"{self.flag(0)}"
        if kind in ("JOIN", "LEFT JOIN") and self.dice.random() < 0.5:
            on += f" AND {self.flag(0)}"
        return f" {kind} {item} ON {on}"

    # Statements

    def _where(self) -> str:
        return f" WHERE {self.flag()}" if self.dice.random() < 0.6 else ""

    def _list(self, most: int = 4) -> list[str]:
        makers: list[Callable[[], str]] = [self.number, self.text, self.flag, self.items]
        weights = [4, 4, 2, 1]
        return [
            f"{self._no_constant(make)} AS c{i}"
            for i, make in enumerate(
                self.dice.choices(makers, weights, k=self.dice.randint(1, most))
            )
        ]

    def _no_constant(self, make: Callable[[], str]) -> str:
        text = make()
        return text if re.search(r"[(\[]|t\d|one|two", text) else f"nullif({text}, NULL)"

    def _plain(self) -> str:
        text = self._from()
        return f"SELECT {', '.join(self._list())} FROM {text}{self._where()}"

    def _star(self) -> str:
        text = self._from(2)
        numbers = self.sources[0][1]
        a = self.sources[0][0]
        star = self.dice.choice(
            [
                "*",
                f"{a}.*",
                f"{a}.* EXCLUDE ({numbers[0]})",
                f"{a}.* REPLACE ({self.number(1)} AS {numbers[0]})",
                f"{a}.* RENAME ({numbers[0]} AS renamed)",
                f"{a}.*, {self.number(1)} AS more",
            ]
        )
        return f"SELECT {star} FROM {text}{self._where()}"

    def _limited(self) -> str:
        text = self._from()
        columns = self._list(3)
        order = ", ".join(
            f"{i + 1}{self.dice.choice(['', ' DESC', ' NULLS LAST', ' DESC NULLS FIRST'])}"
            for i in range(len(columns))
        )
        offset = f" OFFSET {self.dice.randint(0, 3)}" if self.dice.random() < 0.5 else ""
        body = f"SELECT {', '.join(columns)} FROM {text}{self._where()}"
        return f"{body} ORDER BY {order} LIMIT {self.dice.randint(0, 9)}{offset}"

    def _aggregates(self, most: int = 3) -> list[str]:
        return [f"{self._of(AGGREGATES, 1)} AS a{i}" for i in range(self.dice.randint(1, most))]

    def _grouped(self) -> str:
        text = self._from()
        where, aggregates = self._where(), self._aggregates()
        keys = [f"{self.text(1)} AS k0", f"{self.number(1)} AS k1"][: self.dice.randint(0, 2)]
        group = {
            0: [""],
            1: [" GROUP BY 1", " GROUP BY ALL", " GROUP BY k0", " GROUP BY ROLLUP (1)"],
            2: [" GROUP BY 1, 2", " GROUP BY ALL", " GROUP BY k0, k1"],
        }[len(keys)]
        having = ""
        if keys and self.dice.random() < 0.4:
            having = f" HAVING {self._of(AGGREGATES[:2], 1)} > {self.dice.randint(0, 3)}"
        items = ", ".join([*keys, *aggregates])
        return f"SELECT {items} FROM {text}{where}{self.dice.choice(group)}{having}"

    def _sets(self) -> str:
        """GROUP BY several sets of columns."""
        text = self._from(1)
        held = [c for _, _, texts, _ in self.sources for c in texts]
        if len(held) < 2:
            return self._plain()
        a, (x, y) = self.sources[0][0], self.dice.sample(held, 2)
        sets = self.dice.choice(
            [f"ROLLUP ({a}.{x}, {a}.{y})", f"CUBE ({a}.{x}, {a}.{y})",
             f"GROUPING SETS (({a}.{x}), ({a}.{x}, {a}.{y}), ())"]
        )  # fmt: skip
        return (
            f"SELECT {a}.{x}, {a}.{y}, {', '.join(self._aggregates())} FROM {text} GROUP BY {sets}"
        )

    def _windowed(self) -> str:
        text = self._from(1)
        forms = [self._of(WINDOWS, 1) for _ in range(self.dice.randint(1, 2))]
        where, window = self._where(), f" WINDOW w AS ({self._over()})"
        qualify = ""
        if self.dice.random() < 0.4:
            qualify = f" QUALIFY row_number() OVER ({self._over()}) <= {self.dice.randint(1, 4)}"
        items = ", ".join([self.number(1), *(f"{f} AS w{i}" for i, f in enumerate(forms))])
        return f"SELECT {items} FROM {text}{where}{window}{qualify}"

    def _distinct(self) -> str:
        text = self._from()
        if self.dice.random() < 0.5:
            return f"SELECT DISTINCT {', '.join(self._list(2))} FROM {text}{self._where()}"
        columns = self._list(2)
        order = ", ".join(str(i + 1) for i in range(len(columns)))
        return (
            f"SELECT DISTINCT ON (c0) {', '.join(columns)} FROM {text}{self._where()} "
            f"ORDER BY {order}"
        )

    def _pair(self) -> str:
        text = self._from()
        return f"SELECT {self.number()} AS n, {self.text()} AS t FROM {text}{self._where()}"

    def _set(self) -> str:
        word = self.dice.choice(
            ["UNION", "UNION ALL", "EXCEPT", "INTERSECT", "EXCEPT ALL", "INTERSECT ALL",
             "UNION BY NAME", "UNION ALL BY NAME"]
        )  # fmt: skip
        text = f"{self._pair()} {word} {self._pair()}"
        if self.dice.random() < 0.3:
            text = f"({text}) UNION ALL {self._pair()}"
        elif self.dice.random() < 0.4:
            text += f" ORDER BY 1, 2 LIMIT {self.dice.randint(0, 9)}"
        return text

    def _derived(self) -> str:
        inner = self._pair()
        a = self._alias()
        self.sources = [(a, ["n"], ["t"], [])]
        return f"SELECT {', '.join(self._list(3))} FROM ({inner}) AS {a}{self._where()}"

    def _with(self) -> str:
        first = self._pair()
        self.sources = [("one", ["n"], ["t"], [])]
        second = f"SELECT {self.number(1)} AS n, {self.text(1)} AS t FROM one{self._where()}"
        self.sources = [("one", ["n"], ["t"], []), ("two", ["n"], ["t"], [])]
        join = self.dice.choice(
            ["JOIN two ON one.t = two.t", "LEFT JOIN two ON one.n = two.n", "JOIN two USING (t)",
             "SEMI JOIN two ON one.t = two.t", "ANTI JOIN two USING (n)"]
        )  # fmt: skip
        if join.startswith(("SEMI", "ANTI")):
            self.sources = self.sources[:1]
        hint = self.dice.choice(["", "", " MATERIALIZED", " NOT MATERIALIZED"])
        items, where = ", ".join(self._list(3)), self._where()
        return (
            f"WITH one AS{hint} ({first}), two AS ({second}) SELECT {items} FROM one {join}{where}"
        )
