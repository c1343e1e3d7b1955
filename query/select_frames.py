"""`select_frames('question', k => 32, method => 'dpp', video => '...')` in FROM.

The choice is made once a statement, before anything else is asked; it reads vectors and makes
no call but for the question's own vector. Leaves: rows (video, video_id, t_s, scene_no,
relevance, choice_no) in key order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from reeldb.query.catalog import Catalog
from reeldb.query.frame_choice import (
    DEFAULT_K,
    DEFAULT_METHOD,
    METHODS,
    MOST_K,
    FrameChoice,
    chosen,
)
from reeldb.query.similar import Similarity
from reeldb.schema.errors import BindError, near

USAGE = f"select_frames('question', k => {DEFAULT_K}, method => '{DEFAULT_METHOD}', video => '...')"
SCHEMA = pa.schema(
    [
        ("video", pa.string()),
        ("video_id", pa.string()),
        ("t_s", pa.float64()),
        ("scene_no", pa.int32()),
        ("relevance", pa.float64()),
        ("choice_no", pa.int32()),
    ]
)
OPTIONS = ("k", "method", "video")

MakeError = Callable[[exp.Expr, str], BindError]


def read_call(
    call: exp.Expr,
    values: Mapping[str, object],
    find_video: Callable[[str], str],
    error: MakeError,
) -> FrameChoice:
    """The choice that a call asks for; raises what `error` makes where it is not written so."""
    arguments: Sequence[exp.Expr] = call.expressions
    if not arguments or isinstance(arguments[0], exp.Kwarg):
        raise error(call, f"select_frames() is written {USAGE}")
    question = _value(arguments[0], values, error)
    if not isinstance(question, str) or not question.strip():
        raise error(arguments[0], f"select_frames(): the question is a text: {USAGE}")
    given: dict[str, object] = {}
    for argument in arguments[1:]:
        if not isinstance(argument, (exp.Kwarg, exp.PropertyEQ)):
            raise error(argument, f"select_frames() takes one question: {USAGE}")
        name = argument.this.name.lower()
        if name not in OPTIONS or name in given:
            twice = "given twice" if name in given else near(name, OPTIONS)
            raise error(argument, f"select_frames(): option {name!r}: {twice}")
        given[name] = _value(argument.expression, values, error)
    k, method = given.get("k", DEFAULT_K), given.get("method", DEFAULT_METHOD)
    video = given.get("video")
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= MOST_K:
        raise error(call, f"select_frames(k => {k}): a whole number from 1 to {MOST_K:,}")
    if not isinstance(method, str) or method not in METHODS:
        raise error(call, f"select_frames(): no method {method!r}; {near(str(method), METHODS)}")
    if video is None:
        return FrameChoice(question, k, method)
    if not isinstance(video, str):
        raise error(call, "select_frames(video => ...) takes the name or id of a video")
    return FrameChoice(question, k, method, find_video(video), video)


def _value(node: exp.Expr, values: Mapping[str, object], error: MakeError) -> object:
    if isinstance(node, exp.Literal):
        text = str(node.this)
        return text if node.is_string else int(text) if text.isdigit() else float(text)
    if isinstance(node, exp.Placeholder):
        value = values.get(node.name)
        return value.item() if isinstance(value, np.generic) else value
    raise error(node, f"select_frames() takes literals and parameters: {USAGE}")


def frames_of(choice: FrameChoice, catalog: Catalog, similarity: Similarity) -> pa.Table:
    """The chosen grid pictures. Raises BindError where a method needs vectors and none are
    there."""
    snapshot = catalog.snapshot
    frames = snapshot.relation("frames")
    there = frames["on_grid"].to_numpy().astype(np.bool_)
    if choice.video_id is not None:
        ids = snapshot.videos["video_id"].to_pylist()
        there &= snapshot.ranks("frames") == ids.index(choice.video_id)
    rows = np.flatnonzero(there)
    relevance = np.full(len(rows), np.nan)
    if similarity.has_vectors():
        relevance = similarity.of_frames(choice.question)[rows].astype(np.float64)
    elif METHODS[choice.method].by_relevance:
        raise BindError(
            f"select_frames(method => '{choice.method}') chooses by vectors, and the archive has "
            "none of the embedder in use; method => 'uniform' needs none"
        )

    def vectors(numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        return similarity.vectors_of_frames(rows[numbers])

    picked = chosen(choice, relevance, vectors)
    order = np.argsort(picked, kind="stable")
    at = picked[order]
    columns = [frames[n].take(pa.array(rows[at])) for n in ("video", "video_id", "t_s", "scene_no")]
    scores = relevance[at]
    columns += [pa.array(scores, mask=np.isnan(scores)), pa.array(order.astype(np.int32))]
    table = pa.Table.from_arrays(columns, names=SCHEMA.names)
    return table.cast(SCHEMA)
