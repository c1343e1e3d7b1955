"""A made-up archive whose pictures carry their own address, and models that read it.

Everything a model says is a pure function of a salt, the picture's address and the words
asked, so what a full filling gives is known without running the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from reeldb.index.archive import Archive
from reeldb.index.ledger import CaptionRow, Ledger, LookRow, ReplyRow
from reeldb.index.spaces import space_table
from reeldb.models.registry import Models
from reeldb.query.engine import Engine
from reeldb.query.fillers.judged import verdict
from reeldb.query.prompts import JUDGE
from reeldb.schema.digests import digest
from reeldb.schema.models import (
    Action,
    CaptionRequest,
    Found,
    Heard,
    Listening,
    Look,
    Message,
    Recognition,
    Reply,
    Status,
    Word,
)
from reeldb.schema.tables import TABLES, embeddings_schema

if TYPE_CHECKING:
    from reeldb.schema.models import Image, Sound

WORDS = ["dog", "red", "car", "falls", "milk", "tree", "child", "opens"]
SPACE = "fake:embedder?dim=32@32"
DIM = 32
SOUND_START_S = 3.25  # of the video that shares its sound with another one
SHOTS = 3  # pictures that the action tool wants


def roll(*parts: object) -> float:
    """A number in 0..1 that depends on the parts only."""
    return int(digest(*(str(p) for p in parts))[:12], 16) / 16**12


def picture(rank: int, ms: int) -> Image:
    """A picture that carries its address in its first pixels, unlike any other."""
    dice = np.random.default_rng(rank * 1_000_003 + ms)
    image = dice.integers(0, 256, (2, 2, 3), np.uint8).repeat(16, 0).repeat(16, 1)
    image[0, 0] = (rank, ms % 256, ms // 256 % 256)
    image[0, 1] = (ms // 65536, 0, 0)
    return np.ascontiguousarray(image)


def address(image: Image) -> tuple[int, int]:
    a, b = image[0, 0], image[0, 1]
    return int(a[0]), int(a[1]) + 256 * int(a[2]) + 65536 * int(b[0])


class OpenFake:
    def __init__(self, path: str) -> None:
        self.rank = int(Path(path).stem[1:])

    def at(self, times_s: Sequence[float], *, max_side: int | None = None) -> list[Image]:
        return [picture(self.rank, round(t * 1000)) for t in times_s]

    def __exit__(self, *_: object) -> None:
        pass


def hear(path: str, start_s: float, end_s: float) -> Sound:
    """A sound in which every 25 s say where they are: which sound, and when on its own clock."""
    v = int(Path(path).stem[1:])
    first_s = start_s - (SOUND_START_S if sound_of(v) != v else 0.0)
    made = np.zeros(round((end_s - start_s) * 16_000), np.float32)
    for at in range(0, len(made), 25 * 16_000):
        made[at : at + 2] = 1 + sound_of(v), first_s + at / 16_000
    return made


class Says:
    """What the models of one salt say."""

    def __init__(self, salt: int) -> None:
        self.salt = salt

    def caption(self, prompt: str, places: Sequence[tuple[int, int]]) -> tuple[Status, str]:
        about = (self.salt, prompt, *places)
        dice = roll("state", *about)
        if dice < 0.06:
            return ("refused", "") if dice < 0.03 else ("empty", "")
        picked = [w for w in WORDS if roll(w, *about) < 0.3]
        return "ok", f"{' '.join(picked)} {int(1000 * roll('n', *about))}".strip()

    def verdict(self, statement: str, about: str) -> str:
        dice = roll("v", self.salt, statement, about)
        if dice < 0.07:
            return "untrue"
        return "Yes." if dice < (0.6 if "common" in statement else 0.2) else "no"

    def texts(self, role: str, place: tuple[int, int]) -> list[str]:
        dice = roll(role, self.salt, place)
        if dice < 0.6:
            return []
        return [w for w in WORDS if roll(role, w, self.salt, place) < 0.25]

    def words(self, sound: int, end_s: float) -> list[list[tuple[float, str]]]:
        """Utterances until some time: lists of words of half a second each, by their start."""
        out = []
        for n in range(int(end_s // 7) + 1):
            about = ("said", self.salt, sound, n)
            count = 1 + int(5 * roll("many", *about))
            if roll(*about) < 0.6:
                picked = [WORDS[int(8 * roll(i, *about))] for i in range(count)]
                out.append([(7 * n + 0.5 + i / 2, w) for i, w in enumerate(picked)])
        return out

    def actions(self, v: int, times_ms: Sequence[int]) -> list[str]:
        about = ("actions", self.salt, v, *times_ms)
        return [] if roll(*about) < 0.5 else [w for w in WORDS if roll(w, *about) < 0.3]


class Base:
    can = cannot = "a test"
    batch_size = 16
    image_size = 32

    def __init__(self, says: Says, name: str) -> None:
        self.says = says
        self.address = f"test:{name}"
        self.identity = f"test:{name}:{says.salt}"
        self.requests = 0


class TestCaptioner(Base):
    __test__ = False

    def caption(self, requests: Sequence[CaptionRequest]) -> list[Reply]:
        self.requests += len(requests)
        out = []
        for r in requests:
            status, text = self.says.caption(r.prompt, [address(i) for i in r.images])
            out.append(Reply(status, text, tokens=1))
        return out


class TestTool(Base):
    __test__ = False

    def look(self, images: Sequence[Image]) -> list[Look]:
        self.requests += len(images)
        out = []
        for image in images:
            role = self.address.partition(":")[2]
            texts = self.says.texts(role, address(image))
            found = tuple(Found(t, 0.5, (0.0, 0.0, 1.0, 1.0)) for t in texts)
            out.append(Look("ok" if found else "empty", found))
        return out


class TestSpeech(Base):
    __test__ = False

    def listen(self, sounds: Sequence[Sound], rate: int) -> list[Listening]:
        self.requests += len(sounds)
        return [self._one(int(s[0]) - 1, float(s[1]), len(s) / rate) for s in sounds]

    def _one(self, sound: int, start_s: float, length_s: float) -> Listening:
        heard = []
        for said in self.says.words(sound, start_s + length_s):
            inside = [
                Word(at - start_s, at - start_s + 0.5, w)
                for at, w in said
                if start_s <= at and at + 0.5 <= start_s + length_s
            ]
            if inside:
                text = " ".join(w.text for w in inside)
                span = (inside[0].start_s, inside[-1].end_s)
                heard.append(Heard(*span, text, 0.5, "en", tuple(inside)))
        return Listening("ok" if heard else "empty", tuple(heard))


class TestActions(Base):
    __test__ = False
    picture_count = SHOTS

    def recognise(self, stretches: Sequence[Sequence[Image]]) -> list[Recognition]:
        self.requests += len(stretches)
        out = []
        for images in stretches:
            places = [address(i) for i in images]
            labels = self.says.actions(places[0][0], [ms for _, ms in places])
            done = tuple(Action(label, 0.5) for label in labels)
            out.append(Recognition("ok" if done else "empty", done))
        return out


class TestChat(Base):
    __test__ = False
    max_images = 64

    def reply(
        self, messages: Sequence[Sequence[Message]], schema: str | None = None
    ) -> list[Reply]:
        self.requests += len(messages)
        return [Reply("ok", self._one(m[-1]), tokens=1) for m in messages]

    def _one(self, message: Message) -> str:
        statement = message.text.partition("<statement>\n")[2].partition("\n</statement>")[0]
        about = message.text.partition("<description>\n")[2].partition("\n</description>")[0]
        if message.images:
            about = str(address(message.images[0]))
        return self.says.verdict(statement, about)


class TestModels(Models):
    def __init__(self, says: Says, roles: Iterable[str] = ()) -> None:
        super().__init__(
            {"embedder": "fake:embedder?dim=32", "text_embedder": "fake:text_embedder"}
        )
        self.made: dict[str, Any] = {
            "captioner": TestCaptioner(says, "captioner"),
            "ocr": TestTool(says, "ocr"),
            "objects": TestTool(says, "objects"),
            "speech": TestSpeech(says, "speech"),
            "actions": TestActions(says, "actions"),
            "chat": TestChat(says, "chat"),
            "vision": TestChat(says, "vision"),
        }
        for role in roles:
            del self.made[role]

    def get(self, role: Any) -> Any:
        return self.made[role] if role in self.made else super().get(role)


class MemoryLedger(Ledger):
    """A ledger that forgets: every engine starts with nothing filled."""

    def __init__(self, archive: Archive) -> None:
        super().__init__(archive)
        self.kept_captions: dict[str, CaptionRow] = {}
        self.kept_replies: dict[str, ReplyRow] = {}
        self.kept_looks: dict[str, LookRow] = {}

    def captions(self, keys: Iterable[str], failed: bool = False) -> dict[str, CaptionRow]:
        return {k: self.kept_captions[k] for k in keys if k in self.kept_captions}

    def replies(self, keys: Iterable[str], failed: bool = False) -> dict[str, ReplyRow]:
        return {k: self.kept_replies[k] for k in keys if k in self.kept_replies}

    def put_captions(self, rows: Sequence[CaptionRow]) -> int:
        self.kept_captions |= {r.key: r for r in rows}
        return len(rows)

    def put_replies(self, rows: Sequence[ReplyRow]) -> int:
        self.kept_replies |= {r.key: r for r in rows}
        return len(rows)

    def put_looks(
        self, runs: Sequence[LookRow], found: Mapping[str, Sequence[Mapping[str, Any]]]
    ) -> int:
        self.kept_looks |= {r.key: r for r in runs}
        return len(runs)


class World:
    """An archive, and engines over it."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive

    def engine(self, salt: int = 0, *, forgets: bool = True, without: Iterable[str] = ()) -> Engine:
        engine = Engine(self.archive, TestModels(Says(salt), without), OpenFake, hear)
        if forgets:
            ledger = MemoryLedger(self.archive)
            engine.ledger = lambda: ledger  # type: ignore[method-assign]
        return engine


def sound_of(v: int) -> int:
    """The video whose sound a video has: v4 has that of v1, and starts it later."""
    return 1 if v == 4 else v


def video_id(v: int) -> str:
    return f"{v:032x}"


def make_world(path: Path, videos: int = 12, scenes: int = 10) -> World:
    """`v0.mp4` ... with 10 s scenes, a grid picture every 5 s, speech on most, vectors."""
    archive = Archive.open(path, create=True)
    rows: dict[str, list[dict[str, Any]]] = {n: [] for n in ("scenes", "frames", "speech")}
    films, vectors = [], []
    dice = np.random.default_rng(7)
    for v in range(videos):
        count = scenes + v % 4 * 2
        films.append(_video(v, count * 10.0, count))
        owner = {"video_id": video_id(v), "ingest_id": f"i{v}"}
        for n in range(count):
            span = {"start_s": n * 10.0, "end_s": n * 10.0 + 10, "key_s": n * 10.0 + 5}
            rows["scenes"].append({**owner, "scene_no": n, **span})
            for k in range(2):
                t_s = n * 10.0 + 5 * k
                frame = {"t_s": t_s, "on_grid": True, "frame_no": 2 * n + k, "scene_no": n}
                rows["frames"].append({**owner, **frame, "thumbnail": f"{v}/{t_s:g}".encode()})
                vector = dice.standard_normal(DIM).astype(np.float32)
                unit = (vector / np.linalg.norm(vector)).astype(np.float16)
                vectors.append({**owner, "t_s": t_s, "space": SPACE, "vector": [*unit]})
            if (v + n) % 3 == 0:
                text = ["milk is spilt", "tea is made", "milk again"][n % 3]
                rows["speech"].append(
                    {
                        "key": f"s{v}-{n}", "source_id": owner["video_id"],
                        "ingest_id": owner["ingest_id"], "line_no": n, "start_s": n * 10.0 + 2,
                        "end_s": n * 10.0 + 12, "text": text, "confidence": None,
                        "language": "en", "model": "subtitle",
                    }
                )  # fmt: skip
    store = archive.store
    schema = embeddings_schema(SPACE, DIM)
    store.create(space_table(SPACE), schema)
    store.append(space_table(SPACE), pa.Table.from_pylist(vectors, schema=schema))
    for name, made in rows.items():
        store.append(name, pa.Table.from_pylist(made, schema=TABLES[name]))
    store.append("videos", pa.Table.from_pylist(films, schema=TABLES["videos"]))
    return World(archive)


def _video(v: int, duration_s: float, scenes: int) -> dict[str, Any]:
    return {
        "video_id": video_id(v), "ingest_id": f"i{v}", "name": f"v{v}.mp4",
        "path": f"/nowhere/v{v}.mp4", "aliases": [f"/nowhere/v{v}.mp4", f"/old/{v}"],
        "content_id": f"content{v}", "sound_id": f"sound{sound_of(v)}" if v % 3 else None,
        "sound_start_s": SOUND_START_S if v % 3 and sound_of(v) != v else 0.0,
        "file_hash": video_id(v), "bytes": 1000 + v,
        "duration_s": duration_s, "fps": 25.0, "frame_count": int(duration_s * 25), "width": 64,
        "height": 48, "rotation": 0, "codec": "h264", "stream": 0, "has_audio": bool(v % 2),
        "start_pts_s": 0.0, "damaged": False, "lost_frames": 0, "hdr": False, "note": None,
        "scene_count": scenes,
        "settings": {"fps": 0.2, "detector": "content", "threshold": None, "min_scene": 0.5,
                     "scan": "full"},
        "embedder": SPACE, "missing": False, "timing": b"",
        "added_at": datetime(2024, 1, 1 + v % 28),
    }  # fmt: skip


def judged(says: Says, statement: str, about: str | None) -> bool | None:
    """What the full filling of `matches` gives for a caption, or for a picture's address."""
    if about is None:
        return None
    return verdict(says.verdict(statement, about), "ok")[0]


__all__ = ["JUDGE", "MemoryLedger", "Says", "World", "judged", "make_world", "picture"]
