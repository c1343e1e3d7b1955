"""Captions: `scenes.caption`, `frames.caption` and `describe(image, '...')`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from reeldb.index.assemble import newest
from reeldb.index.ledger import CaptionRow
from reeldb.query.catalog import Catalog
from reeldb.query.fillers.base import Batch, Work
from reeldb.query.prompts import Prompt
from reeldb.schema.digests import caption_key
from reeldb.schema.errors import ModelError
from reeldb.schema.models import Captioner, CaptionRequest, Reply

SOURCES = ["videos", "scenes", "frames"]


@dataclass(frozen=True, slots=True)
class Address:
    """Where one caption lives: which pictures of which video, and its key."""

    key: str
    rank: int
    times_ms: tuple[int, ...]
    start_s: float
    end_s: float


class Captions:
    """Captions of one kind and prompt, for the rows of one relation."""

    def __init__(self, work: Work, relation: str, kind: str, prompt: Prompt) -> None:
        self.work, self.relation, self.kind, self.prompt = work, relation, kind, prompt
        self.captioner: Captioner = work.models.captioner()
        self.known: dict[int, tuple[str | None, str]] = {}
        about = (relation, kind, prompt.id, self.captioner.identity, self.captioner.image_size)
        self._addresses: dict[int, Address] = work.catalog.kept(
            f"addresses {about}", SOURCES, about, dict
        )

    @property
    def size(self) -> int:
        return max(1, self.captioner.batch_size)

    def address(self, row: int) -> Address:
        if row not in self._addresses:
            self._addresses[row] = self._address(row)
        return self._addresses[row]

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

    def recall(self, keys: Sequence[int]) -> Batch:
        out = Batch()
        rest = []
        for key in keys:
            if key in self.known:
                out.add(key, *self.known[key])
            else:
                rest.append(key)
        if rest:
            out.extend(self._from_snapshot(rest))
        return out

    def _from_snapshot(self, keys: Sequence[int]) -> Batch:
        index = caption_index(self.work.catalog)
        out = Batch()
        if not len(index):
            return out
        wanted = pa.array([self.address(k).key for k in keys])
        at = pc.index_in(wanted, value_set=index["key"].chunk(0))
        texts = index["text"].chunk(0).take(at).to_pylist()
        states = index["status"].chunk(0).take(at).to_pylist()
        for key, text, state in zip(keys, texts, states, strict=True):
            if state is not None:
                self._learn(out, key, text, state)
        self.work.count("captions_reused", len(out))
        return out

    def states(self, keys: Sequence[int]) -> Batch:
        """The states of these captions, those made in this statement among them."""
        self.recall([k for k in keys if k not in self.known])
        out, rest = Batch(), []
        for key in keys:
            if key in self.known:
                out.add(key, *self.known[key])
            else:
                rest.append(key)
        failed = failed_captions(self.work.catalog)
        for key in rest if failed else ():
            if self.address(key).key in failed:
                out.add(key, None, "failed")
        return out

    def _learn(self, out: Batch, key: int, text: str | None, state: str) -> None:
        value = text if state == "ok" else None
        self.known[key] = (value, state)
        out.add(key, value, state)

    def make(self, keys: Sequence[int]) -> Batch:
        out = self.recall(keys)
        missing = [k for k in keys if k not in self.known][: self.size]
        if not missing or "captions" not in self.work.lazy:
            return out
        self.work.once(missing, lambda k: self.address(k).key, self._learn_kept, self._buy)
        for key in missing:
            if key in self.known:
                out.add(key, *self.known[key])
        return out

    def _learn_kept(self, keys: Sequence[int], since: datetime | None) -> list[int]:
        """Learns what others have paid for meanwhile; gives the rows nobody has."""
        rows = self.work.ledger.captions(
            [self.address(k).key for k in keys], failed=since is not None
        )
        unknown, reused = [], Batch()
        for key in keys:
            row = rows.get(self.address(key).key)
            if row is None or (row.status == "failed" and since and row.created_at < since):
                unknown.append(key)
            else:
                self._learn(reused, key, row.text, row.status)
        self.work.count("captions_reused", len(reused))
        return unknown

    def _buy(self, keys: Sequence[int]) -> None:
        granted = self.work.budget.take("captions", len(keys))
        if granted:
            self._call(keys[:granted])

    def _call(self, keys: Sequence[int]) -> None:
        out = Batch()
        requests: list[CaptionRequest] = []
        asked: list[int] = []
        first: dict[str, int] = {}  # two rows may share one address: copies of a video
        for key in keys:
            address = self.address(key)
            if address.key in first:
                continue
            first[address.key] = key
            video = self.work.catalog.video(address.rank)
            images = self.work.pictures.at(video, address.times_ms, self.captioner.image_size)
            if images is None:
                self._learn(out, key, None, "unread")
                continue
            times_s = [ms / 1000 for ms in address.times_ms]
            requests.append(CaptionRequest(images, times_s, self.prompt.text))
            asked.append(key)
        for key, reply in zip(asked, self._replies(asked, requests), strict=True):
            self._learn(out, key, reply.text, reply.status)
        for key in keys:
            if key not in self.known:
                self._learn(out, key, *self.known[first[self.address(key).key]])

    def _replies(self, keys: Sequence[int], requests: Sequence[CaptionRequest]) -> list[Reply]:
        if not requests:
            return []
        started = time.monotonic()
        replies = self.captioner.caption(requests)
        seconds = time.monotonic() - started
        if len(replies) != len(requests):
            raise ModelError(
                f"{self.captioner.address} gave {len(replies)} of {len(requests)} captions"
            )
        self.work.budget.paid(seconds, sum(r.tokens for r in replies))
        self.work.count("captions_made", len(replies))
        rows = [
            self._row(self.address(k), r, seconds / len(replies))
            for k, r in zip(keys, replies, strict=True)
        ]
        self.work.keep(lambda: self.work.ledger.put_captions(rows))
        self._tell(replies)
        return replies

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
        )

    def _tell(self, replies: Sequence[Reply]) -> None:
        for status in ("failed", "refused"):
            of = [r for r in replies if r.status == status]
            self.work.count(f"captions_{status}", len(of))
            if of:
                why = f": {of[0].note}" if of[0].note else ""
                again = "; the next statement tries again" if status == "failed" else ""
                self.work.note(f"the captioner {status} some captions{why}{again}")


def caption_index(catalog: Catalog) -> pa.Table:
    """The counting caption of each key, failed ones left out: they are tried again."""

    def make() -> pa.Table:
        rows = newest(catalog.snapshot.rows("captions", ["key", "text", "status", "created_at"]))
        rows = rows.filter(pc.not_equal(rows["status"], "failed"))
        return rows.select(["key", "text", "status"]).combine_chunks()

    return catalog.kept("caption index", ["captions"], None, make)


def failed_captions(catalog: Catalog) -> frozenset[str]:
    """The keys of captions that failed when they were last tried."""

    def make() -> frozenset[str]:
        rows = newest(catalog.snapshot.rows("captions", ["key", "status", "created_at"]))
        return frozenset(rows.filter(pc.equal(rows["status"], "failed"))["key"].to_pylist())

    return catalog.kept("failed captions", ["captions"], None, make)
