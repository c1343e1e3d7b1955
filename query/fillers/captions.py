"""Captions: `scenes.caption`, `frames.caption` and `describe(image, '...')`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reeldb.index.assemble import newest
from reeldb.index.ledger import CaptionRow
from reeldb.query.catalog import Catalog
from reeldb.query.fillers.base import Arrays, Batch, Keys, Work, metered
from reeldb.query.fillers.flow import flow
from reeldb.query.prompts import Prompt
from reeldb.schema.digests import caption_key
from reeldb.schema.errors import ModelError
from reeldb.schema.models import UNPAID, Captioner, CaptionRequest, Reply, Streaming

MOST_ROWS = 2  # of a relation one in so many rows: then the captions of all are put in order
FLOW = 1 << 30  # as many as there are
SOURCES = ["videos", "scenes", "frames"]


@dataclass(frozen=True, slots=True)
class Address:
    """Where one caption lives: which pictures of which video, and its key."""

    key: str
    rank: int
    times_ms: tuple[int, ...]
    start_s: float
    end_s: float


class Addresses:
    """The addresses of a relation's captions, worked out when first needed and kept."""

    def __init__(self, rows: int) -> None:
        self.rows: dict[int, Address] = {}
        self.keys = np.full(rows, None, object)


class Captions:
    """Captions of one kind and prompt, for the rows of one relation."""

    _about: tuple[object, ...] | None = None  # what tells these rows' captions from others

    def __init__(self, work: Work, relation: str, kind: str, prompt: Prompt) -> None:
        self.work, self.relation, self.kind, self.prompt = work, relation, kind, prompt
        self.captioner: Captioner = work.models.captioner()
        self.known: dict[str, tuple[str | None, str]] = {}  # by address, of this statement
        about = (kind, prompt.id, self.captioner.identity, self.captioner.image_size)
        self._about = about
        rows = work.catalog.snapshot.relation(relation).num_rows
        self._addresses: Addresses = work.catalog.kept(
            f"addresses {relation} {kind}", SOURCES, about, lambda: Addresses(rows)
        )
        self._reused = np.zeros(rows, np.bool_)

    @property
    def size(self) -> int:
        return max(1, self.captioner.batch_size)

    def address(self, row: int) -> Address:
        made = self._addresses
        if row not in made.rows:
            made.rows[row] = self._address(row)
            made.keys[row] = made.rows[row].key
        return made.rows[row]

    def key(self, row: int) -> str:
        return self.address(row).key

    def _address(self, row: int) -> Address:
        catalog = self.work.catalog
        rank = int(catalog.snapshot.ranks(self.relation)[row])
        if self.kind == "clip":
            times = tuple(catalog.scene_times_ms(row))
        else:
            times = (catalog.picture_ms(self.relation, row),)
        start_s, end_s = catalog.span(self.relation, row)
        if self.kind == "describe":
            start_s = end_s = times[0] / 1000
        key = caption_key(
            catalog.video(rank).content_id, times, self.prompt.text, self.captioner.identity,
            size=self.captioner.image_size,
        )  # fmt: skip
        return Address(key, rank, times, start_s, end_s)

    def _keys(self, rows: NDArray[np.int64]) -> NDArray[np.object_]:
        keys = self._addresses.keys[rows]
        for at in np.flatnonzero(keys == None):  # noqa: E711
            keys[at] = self.address(int(rows[at])).key
        return keys

    # What is known

    def recall(self, keys: Keys) -> Arrays:
        """The captions that the archive holds, or that this statement has made."""
        rows = np.asarray(keys, np.int64)
        values, states = self._stored(rows)
        found = states.is_valid().to_numpy(zero_copy_only=False)
        self._count_reused(rows[found])
        if self.known:
            return self._with_new(rows, values, states)
        if found.all():
            return Arrays(rows, values, states)
        there = pa.array(found)
        return Arrays(rows[found], values.filter(there), states.filter(there))

    def _stored(self, rows: NDArray[np.int64]) -> tuple[pa.Array, pa.Array]:
        """Values and states in the snapshot, NULL where there is none."""
        index = caption_index(self.work.catalog)
        if not len(index) or not len(rows):
            return pa.nulls(len(rows), pa.string()), pa.nulls(len(rows), pa.string())
        every = len(self._reused)
        if self._about is None or len(rows) * MOST_ROWS < every:
            return self._looked_up(rows)
        texts, states = self.work.catalog.kept(
            f"captions of {self.relation} {self.kind}", [*SOURCES, "captions"], self._about,
            lambda: self._looked_up(np.arange(every)),
        )  # fmt: skip
        if len(rows) == every and np.array_equal(rows, np.arange(every)):
            return texts, states
        at = pa.array(rows)
        return texts.take(at), states.take(at)

    def _looked_up(self, rows: NDArray[np.int64]) -> tuple[pa.Array, pa.Array]:
        index = caption_index(self.work.catalog)
        wanted = pa.array(self._keys(rows), pa.string())
        at = pc.index_in(wanted, value_set=index["key"].chunk(0))
        texts, states = index["text"].chunk(0).take(at), index["status"].chunk(0).take(at)
        return pc.if_else(pc.equal(states, "ok"), texts, pa.scalar(None, pa.string())), states

    def _with_new(self, rows: NDArray[np.int64], values: pa.Array, states: pa.Array) -> Arrays:
        text, state = values.to_pylist(), states.to_pylist()
        for i, key in enumerate(self._keys(rows)):
            if key in self.known:
                text[i], state[i] = self.known[key]
        there = np.array([s is not None for s in state], np.bool_)
        mask = pa.array(there)
        return Arrays(
            rows[there],
            pa.array(text, pa.string()).filter(mask),
            pa.array(state, pa.string()).filter(mask),
        )

    def _count_reused(self, rows: NDArray[np.int64]) -> None:
        new = rows[~self._reused[rows]]
        self._reused[new] = True
        self.work.count("captions_reused", len(new))

    def states(self, keys: Keys) -> Batch:
        """The states of these captions, failed ones among them."""
        out = self.recall(keys).batch()
        failed = failed_captions(self.work.catalog)
        known = set(out.keys)
        for key in keys if failed else ():
            if key not in known and self.address(int(key)).key in failed:
                out.add(int(key), None, "failed")
        return out

    def _is_known(self, row: int) -> bool:
        return self.address(row).key in self.known

    def _learn(self, row: int, text: str | None, state: str) -> None:
        self.known[self.address(row).key] = (text if state == "ok" else None, state)

    # Making

    @property
    def most(self) -> int:
        """How many keys are best handed over at once: where what calls cost is bounded, only
        a batch, so that each is paid for before the next is begun."""
        limits = self.work.budget.limits
        bounded = any(x is not None for x in (limits.seconds, limits.tokens, limits.usd))
        flows = isinstance(self.captioner, Streaming) and not bounded
        return FLOW if flows else self.size

    def make(self, keys: Sequence[int]) -> Batch:
        out = self.recall(keys).batch()
        done = set(out.keys)
        missing = [k for k in keys if k not in done][: self.most]
        if not missing or "captions" not in self.work.lazy:
            return out
        model = self.work.metered(self.captioner, "captions")
        if len(missing) > self.size and isinstance(model, Streaming):
            flow(self, missing, model)
        else:
            self.work.once(missing, self.key, self.learn_kept, self._buy)
        for row in missing:
            if self._is_known(row):
                out.add(row, *self.known[self.key(row)])
        return out

    def learn_kept(self, keys: Sequence[int], since: datetime) -> list[int]:
        """Learns what others have paid for meanwhile; gives the rows nobody has."""
        asked = [k for k in keys if not self._is_known(k)]
        rows = self.work.ledger.captions([self.key(k) for k in asked], failed=True)
        unknown = []
        for key in asked:
            row = rows.get(self.key(key))
            if row is None or (row.status == "failed" and row.created_at < since):
                unknown.append(key)
            elif not self._is_known(key):
                self._learn(key, row.text, row.status)
                self.work.rests("captions", row)
                self.work.count("captions_reused", row.status != "failed")
        return unknown

    def _buy(self, keys: Sequence[int]) -> None:
        """Makes captions of rows with different addresses, in one call."""
        granted = keys[: self.work.budget.take("captions", len(keys))]
        sent = [(k, r) for k in granted if (r := self.request(k)) is not None]
        if not sent:
            return
        started = time.monotonic()
        replies = self.work.metered(self.captioner, "captions").caption([r for _, r in sent])
        if len(replies) != len(sent):
            raise ModelError(
                f"{self.captioner.address} gave {len(replies)} of {len(sent)} captions"
            )
        self.keep([k for k, _ in sent], replies, time.monotonic() - started)

    def request(self, row: int) -> CaptionRequest | None:
        """What to ask for a row that the budget was debited for; None, a state and the debit
        back where its pictures cannot be read."""
        address = self.address(row)
        video = self.work.catalog.video(address.rank)
        images = self.work.pictures.at(video, address.times_ms, self.captioner.image_size)
        if images is None:
            self._learn(row, None, "unread")
            self.work.budget.give_back("captions", 1)
            return None
        times_s = [ms / 1000 for ms in address.times_ms]
        return CaptionRequest(images, times_s, self.prompt.text)

    def keep(self, keys: Sequence[int], replies: Sequence[Reply], seconds: float) -> None:
        """Writes replies to the ledger and learns them; they took `seconds` together."""
        tokens = sum(r.tokens for r in replies)
        self.work.paid(self.captioner.address, seconds, tokens, "captions", replies,
                       metered=metered(replies))  # fmt: skip
        done = [(k, r) for k, r in zip(keys, replies, strict=True) if r.note != UNPAID]
        self.work.count("captions_made", len(done))
        rows = [self._row(self.address(k), r, seconds / len(replies)) for k, r in done]
        self.work.keep(lambda: self.work.ledger.put_captions(rows))
        self._tell([r for _, r in done])
        for key, reply in done:
            self._learn(key, reply.text, reply.status)

    def _row(self, address: Address, reply: Reply, seconds: float) -> CaptionRow:
        return CaptionRow(
            key=address.key,
            content_id=self.work.catalog.video(address.rank).content_id,
            kind=self.kind,
            start_s=address.start_s,
            end_s=address.end_s,
            times_ms=list(address.times_ms),
            text=reply.text if reply.status == "ok" else None,
            model=self.captioner.identity,
            prompt_id=self.prompt.id,
            status=reply.status,
            note=reply.note or None,
            tokens=reply.tokens,
            seconds=seconds,
            created_at=self.work.clock(),
        )

    def _tell(self, replies: Sequence[Reply]) -> None:
        for status in ("failed", "refused"):
            of = [r for r in replies if r.status == status]
            self.work.count(f"captions_{status}", len(of))
            if of:
                why = f": {of[0].note}" if of[0].note else ""
                pause = f"; tried again in {self.work.retry_after_s:g} s"
                again = pause if status == "failed" else ""
                self.work.note(f"the captioner {status} some captions{why}{again}")


def caption_index(catalog: Catalog) -> pa.Table:
    """The counting caption of each key; one that failed is not known, for it is tried again."""
    rows = _captions(catalog)
    return catalog.kept(
        "caption index",
        ["captions"],
        None,
        lambda: rows.filter(pc.not_equal(rows["status"], "failed")).combine_chunks(),
    )


def failed_captions(catalog: Catalog) -> frozenset[str]:
    """The keys of captions that failed when they were last tried."""
    rows = _captions(catalog)
    return frozenset(rows.filter(pc.equal(rows["status"], "failed"))["key"].to_pylist())


def _captions(catalog: Catalog) -> pa.Table:
    def make() -> pa.Table:
        names = ["key", "text", "status", "created_at"]
        return newest(catalog.snapshot.rows("captions", names)).select(names[:3])

    return catalog.kept("newest captions", ["captions"], None, make)
