"""Who is compared: the packages at fixed versions, and the way each does the work."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Contestant:
    """A row of the table. `module` is `benchmarks.peers.run_<system>`, `way` its argument.

    `packages` are installed into the environment named `system`; none: this Python is used.
    `does` says in a few words how it does the work. `seen` are limits that were met when it
    was run; what the counts say the page says by itself.
    """

    name: str
    system: str
    way: str
    packages: tuple[str, ...]
    does: str
    seen: tuple[str, ...] = ()

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
    Contestant(
        "EvaDB",
        "evadb",
        "",
        (
            "evadb==0.3.9",
            "eva-decord==0.6.1",
            "opencv-python-headless==4.11.0.86",
            "sqlalchemy==2.0.58",
            "sqlalchemy-utils==0.41.2",
            "pandas==2.1.4",
            "numpy==1.26.4",
        ),
        "`LOAD VIDEO`, `SAMPLE 25`, a function of one's own that sends 8 pictures at a time, "
        "captions in a table made with `CREATE TABLE ... AS SELECT`",
    ),
    Contestant(
        "LOTUS",
        "lotus",
        "",
        ("lotus-ai==1.2.4", "torch==2.13.0", "numpy==1.26.4", "opencv-python-headless==4.11.0.86"),
        "a DataFrame of pictures that the script itself took from the clip with OpenCV, "
        "`sem_map`, `sem_filter`, the SQLite cache switched on",
    ),
    Contestant(
        "FiftyOne",
        "fiftyone",
        "",
        ("fiftyone==1.22.1",),
        "meant to: `to_frames(fps=1)`, captions in a field, a loop of one's own for the predicate",
    ),
)
