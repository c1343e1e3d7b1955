"""Questions to chat and vision models: through the ledger, in parallel, within the budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from reeldb.index.ledger import ReplyRow
from reeldb.query.fillers.base import Work, metered
from reeldb.query.operators.captions import KEPT
from reeldb.query.operators.grid import Picture
from reeldb.schema.digests import request_key
from reeldb.schema.errors import ModelError
from reeldb.schema.models import ChatModel, Message, Metered, Reply, Tempered

if TYPE_CHECKING:
    from reeldb.schema.models import Image

SIDE = 512  # longest side, in pixels, of a picture that a model is shown
TOGETHER = 32  # requests whose pictures are in memory at a time
UNPAID, UNREAD, UNPARSED = "unpaid", "unread", "unparsed"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """Every word of a question, the pictures before it, and the turns since, if any: what the
    model said and what was said to that, by turns."""

    text: str
    pictures: tuple[Picture, ...] = ()
    turns: tuple[str, ...] = ()

    def again(self, said: str, wish: str) -> Request:
        """The same question after a reply that could not be used."""
        return Request(self.text, self.pictures, (*self.turns, said, wish))


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """What a reply should look like: a JSON schema, how it is read (None: it cannot be), and
    what to say to a reply that could not be."""

    schema: str
    read: Callable[[str], T | None]
    wish: str


@dataclass(frozen=True, slots=True)
class Heard(Generic[T]):
    """What came of a request. `value` is set where `status` is ok.

    Else the status is `unparsed` (not readable, after one repair), `refused`, `empty`, `failed`,
    `unread` (its pictures cannot be read) or `unpaid` (the budget ended before it).
    """

    value: T | None
    status: str
    text: str = ""
    key: str = ""
    note: str = ""


class Replies:
    """One model's replies to requests of one role."""

    def __init__(
        self, work: Work, role: str, model: ChatModel, schema: str, debit: Callable[[], bool],
        temperature: float = 0.0,
    ) -> None:  # fmt: skip
        self.temperature = temperature
        if temperature and isinstance(model, Tempered):
            model = cast(ChatModel, model.tempered(temperature))
        self.work, self.role, self.schema = work, role, schema
        self.identity, self.address = model.identity, model.address
        self._model = model.metered(debit) if isinstance(model, Metered) else model
        self.known: dict[str, Reply] = {}
        self.made = self.calls = 0

    def key(self, request: Request) -> str:
        videos = [self.work.catalog.video(p.rank).content_id for p in request.pictures]
        warm = {"temperature": round(1000 * self.temperature)} if self.temperature else {}
        return request_key(
            {
                **warm,
                "what": "reply",
                "text": request.text,
                "turns": list(request.turns),
                "pictures": [[v, p.t_ms] for v, p in zip(videos, request.pictures, strict=True)],
                "size": SIDE if videos else 0,
                "schema": self.schema,
                "model": self.identity,
            }
        )

    def make_all(self, requests: Sequence[Request]) -> None:
        """Makes what is missing, as far as the budget goes; `known` holds what there is."""
        keys = [self.key(r) for r in requests]
        missing = self._learn(list(range(len(keys))), keys, None)
        self.work.once(
            missing,
            lambda i: keys[i],
            lambda rows, since: self._learn(rows, keys, since),
            lambda rows: self._buy([(keys[i], requests[i]) for i in rows]),
        )

    def recall_recorded(
        self, requests: Sequence[Request], recorded: Mapping[str, str]
    ) -> list[str]:
        """Takes what the ledger holds of the requests that an answer made (`recorded`: state by
        key, KEPT where the ledger should have it); gives the keys that it has lost."""
        keys = [self.key(r) for r in requests]
        gone = {k: s for k in keys if (s := recorded.get(k, KEPT)) != KEPT}
        self.known |= {k: Reply("failed", note=s, calls=0) for k, s in gone.items()}
        kept = [k for k in keys if recorded.get(k) == KEPT]
        return [kept[i] for i in self._learn(list(range(len(kept))), kept, datetime.min)]

    def _learn(self, rows: Sequence[int], keys: Sequence[str], since: datetime | None) -> list[int]:
        """Takes what the ledger holds; gives the rows that it does not."""
        kept = self.work.ledger.replies([keys[i] for i in rows], failed=since is not None)
        unknown = []
        for i in rows:
            row = kept.get(keys[i])
            if row is None or (row.status == "failed" and since and row.created_at < since):
                unknown.append(i)
            elif keys[i] not in self.known:
                self.known[keys[i]] = Reply(row.status, row.text or "", row.note or "", calls=0)
        return [i for i in unknown if keys[i] not in self.known]

    def _buy(self, wanted: Sequence[tuple[str, Request]]) -> None:
        granted = self.work.budget.take("chats", len(wanted))
        for at in range(0, granted, TOGETHER):
            self._call(wanted[at : min(at + TOGETHER, granted)])

    def _call(self, wanted: Sequence[tuple[str, Request]]) -> None:
        asked: list[str] = []
        chats: list[list[Message]] = []
        for key, request in wanted:
            images = self._images(request)
            if images is None:
                self.known[key] = Reply("failed", note=UNREAD, calls=0)
                continue
            asked.append(key)
            chats.append(_chat(request, images))
        if not chats:
            return
        started = time.monotonic()
        replies = self._model.reply(chats, self.schema or None)  # type: ignore[attr-defined]
        seconds = time.monotonic() - started
        if len(replies) != len(chats):
            raise ModelError(f"{self.address} gave {len(replies)} of {len(chats)} replies")
        tokens = sum(r.tokens for r in replies)
        self.work.paid(self.address, seconds, tokens, metered=metered(replies))
        self.made += len(replies)
        self.calls += sum(r.calls for r in replies)
        self.known |= dict(zip(asked, replies, strict=True))
        rows = [
            ReplyRow(
                key=key, role=self.role, model=self.identity, text=r.text, status=r.status,
                note=r.note or None, tokens=r.tokens, seconds=seconds / len(replies),
            )
            for key, r in zip(asked, replies, strict=True)
        ]  # fmt: skip
        self.work.keep(lambda: self.work.ledger.put_replies(rows))

    def _images(self, request: Request) -> list[Image] | None:
        """The request's pictures in their order, or None where a file is gone."""
        out: list[Image] = []
        for first, last in _runs([p.rank for p in request.pictures]):
            video = self.work.catalog.video(request.pictures[first].rank)
            times = [p.t_ms for p in request.pictures[first:last]]
            images = self.work.pictures.at(video, times, SIDE)
            if images is None:
                return None
            out += images
        return out


def _runs(values: Sequence[int]) -> list[tuple[int, int]]:
    """`[first, last)` of each run of equal values.

    >>> _runs([1, 1, 2, 1])
    [(0, 2), (2, 3), (3, 4)]
    """
    edges = [i for i in range(1, len(values)) if values[i] != values[i - 1]]
    cuts = [0, *edges, len(values)] if values else []
    return list(pairwise(cuts))


def _chat(request: Request, images: Sequence[Image]) -> list[Message]:
    times_s = [p.t_s for p in request.pictures]
    chat = [Message("user", request.text, images, times_s)]
    for i, turn in enumerate(request.turns):
        chat.append(Message("user" if i % 2 else "assistant", turn))
    return chat
