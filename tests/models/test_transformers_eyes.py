"""Objects and actions by models of this machine, through the addresses that users type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reeldb.models.registry import Models, load
from reeldb.models.transformers.actions import TransformersActions
from reeldb.models.transformers.objects import TransformersObjects
from reeldb.schema.errors import ModelError
from tests.clips import solid
from tests.models.tiny_eyes import DEEDS, THINGS, detr, videomae

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

COLOURS = ("red", "blue", "green", "white", "magenta")
PICTURES = [solid(c, (120, 90), "AB") for c in COLOURS] + [solid("cyan", (64, 100))]


@pytest.fixture(scope="module")
def detector_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return detr(tmp_path_factory.mktemp("eyes") / "detr")


@pytest.fixture(scope="module")
def actions_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return videomae(tmp_path_factory.mktemp("eyes") / "videomae")


@pytest.fixture
def objects(detector_folder: Path, monkeypatch: pytest.MonkeyPatch) -> TransformersObjects:
    made = load(f"transformers:{detector_folder}", "objects", {"batch_size": 4})
    assert isinstance(made, TransformersObjects)
    monkeypatch.setattr(made, "threshold", 0.0)  # random weights are sure of nothing
    return made


def stretch(first: int) -> list[Any]:
    return [solid(COLOURS[(first + i) % 5], (80, 60)) for i in range(16)]


def test_boxes_lie_in_the_picture_and_labels_are_the_models(objects: TransformersObjects) -> None:
    looks = objects.look(PICTURES)
    assert len(looks) == len(PICTURES)
    found = [f for look in looks for f in look.found]
    assert found and {f.text for f in found} <= set(THINGS.values())
    assert all(0 <= x <= 1 for f in found for x in f.box)
    assert all(f.box[0] <= f.box[2] and f.box[1] <= f.box[3] for f in found)
    for look in looks:
        sure = [f.confidence for f in look.found]
        assert sure == sorted(sure, reverse=True)


def test_a_batch_finds_what_single_pictures_hold(objects: TransformersObjects) -> None:
    together = objects.look(PICTURES)
    alone = [objects.look([p])[0] for p in PICTURES]
    for a, b in zip(together, alone, strict=True):
        assert [f.text for f in a.found] == [f.text for f in b.found]
        for x, y in zip(a.found, b.found, strict=True):
            assert np.allclose([x.confidence, *x.box], [y.confidence, *y.box], atol=2e-3)


def test_what_is_below_the_threshold_is_not_found(
    objects: TransformersObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "threshold", 1.0)
    assert [(k.status, k.found) for k in objects.look(PICTURES[:2])] == [("empty", ())] * 2


def test_memory_that_runs_out_halves_the_batch_and_loses_nothing(
    objects: TransformersObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = objects.look(PICTURES)
    real, sizes = objects._batch, []

    def tight(images: Any) -> Any:
        sizes.append(len(images))
        if len(images) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(images)

    monkeypatch.setattr(objects, "_batch", tight)
    halved = objects.look(PICTURES)
    assert sizes[:2] == [4, 2] and len(halved) == len(whole)
    assert [[f.text for f in k.found] for k in halved] == [[f.text for f in k.found] for k in whole]


def test_actions_are_named_above_the_threshold_only(
    actions_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Models({"actions": f"transformers:{actions_folder}"}).actions()
    assert isinstance(made, TransformersActions) and made.threshold == 0.80
    sure = made.recognise([stretch(0), stretch(1)])
    assert all(a.confidence > 0.80 for r in sure for a in r.actions)
    monkeypatch.setattr(made, "threshold", 0.0)
    every = made.recognise([stretch(0), stretch(1), stretch(2)])
    for r in every:
        assert {a.label for a in r.actions} == set(DEEDS.values())
        assert sum(a.confidence for a in r.actions) == pytest.approx(1, abs=1e-3)
    alone = made.recognise([stretch(2)])[0]
    assert [a.label for a in alone.actions] == [a.label for a in every[2].actions]
    assert np.allclose(
        [a.confidence for a in alone.actions], [a.confidence for a in every[2].actions], atol=1e-3
    )


def test_fewer_pictures_than_the_model_takes_are_repeated(actions_folder: Path) -> None:
    made = Models({"actions": f"transformers:{actions_folder}"}).actions()
    assert made.recognise([stretch(0)[:3]])[0].status in ("ok", "empty")


def test_a_model_of_another_kind_is_refused(detector_folder: Path) -> None:
    made = Models({"actions": f"transformers:{detector_folder}"}).actions()
    with pytest.raises(ModelError, match="is a detr, not an action recogniser"):
        made.recognise([stretch(0)])


def test_the_identity_names_the_weights_and_the_threshold(detector_folder: Path) -> None:
    first = load(f"transformers:{detector_folder}", "objects")
    assert "confidence from 0.5" in first.identity
    assert first.identity.startswith("transformers:detr@")
