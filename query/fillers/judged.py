"""Values over other values: `similarity(caption, '...')` and `matches(...)`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reeldb.index.assemble import newest
from reeldb.index.ledger import ReplyRow
from reeldb.query.catalog import Catalog
from reeldb.query.fillers.base import Batch, Keys, Work, metered
from reeldb.query.fillers.captions import Captions
from reeldb.query.prices import is_here
from reeldb.query.prompts import JUDGE
from reeldb.query.prompts.asking import quoted
from reeldb.schema.digests import digest, request_key
from reeldb.schema.errors import ModelError
from reeldb.schema.models import UNPAID, ChatModel, Message, Reply

BATCH = 8  # replies asked for together where a model does not say how many it takes
VISION_SIDE = 512  # longest side, in pixels, of a picture that is judged
YES, NO = ("yes", "true"), ("no", "false")


class TextSimilarity:
    """Cosines of captions with a text, by the text embedder. Reads captions, costs no call."""

    def __init__(self, work: Work, captions: Captions, text: str, kept: dict[str, object]) -> None:
        self.work, self.captions, self.text, self.kept = work, captions, text, kept
        self.embedder = work.models.text_embedder()
        self.size = captions.size

    def recall(self, keys: Keys) -> Batch:
        return self._scored(self.captions.recall(keys).batch())

    def make(self, keys: Sequence[int]) -> Batch:
        return self._scored(self.captions.make(keys))

    def _scored(self, captions: Batch) -> Batch:
        texts = [v for v in captions.values if isinstance(v, str)]
        if not texts:
            return Batch(captions.keys, [None] * len(captions), captions.states)
        if not self._may_embed([self.text, *texts]):
            address = self.embedder.address
            self.work.note(f"EXPLAIN does not ask {address}: similarities count as unknown")
            return Batch()
        vectors = self._vectors([self.text, *texts])
        query = vectors[self._key(self.text)]
        values: list[object] = [
            float(np.dot(vectors[self._key(v)], query)) if isinstance(v, str) else None
            for v in captions.values
        ]
        return Batch(captions.keys, values, captions.states)

    def _may_embed(self, texts: Sequence[str]) -> bool:
        if self.work.asks or is_here(self.embedder.address):
            return True
        return all(self._key(t) in self.kept for t in texts)

    def _key(self, text: str) -> str:
        return digest(self.embedder.identity, text)

    def _vectors(self, texts: Sequence[str]) -> Mapping[str, np.ndarray]:
        """Unit vectors by key, embedded once a process."""
        new = {k: t for t in texts if (k := self._key(t)) not in self.kept}
        if new:
            for key, vector in zip(new, self.embedder.embed_texts(list(new.values())), strict=True):
                self.kept[key] = vector
        return self.kept  # type: ignore[return-value]


class Verdicts:
    """TRUE, FALSE or NULL of a statement about captions or pictures, one reply each.

    An unreadable reply is NULL, never TRUE.
    """

    def __init__(self, work: Work, relation: str, captions: Captions | None, text: str) -> None:
        self.work, self.relation, self.captions, self.text = work, relation, captions, text
        self.role = "vision" if captions is None else "chat"
        self.model: ChatModel = work.models.vision() if captions is None else work.models.chat()
        batch = int(getattr(self.model, "batch_size", BATCH))  # how many requests run at once
        self.size = max(1, batch, captions.size if captions is not None else 0)
        self.known: dict[int, tuple[bool | None, str]] = {}
        self.captions_by_row: dict[int, str] = {}

    def recall(self, keys: Keys) -> Batch:
        out = Batch()
        rest = [int(k) for k in keys if k not in self.known]
        if rest and self.captions is not None:
            rest = self._captioned(self.captions.recall(rest).batch())
        if rest:
            self._from_snapshot(rest)
        for key in keys:
            if key in self.known:
                out.add(int(key), *self.known[key])
        return out

    def _captioned(self, captions: Batch) -> list[int]:
        """Takes captions in; gives the rows that can be judged. No caption is no verdict."""
        for key, value, state in zip(captions.keys, captions.values, captions.states, strict=True):
            if isinstance(value, str):
                self.captions_by_row[key] = value
            else:
                self.known[key] = (None, state)
        return [k for k in captions.keys if k in self.captions_by_row]

    def _from_snapshot(self, keys: Sequence[int]) -> None:
        index = reply_index(self.work.catalog)
        if not len(index):
            return
        wanted = pa.array([self._key(k) for k in keys])
        at = pc.index_in(wanted, value_set=index["key"].chunk(0))
        texts = index["text"].chunk(0).take(at).to_pylist()
        states = index["status"].chunk(0).take(at).to_pylist()
        for key, text, state in zip(keys, texts, states, strict=True):
            if state is not None:
                self.known[key] = verdict(text, state)
                self.work.count("replies_reused", 1)

    def make(self, keys: Sequence[int]) -> Batch:
        out = self.recall(keys)
        missing = [k for k in keys if k not in self.known][: self.size]
        if self.captions is not None and missing:
            missing = self._caption_first(self.captions, self._payable(missing))
        self.work.once(missing, self._key, self._learn_kept, self._buy)
        done = set(out.keys)
        for key in keys:
            if key in self.known and key not in done:
                out.add(key, *self.known[key])
        return out

    def _payable(self, rows: list[int]) -> list[int]:
        """Where calls are few, as many rows as they pay for a caption and a judgement of."""
        if self.work.budget.limits.calls is None:
            return rows
        return rows[: max(1, self.work.budget.left("chats") // 2)]

    def _caption_first(self, captions: Captions, rows: list[int]) -> list[int]:
        """Has the rows captioned as far as the budget goes; gives those that can be judged."""
        ready: list[int] = []
        for i in range(0, len(rows), captions.size):
            part = rows[i : i + captions.size]
            made = captions.make(part)
            ready += self._captioned(made)
            if len(made) < len(part):
                break
        return [k for k in ready if k not in self.known]

    def _learn_kept(self, keys: Sequence[int], since: datetime) -> list[int]:
        """Learns what others have paid for meanwhile; gives the rows nobody has."""
        rows = self.work.ledger.replies([self._key(k) for k in keys], failed=True)
        unknown = []
        for key in keys:
            row = rows.get(self._key(key))
            if row is None or (row.status == "failed" and row.created_at < since):
                unknown.append(key)
            else:
                self.known[key] = verdict(row.text, row.status)
                self.work.rests("judgements", row)
                self.work.count("replies_reused", row.status != "failed")
        return unknown

    def _buy(self, keys: Sequence[int]) -> None:
        granted = self.work.budget.take("chats", len(keys))
        if granted:
            self._call(keys[:granted])

    def _prompt(self, key: int) -> str:
        caption = self.captions_by_row.get(key, "")
        about = [quoted("description", caption)] if caption else []
        return "\n".join([JUDGE.text, quoted("statement", self.text), *about])

    def _key(self, key: int) -> str:
        request: dict[str, object] = {
            "what": "verdict", "prompt": self._prompt(key), "model": self.model.identity,
        }  # fmt: skip
        if self.captions is None:
            rank, ms = self._picture(key)
            request |= {"content": self.work.catalog.video(rank).content_id, "times_ms": [ms]}
            request["size"] = VISION_SIDE
        return request_key(request)

    def _picture(self, key: int) -> tuple[int, int]:
        catalog = self.work.catalog
        rank = int(catalog.snapshot.ranks(self.relation)[key])
        return rank, catalog.picture_ms(self.relation, key)

    def _call(self, keys: Sequence[int]) -> None:
        messages: list[list[Message]] = []
        asked: list[int] = []
        for key in keys:
            message = self._message(key)
            if message is None:
                self.known[key] = (None, "unread")
            else:
                messages.append([message])
                asked.append(key)
        self.work.budget.give_back("chats", len(keys) - len(asked))
        if not messages:
            return
        started = time.monotonic()
        replies = self.work.metered(self.model, "chats").reply(messages)
        seconds = time.monotonic() - started
        if len(replies) != len(messages):
            raise ModelError(f"{self.model.address} gave {len(replies)} of {len(messages)} replies")
        tokens = sum(r.tokens for r in replies)
        self.work.paid(self.model.address, seconds, tokens, "chats", replies,
                       metered=metered(replies))  # fmt: skip
        done = [(k, r) for k, r in zip(asked, replies, strict=True) if r.note != UNPAID]
        self.work.count("replies_made", len(done))
        rows = [self._row(k, r, seconds / len(replies)) for k, r in done]
        self.work.keep(lambda: self.work.ledger.put_replies(rows))
        for key, reply in done:
            self.known[key] = verdict(reply.text, reply.status)
        self._tell([r for _, r in done])

    def _tell(self, replies: Sequence[Reply]) -> None:
        failed = [r for r in replies if r.status == "failed"]
        self.work.count("replies_failed", len(failed))
        if failed:
            why = f": {failed[0].note}" if failed[0].note else ""
            again = f"; tried again in {self.work.retry_after_s:g} s"
            self.work.note(f"the {self.role} model failed on some judgements{why}{again}")

    def _message(self, key: int) -> Message | None:
        if self.captions is not None:
            return Message("user", self._prompt(key))
        rank, ms = self._picture(key)
        images = self.work.pictures.at(self.work.catalog.video(rank), [ms], VISION_SIDE)
        if images is None:
            return None
        return Message("user", self._prompt(key), images, [ms / 1000])

    def _row(self, key: int, reply: Reply, seconds: float) -> ReplyRow:
        return ReplyRow(
            key=self._key(key), role=self.role, model=self.model.identity,
            text=reply.text, status=reply.status, note=reply.note or None,
            tokens=reply.tokens, seconds=seconds, created_at=self.work.clock(),
        )  # fmt: skip


def verdict(text: str | None, status: str) -> tuple[bool | None, str]:
    """What a reply says: only a whole word counts.

    >>> verdict("Yes.", "ok"), verdict("untrue", "ok"), verdict("", "refused")
    ((True, 'ok'), (None, 'unread'), (None, 'refused'))
    """
    if status != "ok":
        return None, status
    word = (text or "").strip().strip(".!\"'*").lower()
    if word in YES:
        return True, "ok"
    return (False, "ok") if word in NO else (None, "unread")


def reply_index(catalog: Catalog) -> pa.Table:
    """The counting reply of each key, failed ones left out."""

    def make() -> pa.Table:
        rows = newest(catalog.snapshot.rows("replies", ["key", "text", "status", "created_at"]))
        rows = rows.filter(pc.not_equal(rows["status"], "failed"))
        return rows.select(["key", "text", "status"]).combine_chunks()

    return catalog.kept("reply index", ["replies"], None, make)
