from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from reeldb.models.builtin import labels
from reeldb.models.builtin.labels import Labels
from reeldb.schema.errors import ModelError
from tests.models.drawings import clock, crossword, plain, traffic_light

if TYPE_CHECKING:
    from numpy.typing import NDArray


@pytest.fixture(scope="module")
def model() -> Labels:
    return Labels()


def test_drawn_things_have_their_names(model: Labels) -> None:
    found = model.labels([clock(), crossword(), traffic_light()])
    assert [f[0][0] for f in found] == ["analog clock", "crossword", "traffic light"]


def test_the_channels_are_red_green_blue(model: Labels) -> None:
    right, wrong = model.labels([traffic_light(), traffic_light()[:, :, ::-1]])
    assert right[0][1] > 2 * dict(wrong).get("traffic light", 0.0)


def test_texts_find_their_pictures(model: Labels) -> None:
    images = model.embed_images([clock(), crossword(), traffic_light()])
    texts = model.embed_texts(["what time is it on the clock", "a word puzzle", "a street signal"])
    assert list((texts @ images.T).argmax(axis=1)) == [0, 1, 2]


def test_vectors_are_unit_rows_of_the_stated_width(model: Labels) -> None:
    vectors = model.embed_images([clock(), crossword()])
    assert vectors.shape == (2, model.dim)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_picture_has_one_vector_whatever_its_batch(model: Labels) -> None:
    batch = model.embed_images([clock(), crossword(), clock()])
    np.testing.assert_array_equal(batch[0], model.embed_images([clock()])[0])
    np.testing.assert_array_equal(batch[0], batch[2])


def test_pictures_of_any_size_are_taken(model: Labels) -> None:
    odd = [plain((9, 9, 9), 1, 1), plain((9, 9, 9), 2000, 3), plain((9, 9, 9), 224, 224)]
    assert np.isfinite(model.embed_images(odd)).all()


def test_a_picture_that_is_not_rgb_is_refused(model: Labels) -> None:
    with pytest.raises(ModelError, match=r"not float64 of shape \(4, 4, 3\)"):
        model.embed_images([np.zeros((4, 4, 3))])  # type: ignore[list-item]


def test_a_picture_that_failed_is_a_row_of_nan(
    model: Labels, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str, pictures: NDArray[np.uint8]) -> list[NDArray[np.float32]]:
        logits = np.zeros((1, 1000), np.float32)
        logits[0, 7] = np.nan if pictures.max() == 0 else 9
        return [logits, logits]

    monkeypatch.setattr(labels, "outputs", broken)
    rows = model.embed_images([plain((0, 0, 0)), plain((255, 255, 255))])
    assert np.isnan(rows[0]).all()
    assert np.isfinite(rows[1]).all()
    assert [len(found) for found in model.labels([plain((0, 0, 0)), clock()])] == [0, 10]


def test_no_pictures_give_no_rows(model: Labels) -> None:
    assert model.embed_images([]).shape == (0, model.dim)
    assert model.labels([]) == []


def test_a_query_text_waits_for_no_picture_library() -> None:
    code = (
        "import sys; from reeldb.models.registry import Models\n"
        "Models().embedder().embed_texts(['a clock'])\n"
        "print([m for m in ('av', 'cv2', 'scenedetect', 'torch') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"


def test_the_space_names_the_weights(model: Labels) -> None:
    name, _, version = model.space.partition("@")
    assert name == "builtin:labels"
    assert len(version) == 8
