"""The reasoner that sums up without a language model: it quotes what was read, in time order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from reeldb.query.prompts.asking import place
from reeldb.query.reasoners.embedding import EmbeddingReasoner
from reeldb.query.reasoners.protocol import Conclusion

if TYPE_CHECKING:
    from reeldb.query.task import Picture, Seen

LONGEST = 4_000  # characters of a summary
SHORTEST = 60  # of a line


class ExtractiveReasoner(EmbeddingReasoner):
    """`conclude` lists what was seen, read and heard, with its times; it writes no sentence."""

    name: ClassVar[str] = "extract"
    note: ClassVar[str] = (
        "no language model wrote this summary: it lists what was seen and read, as it was read"
    )

    @property
    def sees(self) -> bool:
        """Pictures have no words to quote."""
        return False

    def conclude(self, seen: Sequence[Seen], pictures: Sequence[Picture] = ()) -> Conclusion:
        read = [s for s in seen if s.words.strip()]
        if not read:
            return Conclusion("", None, None, status="insufficient")
        several = len({s.picture.video_id for s in read}) > 1
        most = max(SHORTEST, LONGEST // len(read))
        lines = [f"{place(s, several)}: {_line(s, most)}" for s in read]
        return Conclusion("\n".join(lines), None, None, tuple(read))


def _line(seen: Seen, most: int) -> str:
    """The description first, then what was on screen and what was said, each part cut fairly."""
    parts = [
        (said, " ".join(text.split()))
        for said, text in (
            ("", seen.caption or ""),
            ("on screen: ", seen.onscreen),
            ("said: ", seen.spoken),
        )
        if text.strip()
    ]
    room = most // len(parts)
    return "; ".join(said + _cut(text, room) for said, text in parts)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rsplit(" ", 1)[0] + "…"
