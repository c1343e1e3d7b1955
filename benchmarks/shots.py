"""How well shots are found: precision, recall and F1, beside PySceneDetect's own SceneManager.

`python -m benchmarks.shots FOLDER` prints tables in full. FOLDER holds `real/bbb_trailer.mp4` (and
other real videos) and `hard/manifest.csv` with its files. `make bench` uses clips made here.
"""

from __future__ import annotations

import csv
import logging
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import reeldb
from benchmarks.clips import patchwork
from benchmarks.rows import Row
from benchmarks.timing import Run, call
from reeldb.evaluation.metrics.shots import Score, Truth, total
from reeldb.media.demo import demo_clip
from reeldb.schema.settings import DETECTORS, Settings

FRAME_S = 0.043  # one picture at 24 a second, and the rounding of times
NEAR_S = 0.25

Found = Mapping[Path, Sequence[float]]
Finder = Callable[[Sequence[Path]], Found]

# The trailer's joins are in its edit script. Around 10, 14 and 32 s a clip fades out for a second
# and the next one fades in; the join is the black picture. At 52.167 the last clip has faded out
# and the end card is there. From 45.75 to 47.25 one clip dissolves into the next. The film's own
# cuts inside the clips were read off its pictures.
TRAILER_JOINS = (10.0, 14.0, 32.0, 52.167)
TRAILER_CUTS = (24.708, 36.0, 37.5, 41.167, 43.708)
TRAILER_DISSOLVE = (45.75, 47.25)


def rows(quick: bool) -> Iterator[Row]:
    """F1 over PySceneDetect's on clips whose cuts are known; what keyframe mode saves."""
    logging.getLogger("pyscenedetect").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as own:
        truths = own_clips(Path(own))
        paths = [t.path for t in truths]
        for name in DETECTORS:
            ours = total(reel(name)(paths), truths, FRAME_S).f1
            theirs = total(scenedetect(name, min_scene_len=0.5)(paths), truths, FRAME_S).f1
            note = f"F1 {ours:.3f} and {theirs:.3f}, {sum(len(t.cuts) for t in truths)} cuts"
            over = "`scenedetect`, 0.5 s"
            yield Row(f"F1 of `--detector {name}`", over, ours / theirs, at_least=1, note=note)
    if not quick:
        _, note, faster = keyframe_mode(demo_clip())
        yield Row("full mode", "keyframe mode, no embedder", faster.wall_s, note=note)


def main(folder: str) -> None:
    """Prints a table for every set of videos whose cuts are known, and one of keyframe mode."""
    logging.getLogger("pyscenedetect").setLevel(logging.CRITICAL)
    print(f"A cut is right within {FRAME_S} s (one picture), or within {NEAR_S} s.")
    videos = Path(folder).resolve()
    compare("bbb_trailer.mp4", [trailer(videos / "real" / "bbb_trailer.mp4")])
    compare("Hard files with exact cuts", hard_files(videos / "hard"))
    keyframes(sorted(p for p in (videos / "real").iterdir() if p.suffix not in (".md", ".vtt")))


# The videos


def trailer(path: Path) -> Truth:
    """The trailer and its boundaries."""
    return Truth(path, tuple(sorted((*TRAILER_JOINS, *TRAILER_CUTS))), (TRAILER_DISSOLVE,))


def hard_files(folder: Path) -> list[Truth]:
    """The readable files of the manifest whose cuts are exact; many have none."""
    truths = []
    with (folder / "manifest.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            cuts = row["true_cuts_s_from_first_frame"]
            if row["expected"].startswith("ok") and not cuts.startswith("gradual"):
                truths.append(Truth(folder / row["file"], tuple(map(float, cuts.split()))))
    return truths


def own_clips(folder: Path) -> list[Truth]:
    """Three clips with 12 cuts, shots of 0.6 to 3 s."""
    plans = [(24, (2, 0.75, 1.5, 3)), (25, (0.6, 1, 2, 0.8, 1.2)), (30, (1, 3, 0.7, 0.9, 2, 1.5))]
    truths = []
    for seed, (fps, lengths_s) in enumerate(plans):
        path = folder / f"patchwork_{fps}.mp4"
        truths.append(Truth(path, patchwork(path, lengths_s, fps, seed)))
    return truths


# Who looks for cuts


def reel(detector: str = "content", scan: str = "full") -> Finder:
    """ReelDB, through `add`, in an archive of its own."""

    def find(paths: Sequence[Path]) -> Found:
        with tempfile.TemporaryDirectory() as folder, reeldb.open(Path(folder) / "a") as db:
            db.add(paths, Settings(detector=detector, scan=scan), embedder="none")
            rows = db.sql(
                "SELECT v.path, s.start_s FROM videos v JOIN scenes s ON s.video_id = v.video_id "
                "WHERE s.start_s > 0"
            ).fetchall()
        return {path: [start_s for at, start_s in rows if Path(at) == path] for path in paths}

    return find


def scenedetect(detector: str, **options: object) -> Finder:
    """PySceneDetect's SceneManager with its default backend (OpenCV)."""

    def find(paths: Sequence[Path]) -> Found:
        from scenedetect import SceneManager, VideoOpenFailure, detectors, open_video

        found: dict[Path, list[float]] = {}
        for path in paths:
            manager = SceneManager()
            manager.add_detector(getattr(detectors, f"{detector.title()}Detector")(**options))
            try:
                manager.detect_scenes(open_video(str(path)))
            except VideoOpenFailure:
                continue
            scenes = manager.get_scene_list(start_in_scene=True)
            found[path] = [start.seconds - scenes[0][0].seconds for start, _ in scenes[1:]]
        return found

    return find


def finders() -> dict[str, Finder]:
    """All contestants by name."""
    return {
        **{f"reel {d}": reel(d) for d in DETECTORS},
        "reel content, keyframes": reel(scan="keyframes"),
        **{f"scenedetect {d}": scenedetect(d) for d in DETECTORS},
        **{f"scenedetect {d}, 0.5 s": scenedetect(d, min_scene_len=0.5) for d in DETECTORS},
    }


# The tables


def compare(title: str, truths: Sequence[Truth]) -> None:
    """Prints how every contestant does on videos whose cuts are known."""
    cuts, paths = sum(len(t.cuts) for t in truths), [t.path for t in truths]
    print(f"\n{title}: {len(truths)} files, {cuts} cuts\n")
    print(f"| finder | right | false | missed | P / R / F1 | P / R / F1 within {NEAR_S} s |")
    print("|---|---|---|---|---|---|")
    for name, find in finders().items():
        found = find(paths)
        near, exact = total(found, truths, NEAR_S), total(found, truths, FRAME_S)
        counts = f"{exact.right} | {exact.false} | {exact.missed}"
        print(f"| {name} | {counts} | {figures(exact)} | {figures(near)} |", flush=True)


def figures(score: Score) -> str:
    return f"{score.precision:.2f} / {score.recall:.2f} / {score.f1:.2f}"


def keyframes(paths: Sequence[Path]) -> None:
    """Prints what keyframe mode loses and invents, measured by full mode, and its speed."""
    print("\nKeyframe mode against full mode (content, no embedder, one run each)\n")
    print("| video | cuts, full | lost | false | lost, 0.25 s | false, 0.25 s | wall | CPU |")
    print("|---|---|---|---|---|---|---|---|")
    for path in paths:
        cells, _, faster = keyframe_mode(path)
        speed = f"{faster.wall_s:.1f}x | {faster.cpu_s:.1f}x"
        print(f"| {path.name} | {' | '.join(map(str, cells))} | {speed} |", flush=True)


def keyframe_mode(path: Path) -> tuple[tuple[int, ...], str, Run]:
    """Cuts of full mode, those lost and invented, exactly and nearly; in words; and its gain."""
    found: dict[str, Sequence[float]] = {}

    def find(scan: str) -> None:
        found[scan] = reel(scan=scan)([path])[path]

    full, quick = call(lambda: find("full")), call(lambda: find("keyframes"))
    truth, keys = Truth(path, tuple(found["full"])), {path: found["keyframes"]}
    exact, near = total(keys, [truth], FRAME_S), total(keys, [truth], NEAR_S)
    cells = (len(truth.cuts), exact.missed, exact.false, near.missed, near.false)
    note = f"of {len(truth.cuts)} cuts {near.missed} lost, {near.false} false, within {NEAR_S} s"
    return cells, note, Run(full.wall_s / quick.wall_s, full.cpu_s / quick.cpu_s)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(sys.argv[1])
