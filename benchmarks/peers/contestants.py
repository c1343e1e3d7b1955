"""Who is compared: the packages at fixed versions, and the way each does the work."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Contestant:
    """A row of the table. `module` is `benchmarks.peers.run_<system>`, `way` its argument.

    `packages` are installed into the environment named `system`; none: this Python is used.
    `does` says in a few words how it does the work. `cannot` are limits that were seen in runs.
    """

    name: str
    system: str
    way: str
    packages: tuple[str, ...]
    does: str
    cannot: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        return f"benchmarks.peers.run_{self.system}"


REEL = "ReelDB"  # the name of the row that the others are set against

CONTESTANTS = (
    Contestant(
        REEL,
        "reel",
        "frames",
        (),
        "`frames`, one picture a second; the index also holds scenes, thumbnails and vectors",
    ),
    Contestant(
        f"{REEL}, scenes",
        "reel",
        "scenes",
        (),
        "`scenes`, one key picture for each shot that it found: fewer rows to ask about",
    ),
    Contestant(
        "Pixeltable",
        "pixeltable",
        "",
        ("pixeltable==0.7.21", "openai==3.57.0"),
        "a view with `frame_iterator(fps=1)`, a computed column by `openai.vision`",
    ),
)
