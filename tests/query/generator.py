"""Random SELECTs over the grammar, with lazy values anywhere."""

from __future__ import annotations

from random import Random

SCENE_CHEAP = ["{a}.scene_no<{n}", "{a}.start_s>={s}", "{a}.video<'v{v}'", "{a}.scene_no%2=0",
               "similarity({a}.image,'dog')>0", "{a}.key_s BETWEEN {s} AND {s}+60"]  # fmt: skip
SCENE_LAZY = ["matches({a}.caption,'falls')", "matches({a}.caption,'common')",
              "{a}.caption LIKE '%dog%'", "{a}.caption IS NULL", "length({a}.caption)>12",
              "matches({a}.image,'common')", "{a}.ocr_text LIKE '%red%'",
              "matches({a}.caption,'x') IS NOT TRUE", "{a}.speech_text LIKE '%milk%'",
              "bm25({a}.caption,'dog red')>0", "bm25({a}.ocr_text,'milk')=0"]  # fmt: skip
FRAME_CHEAP = ["{a}.t_s<{s}", "{a}.on_grid", "{a}.video>='v{v}'", "{a}.frame_no%3=1"]
FRAME_LAZY = ["matches({a}.caption,'common')", "{a}.caption LIKE '%e%'", "matches({a}.image,'f')"]
OCR_CHEAP = ["{a}.t_s<{s}", "{a}.video<'v{v}'"]
OCR_LAZY = ["{a}.text='dog'", "bm25({a}.text,'car dog')>0", "{a}.text LIKE '%e%'",
            "{a}.line_no=0", "{a}.confidence IS NULL"]  # fmt: skip
SPEECH_CHEAP = ["{a}.start_s<{s}", "{a}.video<'v{v}'", "{a}.end_s BETWEEN {s} AND {s}+40"]
SPEECH_LAZY = ["{a}.text LIKE 'milk%'", "{a}.start_s>={s}+{n}", "{a}.text LIKE '%dog%'",
               "{a}.model<>'subtitle'", "{a}.end_s-{a}.start_s>1"]  # fmt: skip
ACTIONS_CHEAP = ["{a}.start_s<{s}", "{a}.video<'v{v}'"]
ACTIONS_LAZY = ["{a}.label='dog'", "{a}.label LIKE '%e%'", "{a}.line_no=0"]
VIDEO = ["{a}.has_audio", "{a}.duration_s<{s}+90", "{a}.scene_count>11"]

PREDICATES = {
    "scenes": (SCENE_CHEAP, SCENE_LAZY),
    "frames": (FRAME_CHEAP, FRAME_LAZY),
    "ocr": (OCR_CHEAP, OCR_LAZY),
    "objects": (OCR_CHEAP, [x.replace("text", "label") for x in OCR_LAZY]),
    "speech": (SPEECH_CHEAP, SPEECH_LAZY),
    "actions": (ACTIONS_CHEAP, ACTIONS_LAZY),
    "videos": (VIDEO, VIDEO),
}
COLUMNS = {
    "scenes": ["{a}.video", "{a}.scene_no", "{a}.caption", "length({a}.caption)",
               "CASE WHEN {a}.scene_no<3 THEN {a}.caption ELSE 'late' END",
               "matches({a}.caption,'falls')", "describe({a}.image,'who')"],
    "frames": ["{a}.video", "{a}.t_s", "{a}.caption", "coalesce({a}.caption,'none')"],
    "ocr": ["{a}.video", "{a}.t_s", "{a}.line_no", "{a}.text"],
    "objects": ["{a}.video", "{a}.t_s", "{a}.line_no", "{a}.label"],
    "speech": ["{a}.video", "{a}.line_no", "{a}.text", "{a}.end_s"],
    "actions": ["{a}.video", "{a}.start_s", "{a}.line_no", "{a}.label"],
    "videos": ["{a}.video", "{a}.duration_s"],
}  # fmt: skip
KEYS = {
    "scenes": ["{a}.video", "{a}.scene_no"],
    "frames": ["{a}.video", "{a}.t_s"],
    "ocr": ["{a}.video", "{a}.t_s", "{a}.line_no"],
    "objects": ["{a}.video", "{a}.t_s", "{a}.line_no"],
    "speech": ["{a}.video", "{a}.start_s", "{a}.line_no"],
    "actions": ["{a}.video", "{a}.start_s", "{a}.line_no"],
    "videos": ["{a}.video"],
}
SPANS = ("scenes", "speech", "actions")


class Generator:
    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.names = 0

    def query(self) -> str:
        """One statement whose rows are in a defined order, or compared as a bag."""
        kind = self.dice.choice(
            ["plain", "plain", "limit", "limit", "group", "having", "window", "set", "derived",
             "cte", "distinct", "qualify", "list"]
        )  # fmt: skip
        made: str = getattr(self, f"_{kind}")()
        return made

    # Parts

    def _alias(self) -> str:
        self.names += 1
        return f"t{self.names}"

    def _fill(self, text: str, a: str) -> str:
        dice = self.dice
        n, s, v = dice.randint(1, 7), 10 * dice.randint(1, 6), dice.randint(1, 6)
        return text.format(a=a, n=n, s=s, v=v)

    def _atom(self, relation: str, a: str, lazy: bool) -> str:
        cheap, dear = PREDICATES[relation]
        return self._fill(self.dice.choice(dear if lazy else cheap), a)

    def condition(self, sources: list[tuple[str, str]], depth: int = 2) -> str:
        dice = self.dice
        roll = dice.random()
        if depth == 0 or roll < 0.35:
            relation, a = dice.choice(sources)
            return self._atom(relation, a, dice.random() < 0.55)
        if roll < 0.55:
            return (
                f"({self.condition(sources, depth - 1)} AND {self.condition(sources, depth - 1)})"
            )
        if roll < 0.72:
            return f"({self.condition(sources, depth - 1)} OR {self.condition(sources, depth - 1)})"
        if roll < 0.84:
            return f"NOT ({self.condition(sources, depth - 1)})"
        return self._nested(sources)

    def _nested(self, sources: list[tuple[str, str]]) -> str:
        dice = self.dice
        _, outer = dice.choice(sources)
        relation, a = dice.choice(["scenes", "frames", "speech", "ocr", "actions"]), self._alias()
        inner = self.condition([(relation, a)], 1)
        narrow = self._atom(relation, a, False)
        body = f"FROM {relation} {a} WHERE {a}.video_id={outer}.video_id AND {narrow} AND {inner}"
        kind = dice.random()
        if kind < 0.4:
            return f"EXISTS (SELECT 1 {body})"
        if kind < 0.7:
            return f"NOT EXISTS (SELECT * {body})"
        if kind < 0.85:
            inside = f"SELECT {a}.video FROM {relation} {a} WHERE {narrow} AND {inner}"
            return f"{outer}.video IN ({inside})"
        return f"(SELECT count(*) {body})>1"

    def _from(self) -> tuple[str, list[tuple[str, str]]]:
        dice = self.dice
        first = dice.choice(["scenes", "scenes", "frames", "ocr", "videos", "speech", "actions"])
        sources = [(first, self._alias())]
        text = f"{first} {sources[0][1]}"
        while dice.random() < 0.4 and len(sources) < 3:
            relation, a = (
                dice.choice(["scenes", "frames", "speech", "videos", "ocr", "objects", "actions"]),
                self._alias(),
            )
            other, b = dice.choice(sources)
            on = f"{a}.video_id={b}.video_id"
            if relation in SPANS and other in SPANS and dice.random() < 0.5:
                on = f"{dice.choice(['overlaps', 'before'])}({a},{b}) AND {b}.start_s<30"
            elif dice.random() < 0.6:
                on += f" AND {self._atom(relation, a, dice.random() < 0.5)}"
            kind = dice.choice(
                ["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN"]
            )
            if relation == "videos" or other == "videos":
                kind = dice.choice(["JOIN", "LEFT JOIN"])
            text += f" {kind} {relation} {a} ON {on}"
            sources.append((relation, a))
        return text, sources

    def _columns(self, sources: list[tuple[str, str]], most: int = 3) -> list[str]:
        out = []
        for relation, a in sources:
            out += [c.format(a=a) for c in KEYS[relation]]
        for _ in range(self.dice.randint(0, most)):
            relation, a = self.dice.choice(sources)
            out.append(self.dice.choice(COLUMNS[relation]).format(a=a))
        return [f"{c} c{i}" for i, c in enumerate(out)]

    def _where(self, sources: list[tuple[str, str]]) -> str:
        narrow = self._atom(*sources[0], lazy=False)
        return f"WHERE {narrow} AND {self.condition(sources)}"

    def _keys(self, sources: list[tuple[str, str]]) -> list[str]:
        return [c.format(a=a) for r, a in sources for c in KEYS[r]]

    # Statements

    def _plain(self) -> str:
        text, sources = self._from()
        return f"SELECT {', '.join(self._columns(sources))} FROM {text} {self._where(sources)}"

    def _list(self) -> str:
        text, sources = self._from()
        relation, a = self.dice.choice(sources)
        flag = self.condition(sources, 1)
        columns = [*self._columns(sources, 1), f"CASE WHEN {flag} THEN 1 ELSE 0 END flag"]
        narrow = self._atom(*sources[0], lazy=False)
        del relation, a
        return f"SELECT {', '.join(columns)} FROM {text} WHERE {narrow}"

    def _limit(self) -> str:
        text, sources = self._from()
        order = self._keys(sources)
        if self.dice.random() < 0.4:
            order = [f"{order[-1]} DESC", *order]
        if self.dice.random() < 0.3:
            relation, a = sources[0]
            order = [self.dice.choice(COLUMNS[relation]).format(a=a), *order]
        offset = f" OFFSET {self.dice.randint(1, 3)}" if self.dice.random() < 0.3 else ""
        select = f"SELECT {', '.join(self._columns(sources))} FROM {text} {self._where(sources)}"
        return f"{select} ORDER BY {', '.join(order)} LIMIT {self.dice.randint(1, 8)}{offset}"

    def _group(self) -> str:
        text, sources = self._from()
        relation, a = self.dice.choice(sources)
        value = self.dice.choice(COLUMNS[relation]).format(a=a)
        flag = self.condition(sources, 0)
        return (
            f"SELECT {sources[0][1]}.video v, count(*) n, max({value}) m, "
            f"count(*) FILTER (WHERE {flag}) f FROM {text} {self._where(sources)} GROUP BY v"
        )

    def _having(self) -> str:
        text, sources = self._from()
        flag = self.condition(sources, 0)
        return (
            f"SELECT {sources[0][1]}.video v, count(*) n FROM {text} {self._where(sources)} "
            f"GROUP BY v HAVING count(*)>{self.dice.randint(1, 6)} AND bool_or({flag})"
        )

    def _window(self) -> str:
        text, sources = self._from()
        keys = self._keys(sources)
        flag = self.condition(sources, 0)
        over = f"(PARTITION BY {keys[0]} ORDER BY {', '.join(keys)})"
        return (
            f"SELECT {', '.join(keys)}, sum(CASE WHEN {flag} THEN 1 ELSE 0 END) OVER {over} r "
            f"FROM {text} {self._where(sources)}"
        )

    def _qualify(self) -> str:
        text, sources = self._from()
        keys = self._keys(sources)
        over = f"(PARTITION BY {keys[0]} ORDER BY {', '.join(keys)})"
        more = f" AND {self.condition(sources, 0)}" if self.dice.random() < 0.4 else ""
        return (
            f"SELECT {', '.join(self._columns(sources))} FROM {text} {self._where(sources)} "
            f"QUALIFY row_number() OVER {over}<=2{more}"
        )

    def _side(self) -> str:
        relation, a = (
            self.dice.choice(["scenes", "frames", "ocr", "speech", "actions"]),
            self._alias(),
        )
        sources = [(relation, a)]
        return f"SELECT {a}.video FROM {relation} {a} {self._where(sources)}"

    def _set(self) -> str:
        word = self.dice.choice(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])
        return f"{self._side()} {word} {self._side()}"

    def _distinct(self) -> str:
        text, sources = self._from()
        relation, a = sources[0]
        value = self.dice.choice(COLUMNS[relation]).format(a=a)
        return f"SELECT DISTINCT {a}.video v, {value} x FROM {text} {self._where(sources)}"

    def _view(self) -> tuple[str, str, str]:
        """A query over one relation with all of its columns, its relation and a narrowing."""
        relation, a = self.dice.choice(["scenes", "frames", "ocr", "speech"]), self._alias()
        inner = f"SELECT * FROM {relation} {a} {self._where([(relation, a)])}"
        if self.dice.random() < 0.4:
            inner += f" ORDER BY {', '.join(self._keys([(relation, a)]))} LIMIT 9"
        return inner, relation, self._alias()

    def _derived(self) -> str:
        inner, relation, d = self._view()
        sources = [(relation, d)]
        return (
            f"SELECT {', '.join(self._columns(sources))} FROM ({inner}) {d} "
            f"WHERE {self.condition(sources)}"
        )

    def _cte(self) -> str:
        inner, relation, d = self._view()
        e = self._alias()
        key = {"scenes": "scene_no", "speech": "start_s"}.get(relation, "t_s")
        sources = [(relation, d), (relation, e)]
        return (
            f"WITH w AS ({inner}) SELECT {', '.join(self._columns(sources, 1))} FROM w {d} "
            f"JOIN w {e} ON {d}.video={e}.video AND {d}.{key}<{e}.{key} "
            f"WHERE {self.condition(sources, 1)}"
        )
