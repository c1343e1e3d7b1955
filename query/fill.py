"""Fills: the tables of values that key queries and the final query join in.

One table a unit, `f0`, `f1` ..., of (k, v, s): the key of a row, its value, its state. A row
that is absent has not been looked at; a row with a NULL value has, and there is no value.
Relations are registered as `b_<name>`, with their key and the values that all rows have at
once (`__c2`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reeldb.index.session import Session
from reeldb.query.bm25 import Corpus, corpus_of, scores, words_of
from reeldb.query.fillers.base import Arrays, Batch, Filler, Keys, Work
from reeldb.query.fillers.lexical import Lexical, caption_corpus
from reeldb.query.frame_choice import FrameChoice
from reeldb.query.nearest import Nearest
from reeldb.query.plan import Plan, Read
from reeldb.query.prices import is_here
from reeldb.query.select_frames import SCHEMA, frames_of
from reeldb.query.units import Unit

if TYPE_CHECKING:
    from reeldb.query.fillers.captions import Captions
    from reeldb.query.fillers.look_rows import LookRows
    from reeldb.query.fillers.looks import Looks
    from reeldb.query.similar import Similarity

ARROW = {
    "VARCHAR": pa.string(),
    "BOOLEAN": pa.bool_(),
    "DOUBLE": pa.float64(),
    "BLOB": pa.binary(),
    "FLOAT[]": pa.list_(pa.float32()),
}
UNKNOWN = "not computed"
Run = Callable[[str], pa.Table]
MANY_PARTS = 64


@dataclass(frozen=True, slots=True)
class Recalled:
    """How many values were known, and how many are NULL because SET says to compute none."""

    known: int = 0
    nulls: int = 0

    @property
    def all(self) -> int:
        return self.known + self.nulls


class Filled:
    """The values of one unit so far, of the rows of its relation."""

    def __init__(self, unit: Unit, rows: int) -> None:
        self.unit = unit
        self.known = np.zeros(rows, np.bool_)
        self._parts = [_part(ARROW[unit.type], Batch())]

    def add(self, batch: Batch | Arrays) -> int:
        """Takes the rows that are new and gives how many there were."""
        part = _part(ARROW[self.unit.type], batch)
        keys = part["k"].to_numpy()
        new = ~self.known[keys]
        first = np.unique(keys, return_index=True)[1]
        if len(first) < len(keys):
            new &= np.isin(np.arange(len(keys)), first)
        self.known[keys] = True
        if new.any():
            self._parts.append(part if new.all() else part.filter(pa.array(new)))
        return int(new.sum())

    def table(self) -> pa.Table:
        if len(self._parts) > MANY_PARTS:
            self._parts = [pa.concat_tables(self._parts).combine_chunks()]
        return pa.concat_tables(self._parts)


def _part(kind: pa.DataType, batch: Batch | Arrays) -> pa.Table:
    if isinstance(batch, Arrays):
        keys, values, states = pa.array(batch.keys), batch.values.cast(kind), batch.states
    else:
        keys, values = pa.array(batch.keys, pa.int64()), pa.array(batch.values, kind)
        states = pa.array(batch.states, pa.string())
    return pa.table({"k": keys, "v": values, "s": states})


class Fills:
    """The values of one statement."""

    def __init__(
        self,
        work: Work,
        session: Session,
        plan: Plan,
        similarity: Similarity,
        values: Mapping[str, object],
        text_vectors: dict[str, object],
    ) -> None:
        self.work, self.session, self.plan = work, session, plan
        self.similarity, self.values, self.text_vectors = similarity, values, text_vectors
        snapshot = work.catalog.snapshot
        self.filled = [Filled(u, snapshot.relation(u.relation).num_rows) for u in plan.units]
        self._fillers: dict[int, Filler] = {}
        self._captions: dict[tuple[str, str], Captions] = {}
        self._looks: dict[str, Looks] = {}
        self._rows: dict[str, LookRows] = {}
        self._at_once: dict[int, pa.Array] = {}
        self._kept_rows: dict[str, NDArray[np.int64]] = {}
        self._corpora: dict[int, Corpus] = {}  # of bm25 units, as they are at the start
        self.nulls: dict[str, int] = {}  # read as NULL, by the SET name that says so

    # Registration

    def start(self, run: Run, search: str) -> None:
        """Registers every relation of the plan and an empty table for every fill.

        `run` gives the rows of a query; `search` is what SET search says.
        """
        self._read_ledger()
        for number, unit in enumerate(self.plan.units):
            if not unit.at_once:
                self._register_fill(number)
        if self.plan.nearest is not None and not self._is_blind():
            self._find_nearest(self.plan.nearest, run, search)
        for name, choice in self.plan.choices.items():
            self.session.register(name, self._chosen(choice))
        for number, unit in enumerate(self.plan.units):
            if unit.kind == "bm25":
                self._corpora[number] = self._corpus(unit)
        for relation in self.plan.relations:
            self._register_relation(relation)

    def _read_ledger(self) -> None:
        """What models have said so far: old versions of these tables soon go (`index.tidy`),
        and this statement may wait for models first."""
        units = self.plan.units
        if any("captioner" in u.roles or u.kind == "status" for u in units):
            from reeldb.query.fillers.captions import caption_index

            caption_index(self.work.catalog)
        if any(u.kind == "matches" for u in units):
            from reeldb.query.fillers.judged import reply_index

            reply_index(self.work.catalog)

    def _chosen(self, choice: FrameChoice) -> pa.Table:
        if self._is_blind():
            self.work.note(f"{self._unasked()}: the bounds hold for any choice of frames")
            return SCHEMA.empty_table()
        return frames_of(choice, self.work.catalog, self.similarity)

    def _unasked(self) -> str:
        return f"EXPLAIN does not ask {self.work.models.address('embedder')}"

    def _is_blind(self) -> bool:
        """Whether cosines of pictures would take a call that may not be made."""
        address = self.work.models.address("embedder")
        return not self.work.asks and address is not None and not is_here(address)

    def _find_nearest(self, nearest: Nearest, run: Run, search: str) -> None:
        """Leaves of the relation the rows that a vector search finds, with their scores."""
        within = None
        if nearest.within is not None:
            table = self._stored(nearest.relation)
            for number in self._dense_units(nearest.relation):
                table = table.append_column(f"__c{number}", pa.nulls(len(table), pa.float64()))
            self.session.register(f"b_{nearest.relation}", table)
            within = run(nearest.within)["k"].to_numpy()
        unit = self.plan.units[nearest.unit]
        found = self.similarity.top(unit, self.values, nearest.rows, within, search)
        if found is not None:
            self._kept_rows[nearest.relation] = found[0]
            self._at_once[nearest.unit] = pa.array(found[1]).cast(pa.float64())

    def _dense_units(self, relation: str) -> list[int]:
        return [i for i, u in enumerate(self.plan.units) if u.relation == relation and u.at_once]

    def _register_relation(self, relation: str, late: bool = False) -> None:
        lazy = any(s.lazy_rows for s in self.plan.scans.values() if s.relation == relation)
        table = self.rows_of(relation).table() if lazy else self._stored(relation)
        kept = self._kept_rows.get(relation)
        if kept is not None:
            table = table.take(pa.array(kept))
        for number in self._dense_units(relation):
            unit = self.plan.units[number]
            if unit.kind == "bm25":  # of the rows that there are by now
                values = scores(table[unit.column], words_of(unit.text), self._corpora[number])
                table = table.append_column(f"__c{number}", values)
                continue
            if number not in self._at_once or (late and unit.late):
                values = self._dense(unit)
                self._at_once[number] = values if kept is None else values.take(pa.array(kept))
            table = table.append_column(f"__c{number}", self._at_once[number])
        self.session.register(f"b_{relation}", table)

    def _stored(self, relation: str) -> pa.Table:
        return self.work.catalog.table(relation)

    def _register_fill(self, number: int) -> None:
        self.session.register(f"f{number}", self.filled[number].table())

    def _dense(self, unit: Unit) -> pa.Array:
        if unit.kind == "status":
            return self._statuses(unit)
        if self._is_blind():
            self.work.note(f"{self._unasked()}: the bounds hold for any similarity")
            rows = self.work.catalog.snapshot.relation(unit.relation).num_rows
            return pa.nulls(rows, pa.float64())
        scores = self.similarity.scores(unit, self.values)
        return pa.array(scores, pa.float32(), mask=np.isnan(scores)).cast(pa.float64())

    def _statuses(self, unit: Unit) -> pa.Array:
        """The state of every caption, those that were just made among them."""
        rows = self.work.catalog.snapshot.relation(unit.relation).num_rows
        states = [UNKNOWN] * rows
        known = self.captions_of(unit.relation).states(np.arange(rows))
        for key, state in zip(known.keys, known.states, strict=True):
            states[key] = state
        return pa.array(states, pa.string())

    def finish(self) -> None:
        """The last look at states, for those that the SELECT list shows."""
        late = {u.relation for u in self.plan.units if u.kind == "status" and u.late}
        for relation in late:
            self._register_relation(relation, late=True)

    # Fillers

    def filler(self, read: Read) -> Filler:
        if read.unit < 0:
            return self.rows_of(read.relation)
        if read.unit not in self._fillers:
            unit = self.plan.units[read.unit]
            filler = self._make_filler(unit)
            if unit.kind == "bm25":
                filler = Lexical(filler, words_of(unit.text), self._corpora[read.unit])
            self._fillers[read.unit] = filler
        return self._fillers[read.unit]

    def _corpus(self, unit: Unit) -> Corpus:
        """The texts that the archive holds: of the relation, or of the column so far."""
        catalog, words = self.work.catalog, words_of(unit.text)
        if unit.at_once:
            texts = catalog.snapshot.relation(unit.relation)[unit.column]
            tables = ["videos", unit.relation, "tool_runs"]
            name = f"bm25 {unit.relation}"
            return catalog.kept(name, tables, words, lambda: corpus_of(texts, words))
        if unit.column == "caption":
            made = self.captions_of(unit.relation)
            model, prompt = made.captioner.identity, made.prompt.id
            return caption_corpus(catalog, words, made.kind, prompt, model)
        rows = np.arange(catalog.snapshot.relation(unit.relation).num_rows)
        role = unit.column.removesuffix("_text")
        about = (words, self.work.models.address(role), role in self.work.lazy)  # type: ignore[arg-type]
        tables = ["videos", "scenes", "frames", role, "tool_runs"]

        def make() -> Corpus:
            known = self._scene_text(unit.column).recall(rows)
            values = known.values if isinstance(known.values, list) else known.values.to_pylist()
            return corpus_of(pa.array(values, pa.string()), words)

        return catalog.kept(f"bm25 {unit.column}", tables, about, make)

    def _make_filler(self, unit: Unit) -> Filler:
        from reeldb.query.fillers.stored import Heavy

        if unit.kind == "heavy":
            return Heavy(self.work, unit.relation, unit.column)
        if unit.column in ("ocr_text", "speech_text"):
            return self._scene_text(unit.column)
        if unit.kind in ("similarity", "matches"):
            return self._judged(unit)
        return self.captions_of(unit.relation, unit.text if unit.kind == "describe" else None)

    def _scene_text(self, column: str) -> Filler:
        from reeldb.query.fillers.scene_text import OcrText, SpeechText
        from reeldb.query.fillers.speech_looks import SpeechLooks
        from reeldb.query.fillers.stored import NoText, Subtitles

        looks = self.looks_of(column.removesuffix("_text"))
        if isinstance(looks, SpeechLooks):
            return SpeechText(self.work, looks)
        if looks is not None:
            return OcrText(self.work, looks)
        return Subtitles(self.work) if column == "speech_text" else NoText()

    def _judged(self, unit: Unit) -> Filler:
        from reeldb.query.fillers.judged import TextSimilarity, Verdicts

        if unit.kind == "similarity":
            captions = self.captions_of(unit.relation)
            return TextSimilarity(self.work, captions, unit.text, self.text_vectors)
        about = self.captions_of(unit.relation) if unit.column == "caption" else None
        return Verdicts(self.work, unit.relation, about, unit.text)

    def captions_of(self, relation: str, question: str | None = None) -> Captions:
        from reeldb.query.fillers.captions import Captions
        from reeldb.query.prompts import FRAME, SCENE, describing

        key = (relation, question or "")
        if key not in self._captions:
            if question is not None:
                made = Captions(self.work, relation, "describe", describing(question))
            elif relation == "scenes":
                made = Captions(self.work, relation, "clip", SCENE)
            else:
                made = Captions(self.work, relation, "frame", FRAME)
            self._captions[key] = made
        return self._captions[key]

    def looks_of(self, role: str) -> Looks | None:
        from reeldb.query.fillers.action_looks import ActionLooks
        from reeldb.query.fillers.picture_looks import PictureLooks
        from reeldb.query.fillers.speech_looks import SpeechLooks

        if self.work.models.get(role) is None:  # type: ignore[arg-type]
            return None
        if role not in self._looks:
            if role == "speech":
                self._looks[role] = SpeechLooks(self.work)
            elif role == "actions":
                self._looks[role] = ActionLooks(self.work)
            else:
                self._looks[role] = PictureLooks(self.work, role)
        return self._looks[role]

    def rows_of(self, relation: str) -> LookRows:
        from reeldb.query.fillers.look_rows import LookRows

        if relation not in self._rows:
            looks = self.looks_of(relation)
            if looks is None:
                raise AssertionError(f"{relation} is lazy without a tool")
            self._rows[relation] = LookRows(self.work, looks)
        return self._rows[relation]

    # What is missing

    def is_known(self, read: Read, key: int) -> bool:
        return read.unit >= 0 and bool(self.filled[read.unit].known[key])

    def uncaptioned(self, relation: str, keys: Sequence[int]) -> list[int]:
        """Those of these rows that have no caption yet."""
        known = set(self.captions_of(relation).recall(keys).keys.tolist())
        return [k for k in keys if k not in known]

    def unseen(self, read: Read, keys: Sequence[int]) -> list[int]:
        """The parts of these scenes that nobody has looked at, each as one number."""
        from reeldb.query.fillers.scene_text import SceneText

        filler = self.filler(read)
        if isinstance(filler, Lexical):
            filler = filler.about
        return filler.unseen(keys) if isinstance(filler, SceneText) else []

    # Filling

    def recall(self, read: Read, keys: Keys) -> Recalled:
        """Takes what is known for these keys; where nothing may be computed the rest is NULL."""
        if read.unit < 0:
            return Recalled()
        known = self._take(read, self.filler(read).recall(keys))
        setting = self.plan.units[read.unit].setting
        if setting is None or setting in self.work.lazy:
            return Recalled(known)
        rest = np.asarray(keys, np.int64)
        rest = rest[~self.filled[read.unit].known[rest]]
        if not len(rest):
            return Recalled(known)
        values = pa.nulls(len(rest), ARROW[self.plan.units[read.unit].type])
        nulls = self._take(read, Arrays(rest, values, pa.repeat(pa.scalar(UNKNOWN), len(rest))))
        self.nulls[setting] = self.nulls.get(setting, 0) + nulls
        return Recalled(known, nulls)

    def make(self, read: Read, keys: Sequence[int]) -> int:
        """Makes values of the first of these keys; gives how many are new."""
        batch = self.filler(read).make(keys)
        if read.unit < 0:
            if batch.keys:
                self._register_relation(read.relation)
            return len(batch)
        return self._take(read, batch)

    def _take(self, read: Read, batch: Batch | Arrays) -> int:
        new = self.filled[read.unit].add(batch)
        if new:
            self._register_fill(read.unit)
        return new
