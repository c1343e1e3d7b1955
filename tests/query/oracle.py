"""The oracle: the user's own text, run by DuckDB over fully filled tables.

It shares no code with the planner. Only the span functions, `describe` and `"name".relation`
are replaced in the text, because DuckDB does not know them; `matches`, `describe`,
`similarity` are plain Python functions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from reeldb.index.vectors import VectorSearch
from reeldb.query.catalog import Catalog
from reeldb.query.prompts import FRAME, SCENE
from tests.query.world import SHOTS, SPACE, Says, World, judged

SPAN = {
    "before": "({a}.video_id={b}.video_id AND {a}.end_s<={b}.start_s)",
    "overlaps": "({a}.video_id={b}.video_id AND {a}.start_s<{b}.end_s AND {b}.start_s<{a}.end_s)",
}


class Oracle:
    def __init__(self, world: World, salt: int) -> None:
        self.says = Says(salt)
        self.snapshot = world.archive.snapshot()
        self.catalog = Catalog(self.snapshot)
        self.connection = duckdb.connect(config={"threads": "1"})
        for name in ("videos", "scenes", "frames"):
            self._create(name, self.snapshot.relation(name))
        self.speech = self._speech()
        self._create("speech", self.speech)
        self._create("actions", self._actions())
        self._lazy_columns()
        for role in ("ocr", "objects"):
            self._create(role, self._looks(role))
        self._functions()

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(plain_text(sql)).fetchall()

    def _films(self, name: str) -> list[int]:
        """The number in each row's film name, which its pictures carry."""
        return [int(v[1:-4]) for v in self.snapshot.relation(name)["video"].to_pylist()]

    def _create(self, name: str, table: pa.Table) -> None:
        self.connection.register(f"in_{name}", table)
        self.connection.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM in_{name}")

    def _lazy_columns(self) -> None:
        ranks = self._films("scenes")
        scenes, frames = self.snapshot.relation("scenes"), self.snapshot.relation("frames")
        times = [self.catalog.scene_times_ms(i) for i in range(len(scenes))]
        captions = [self._caption(SCENE.text, int(r), t) for r, t in zip(ranks, times, strict=True)]
        every = [self.catalog.scene_times_ms(i, None) for i in range(len(scenes))]
        texts = [
            "\n".join(dict.fromkeys(w for ms in t for w in self.says.texts("ocr", (int(r), ms))))
            for r, t in zip(ranks, every, strict=True)
        ]
        image = [_image(int(r), m) for r, m in zip(ranks, _ms(scenes["key_s"]), strict=True)]
        scenes = scenes.append_column("speech_text", pa.array(self._spoken(), pa.string()))
        scenes = scenes.append_column("caption", pa.array(captions, pa.string()))
        scenes = scenes.append_column("ocr_text", pa.array(texts, pa.string()))
        self._create("scenes", scenes.append_column("image", pa.array(image, pa.string())))
        ranks = self._films("frames")
        moments = _ms(frames["t_s"])
        captions = [
            self._caption(FRAME.text, int(r), [m]) for r, m in zip(ranks, moments, strict=True)
        ]
        image = [_image(int(r), m) for r, m in zip(ranks, moments, strict=True)]
        frames = frames.append_column("thumbnail", self.snapshot.heavy("frames", "thumbnail"))
        frames = frames.append_column("caption", pa.array(captions, pa.string()))
        self._create("frames", frames.append_column("image", pa.array(image, pa.string())))
        self._images()

    def _speech(self) -> pa.Table:
        """The subtitles, and every utterance cut where one window's part ends: 27.5 s after the
        sound begins and every 25 s from there on."""
        rows = self.snapshot.relation("speech").to_pylist()
        for video in self.snapshot.videos.to_pylist():
            if video["sound_id"] is not None:
                rows += self._said(video)
        rows.sort(key=lambda r: (r["video"], r["start_s"], r["line_no"]))
        return pa.Table.from_pylist(rows, schema=self.snapshot.relation("speech").schema)

    def _said(self, video: dict[str, Any]) -> list[dict[str, Any]]:
        later_s = video["sound_start_s"]
        parts: dict[tuple[int, int], list[tuple[float, str]]] = {}
        sound = int(video["sound_id"].removeprefix("sound"))
        for n, said in enumerate(self.says.words(sound, video["duration_s"] + 30)):
            for at, word in said:
                window = max(0, int((at + 0.25 - 2.5) // 25))
                parts.setdefault((window, n), []).append((at, word))
        lines = [0] * (max(w for w, _ in parts) + 1)
        out = []
        for (window, _), words in parts.items():
            start_s, end_s = words[0][0] + later_s, words[-1][0] + 0.5 + later_s
            if start_s < video["duration_s"]:
                out.append(
                    {
                        "video": video["name"], "video_id": video["video_id"], "start_s": start_s,
                        "end_s": min(end_s, video["duration_s"]), "line_no": lines[window],
                        "text": " ".join(w for _, w in words), "confidence": 0.5,
                        "language": "en", "model": f"test:speech:{self.says.salt}",
                    }
                )  # fmt: skip
            lines[window] += 1
        return out

    def _actions(self) -> pa.Table:
        out = []
        for row, film in zip(
            self.snapshot.relation("scenes").to_pylist(), self._films("scenes"), strict=True
        ):
            start_s, length_s = row["start_s"], row["end_s"] - row["start_s"]
            times = [round(1000 * (start_s + length_s * (i + 0.5) / SHOTS)) for i in range(SHOTS)]
            for n, label in enumerate(self.says.actions(film, times)):
                out.append(
                    {
                        **{k: row[k] for k in ("video", "video_id", "start_s", "end_s")},
                        "line_no": n, "label": label, "confidence": 0.5,
                        "model": f"test:actions:{self.says.salt}",
                    }
                )  # fmt: skip
        return pa.Table.from_pylist(out, schema=self.snapshot.relation("actions").schema)

    def _spoken(self) -> list[str]:
        cues = self.speech.to_pylist()
        out: list[str] = []
        for scene in self.snapshot.relation("scenes").to_pylist():
            mine = [c for c in cues if c["video_id"] == scene["video_id"]]
            said = [
                c["text"] for c in mine
                if c["start_s"] < scene["end_s"] and scene["start_s"] < c["end_s"]
            ]  # fmt: skip
            out.append(" ".join(said))
        return out

    def _images(self) -> None:
        self.rows: dict[str, tuple[str, int]] = {}
        for name in ("scenes", "frames"):
            column = "key_s" if name == "scenes" else "t_s"
            table = self.snapshot.relation(name)
            ranks = self._films(name)
            for i, (r, m) in enumerate(zip(ranks, _ms(table[column]), strict=True)):
                self.rows.setdefault(_image(int(r), m), (name, i))

    def _caption(self, prompt: str, rank: int, times_ms: list[int]) -> str | None:
        status, text = self.says.caption(prompt, [(rank, ms) for ms in times_ms])
        return text if status == "ok" else None

    def _looks(self, role: str) -> pa.Table:
        frames, ranks = self.snapshot.relation("frames"), self._films("frames")
        word = {"ocr": "text", "objects": "label"}[role]
        out = []
        for i, (r, ms) in enumerate(zip(ranks, _ms(frames["t_s"]), strict=True)):
            row = frames.slice(i, 1).to_pylist()[0]
            for n, text in enumerate(self.says.texts(role, (int(r), ms))):
                out.append(
                    {
                        "video": row["video"], "video_id": row["video_id"], "t_s": row["t_s"],
                        "line_no": n, word: text, "confidence": 0.5, "x0": 0.0, "y0": 0.0,
                        "x1": 1.0, "y1": 1.0, "model": f"test:{role}:{self.says.salt}",
                    }
                )  # fmt: skip
        schema = self.snapshot.relation(role).schema
        return pa.Table.from_pylist(out, schema=schema)

    def _functions(self) -> None:
        from reeldb.models.registry import Models

        embedder = Models({"embedder": "fake:embedder?dim=32"}).embedder()
        search = VectorSearch(self.snapshot, SPACE)
        scores: dict[str, dict[str, np.ndarray]] = {}

        def matches(about: str | None, statement: str) -> bool | None:
            if about is not None and about.startswith("img:"):
                rank, ms = about[4:].split(":")
                about = str((int(rank), int(ms)))
            return judged(self.says, statement, about)

        def descr(image: str | None, question: str) -> str | None:
            if image is None:
                return None
            rank, ms = image[4:].split(":")
            return self._caption(question, int(rank), [int(ms)])

        def similarity(image: str | None, text: str) -> float | None:
            if image is None:
                return None
            name, row = self.rows[image]
            if text not in scores:
                vector = embedder.embed_texts([text])[0]
                scores[text] = {n: search.scores_for(n, vector) for n in ("scenes", "frames")}
            return float(scores[text][name][row])

        def bm25(text: str | None, words: str, every: Sequence[str]) -> float | None:
            """The textbook formula over the texts that are there before any statement."""
            if text is None:
                return None
            said = [t.split() for t in every]
            mean = sum(map(len, said)) / len(said) if said else 0
            total = 0.0
            for word in dict.fromkeys(words.split()):
                held = sum(word in d for d in said)
                f, longer = text.split().count(word), len(text.split()) / mean if mean else 1.0
                idf = math.log(1 + (len(said) - held + 0.5) / (held + 0.5))
                total += idf * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * longer))
            return total

        stored: list[str] = self.snapshot.relation("speech")["text"].to_pylist()

        functions: tuple[tuple[str, Any, str], ...] = (
            ("matches", matches, "BOOLEAN"),
            ("descr", descr, "VARCHAR"),
            ("similarity", similarity, "DOUBLE"),
            ("bm25", lambda t, w: bm25(t, w, ()), "DOUBLE"),
            ("bm25_speech", lambda t, w: bm25(t, w, stored), "DOUBLE"),
        )
        create: Any = self.connection.create_function
        for name, function, kind in functions:
            create(name, function, ["VARCHAR", "VARCHAR"], kind, null_handling="special")


def _image(rank: int, ms: int) -> str:
    return f"img:{rank}:{ms}"


def _ms(column: pa.ChunkedArray) -> list[int]:
    return [round(t * 1000) for t in column.to_pylist()]


def plain_text(sql: str) -> str:
    """The text with the words that DuckDB does not know written out."""
    sql = re.sub(
        r'"([\w.]+)"\.(\w+)(\s+(?!WHERE|JOIN|ON|ORDER|LIMIT|GROUP)\w+)?',
        lambda m: f"(SELECT * FROM {m[2]} WHERE video='{m[1]}') {(m[3] or m[2]).strip()}",
        sql,
    )
    sql = re.sub(
        r"select_frames\('([^']*)', k=>(\d+), method=>'topk'(?:, video=>'([^']*)')?\)", _topk, sql
    )
    sql = sql.replace("describe(", "descr(").replace("bm25(p.text", "bm25_speech(p.text")
    for name, condition in SPAN.items():
        sql = re.sub(
            rf"\b{name}\((\w+),\s*(\w+)\)",
            lambda m, c=condition: c.format(a=m[1], b=m[2]),  # type: ignore[misc]
            sql,
        )
    return sql


def _topk(call: re.Match[str]) -> str:
    score = f"similarity(image,'{call[1]}')"
    rank = f"row_number() OVER (ORDER BY {score} DESC, video, video_id, t_s) - 1"
    where = f" AND video='{call[3]}'" if call[3] else ""
    return (
        f"(SELECT video, video_id, t_s, scene_no, {score} relevance, {rank} choice_no "
        f"FROM frames WHERE on_grid{where} QUALIFY choice_no < {call[2]})"
    )
