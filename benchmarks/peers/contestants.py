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
        (
            "Its index detects shots and embeds every picture (`embedder='none'`, not used here, "
            "leaves that out), whether a question needs it or not; the others here do neither",
            "What was in flight when the question was killed was lost and paid for again",
        ),
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
        "a view with `frame_iterator(fps=1)`, a computed column by `openai.vision`; the predicate "
        "of LIMIT is `openai.vision` in `where(...).limit(5)`",
        (
            "The computed column is made for all rows when it is added, and kept",
            "The rows of LIMIT are those whose replies came first, not the same in every run; a "
            "crash came in the collection of garbage while the program ended",
            "With a server that sends no `x-ratelimit-*` headers it sent one request at a time",
            "Its PostgreSQL ran on after the program had ended, and has tens of megabytes before "
            "the first row",
            "It has functions that detect shots, which this comparison does not use",
        ),
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
        (
            "`WHERE Caption(data).caption LIKE '...'` is refused (`'FunctionExpression' object has "
            "no attribute 'col_object'`), so the captions need a table of one's own",
            "A killed `CREATE TABLE ... AS SELECT` leaves an empty table; `CREATE TABLE IF NOT "
            "EXISTS` is then content and questions find nothing, without an error. The script "
            "drops the table first",
            "It hands a function some 30 MB of decoded pictures at a time, 130 of this clip's",
            "LIKE takes regular expressions: `'%fox%'` finds nothing",
            "`WHERE id % 25 = 0` is refused (`Cannot bind <class 'list'>`); `SAMPLE` counts "
            "pictures, not seconds",
            "`LOAD VIDEO` of the same file again is an error (`Duplicate File`)",
            "`EXPLAIN` names the steps and tells no rows and no calls",
            "`eva-decord`, without which no video loads, has to be installed by hand",
        ),
    ),
    Contestant(
        "LOTUS",
        "lotus",
        "",
        ("lotus-ai==1.2.4", "torch==2.13.0", "numpy==1.26.4", "opencv-python-headless==4.11.0.86"),
        "a DataFrame of pictures that the script itself took from the clip with OpenCV, "
        "`sem_map`, `sem_filter(...).head(5)`, the SQLite cache switched on",
        (
            "It knows no videos and keeps no table: the pictures and their times are the script's",
            "The cache is off unless one switches it on; it alone makes the second question and "
            "the repeated one free",
            "At every start it asks the internet for a list of prices, and retries for seconds "
            "without one, unless `LITELLM_LOCAL_MODEL_COST_MAP` is set, as here",
        ),
    ),
    Contestant(
        "FiftyOne",
        "fiftyone",
        "",
        ("fiftyone==1.22.1",),
        "meant to: `to_frames(fps=1)`, captions in a field, a loop of one's own for the predicate",
        (
            "It needs a MongoDB, which it downloads from outside the package registry while it is "
            "installed. Where that is out of reach the installer says nothing and the first "
            "statement fails. What its script does after that has not been run; with "
            "`FIFTYONE_DATABASE_URI` set it can be",
        ),
    ),
)
