"""Values that cost no call: heavy columns from disk, and what is said during a scene."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from reeldb.index.session import Session
from reeldb.query.fillers.base import Arrays, Batch, Keys, Work

SPEECH = """
SELECT s.__k AS k, coalesce(string_agg(p.text, ' ' ORDER BY p.start_s, p.line_no), '') AS v
FROM scenes_of_speech s LEFT JOIN speech_of_scenes p
ON p.video_id = s.video_id AND p.start_s < s.end_s AND s.start_s < p.end_s
WHERE s.video_id IN (SELECT video_id FROM speech_of_scenes) GROUP BY s.__k
"""


class Heavy:
    """A heavy column: read from disk for the rows that need it."""

    size = 256

    def __init__(self, work: Work, relation: str, column: str) -> None:
        self.work, self.relation, self.column = work, relation, column

    def recall(self, keys: Keys) -> Arrays:
        rows = np.asarray(keys, np.int64)
        values = self.work.catalog.snapshot.heavy(self.relation, self.column, rows)
        return Arrays(rows, values, pa.repeat(pa.scalar("ok"), len(rows)))

    def make(self, keys: Sequence[int]) -> Batch:
        return self.recall(keys).batch()


class NoText:
    """A text that no tool can read: nothing is known and nothing can be made."""

    size = 256

    def recall(self, keys: Keys) -> Batch:
        return Batch()

    def make(self, keys: Sequence[int]) -> Batch:
        return Batch()


class Subtitles:
    """`scenes.speech_text` without a speech model: the stored rows that overlap the scene, joined.

    '' where the video has speech rows and none overlaps; NULL where it has none at all, for
    then nobody has listened.
    """

    size = 256

    def __init__(self, work: Work) -> None:
        self.work = work
        work.note(
            "no speech model is set: speech_text holds subtitles only; "
            "reel models set speech ADDRESS"
        )

    def recall(self, keys: Keys) -> Batch:
        texts = self.work.catalog.kept(
            "speech texts", ["videos", "scenes", "speech", "tool_runs"], None, self._texts
        )
        out = Batch()
        for key in keys:
            text = texts.get(int(key))
            out.add(int(key), text, "unread" if text is None else "ok" if text else "empty")
        return out

    def make(self, keys: Sequence[int]) -> Batch:
        return self.recall(keys)

    def _texts(self) -> dict[int, str]:
        catalog = self.work.catalog
        with Session(threads=1) as session:
            session.register("scenes_of_speech", catalog.table("scenes"))
            session.register("speech_of_scenes", catalog.snapshot.relation("speech"))
            rows: pa.Table = session.run(SPEECH)
        return dict(zip(rows["k"].to_pylist(), rows["v"].to_pylist(), strict=True))
