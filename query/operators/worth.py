"""Which scenes of many videos are worth a look: pictures, captions, screen and speech together.

Each source ranks scenes by itself; the ranks are fused (reciprocal rank fusion, Cormack et al.
2009), so no source's scores need to be comparable with another's. Nothing is computed by a
model beyond the vector of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from reeldb.query.catalog import Catalog
from reeldb.query.operators.grid import Grid

if TYPE_CHECKING:
    from reeldb.query.operators.nearest import PictureVectors

EACH = 200  # scenes that a source names
FUSION = 60  # of reciprocal rank fusion: how slowly the ranks of a source fall off
TIMES = {"captions": "start_s", "ocr": "t_s", "speech": "start_s"}
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "the and that this with from into was were has have had are its his her their there who "
        "what when where which does did you how why many",
    )
)


@dataclass(frozen=True, slots=True)
class Worth:
    """A scene (its row), its video, and by how much it is worth a look."""

    scene: int
    rank: int
    score: float
    sources: tuple[str, ...]


def scenes_worth(
    catalog: Catalog, grid: Grid, vectors: PictureVectors | None, text: str
) -> list[Worth]:
    """Scenes with pictures in the grid, the most worth first."""
    found: dict[int, float] = {}
    by: dict[int, list[str]] = {}
    allowed = set(np.unique(grid.rank).tolist())
    for source, scenes in _sources(catalog, grid, vectors, text):
        for place, scene in enumerate(scenes[:EACH]):
            found[scene] = found.get(scene, 0.0) + 1 / (FUSION + place)
            by.setdefault(scene, []).append(source)
    ranks = catalog.snapshot.ranks("scenes")
    worth = [Worth(s, int(ranks[s]), v, tuple(by[s])) for s, v in found.items()]
    return sorted((w for w in worth if w.rank in allowed), key=lambda w: (-w.score, w.scene))


def top_scenes(worth: Sequence[Worth], most: int = 10) -> dict[str, object]:
    """The best of them, for the trace."""
    return {"scenes": [[w.scene, round(w.score, 4), list(w.sources)] for w in worth[:most]]}


def _sources(
    catalog: Catalog, grid: Grid, vectors: PictureVectors | None, text: str
) -> Iterator[tuple[str, list[int]]]:
    if vectors is not None:
        best = vectors.best(text, 10 * EACH, grid)
        places = np.array([i for i, _ in best], np.int64)
        yield "pictures", _distinct(_scene_of(catalog, grid.rank[places], grid.t_s[places]))
    words = [w for w in re.findall(r"\w{3,}", text.lower()) if w not in _COMMON]
    for relation, time in TIMES.items():
        rows = _matching(catalog, relation, words)
        t_s = catalog.snapshot.relation(relation)[time].to_numpy()[rows]
        yield relation, _distinct(_scene_of(catalog, catalog.snapshot.ranks(relation)[rows], t_s))


def _matching(catalog: Catalog, relation: str, words: Sequence[str]) -> NDArray[np.int64]:
    """Rows with the most of the words' weight, best first; a rare word weighs more."""
    texts = catalog.snapshot.relation(relation)["text"]
    scores = np.zeros(len(texts))
    for word in words if len(texts) else ():
        stem = re.escape(re.sub(r"(ing|ed|es|s)$", "", word))
        has = pc.match_substring_regex(texts, rf"(?i)\b{stem}")
        there = pc.fill_null(has, False).to_numpy().astype(np.bool_)
        if there.any():
            scores[there] += np.log(1 + len(texts) / there.sum())
    rows = np.flatnonzero(scores > 0)
    return rows[np.argsort(-scores[rows], kind="stable")][: 10 * EACH]


def _scene_of(
    catalog: Catalog, rank: NDArray[np.int64], t_s: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The scene row that each moment lies in, -1 for none."""
    starts = catalog.scenes["start_s"].to_numpy()
    ranks = catalog.snapshot.ranks("scenes")
    if not len(ranks):
        return np.full(len(rank), -1, np.int64)
    place = ranks * (1 << 40) + np.rint(starts * 1000).astype(np.int64)
    at = (
        np.searchsorted(place, rank * (1 << 40) + np.rint(t_s * 1000).astype(np.int64), "right") - 1
    )
    return np.where((at >= 0) & (ranks[np.maximum(at, 0)] == rank), at, -1)


def _distinct(scenes: Iterable[int]) -> list[int]:
    return list(dict.fromkeys(int(s) for s in scenes if s >= 0))
