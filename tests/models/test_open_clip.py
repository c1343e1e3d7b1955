"""The `open_clip:` adapter with a tiny random CLIP, and one that has learned colours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reeldb.models.open_clip.embedder import OpenClip
from reeldb.models.registry import load
from reeldb.schema.errors import ModelError
from reeldb.schema.models import wanted_size
from tests.models import tiny_clip

torch = pytest.importorskip("torch")
open_clip = pytest.importorskip("open_clip")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_clip.clip(tmp_path_factory.mktemp("clip") / "tiny")


def embedder(folder: Path, **settings: Any) -> OpenClip:
    model = load(f"open_clip:{folder}", "embedder", {"batch_size": 4, **settings})
    assert isinstance(model, OpenClip)
    return model


def pictures(count: int, width: int = 64, height: int = 36) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, 255, (height, width, 3), dtype=np.uint8) for _ in range(count)]


def its_own(folder: Path, images: list[np.ndarray]) -> np.ndarray:
    """What open_clip's documented pipeline gives."""
    from PIL import Image

    model, _, prepare = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    with torch.inference_mode():
        pixels = torch.stack([prepare(Image.fromarray(i)) for i in images])
        found: np.ndarray = model.eval().encode_image(pixels, normalize=True).numpy()
    return found


@pytest.mark.parametrize("mode", ["shortest", "squash", "longest"])
def test_pictures_are_embedded_as_by_open_clip_itself(tmp_path: Path, mode: str) -> None:
    folder = tiny_clip.clip(tmp_path / "c", resize_mode=mode, interpolation="bilinear")
    images = [*pictures(3), *pictures(2, 36, 64)]
    found = embedder(folder).embed_images(images)
    np.testing.assert_allclose(found, its_own(folder, images), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("mode", ["shortest", "squash", "longest"])
def test_a_picture_of_the_wanted_size_is_not_resized_again(tmp_path: Path, mode: str) -> None:
    model = embedder(tiny_clip.clip(tmp_path / "c", resize_mode=mode))
    width, height = wanted_size(model, 640, 360)
    assert (width, height) == {"shortest": (56, 32), "squash": (32, 32), "longest": (32, 18)}[mode]
    from PIL import Image

    image = Image.fromarray(pictures(1, width, height)[0])
    pixels = model.network.prepare(image).numpy()
    mean, std = (np.array(model.network.preprocess[k])[:, None, None] for k in ("mean", "std"))
    shown = np.rint((pixels * std + mean) * 255)
    source = np.asarray(image).transpose(2, 0, 1)
    if mode == "shortest":
        source = source[:, :, 12:44]
    if mode == "longest":
        shown = shown[:, 7:25]
    np.testing.assert_array_equal(shown, source)


def test_a_batch_equals_one_by_one(folder: Path) -> None:
    model, images, texts = embedder(folder), pictures(7), ["a", "a red car", "b " * 40, ""]
    one_by_one = np.concatenate([model.embed_images([i]) for i in images])
    np.testing.assert_allclose(model.embed_images(images), one_by_one, atol=1e-5)
    one_by_one = np.concatenate([model.embed_texts([t]) for t in texts])
    np.testing.assert_allclose(model.embed_texts(texts), one_by_one, atol=1e-5)
    assert model.embed_images([]).shape == model.embed_texts([]).shape == (0, model.dim)


def test_texts_are_embedded_as_by_open_clip_itself(folder: Path) -> None:
    texts = ["a red car", "two dogs on a beach"]
    model, _, _ = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    tokens = open_clip.get_tokenizer(f"local-dir:{folder}")(texts)
    with torch.inference_mode():
        wanted = model.eval().encode_text(tokens, normalize=True).numpy()
    np.testing.assert_allclose(embedder(folder).embed_texts(texts), wanted, atol=1e-5)


def test_a_text_longer_than_the_context_is_read_in_pieces_and_told(folder: Path) -> None:
    model = embedder(folder)
    assert model.pieces("a red car") == 1
    long = "the quick brown fox jumps over the lazy dog " * 3
    assert model.pieces(long) >= 2
    assert "more than 16 tokens is read in pieces" in model.cannot
    end = "the quick brown fox jumps over a purple elephant that sings loudly in the evening"
    other = end.replace("evening", "castle")
    cosine = model.embed_texts([end]) @ model.embed_texts([other]).T
    assert cosine[0, 0] < 0.9999  # what stands behind the context counts
    assert np.linalg.norm(model.embed_texts([long])[0]) == pytest.approx(1, abs=1e-6)


def test_memory_that_runs_out_halves_the_batch_and_loses_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, images = embedder(folder, batch_size=8), pictures(8)
    wanted = model.embed_images(images)
    encode, sizes = model.network.model.encode_image, []

    def tight(pixels: Any, **more: Any) -> Any:
        sizes.append(len(pixels))
        if len(pixels) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return encode(pixels, **more)

    monkeypatch.setattr(model.network.model, "encode_image", tight)
    np.testing.assert_allclose(model.embed_images(images), wanted, atol=1e-5)
    assert sizes == [8, 4, 2, 2, 2, 2]


def test_half_numbers_move_vectors_by_less_than_a_thousandth(folder: Path) -> None:
    images = pictures(4)
    exact = embedder(folder).embed_images(images)
    half = embedder(folder, dtype="bfloat16").embed_images(images)
    assert half.dtype == np.float32
    assert np.sum(exact * half, axis=1).min() > 0.999


def test_dim_and_size_are_known_before_any_weight_is_read(tmp_path: Path) -> None:
    folder = tiny_clip.clip(tmp_path / "c")
    (folder / "open_clip_model.safetensors").write_bytes(b"no weights at all")
    model = embedder(folder)
    assert (model.dim, model.image_size) == (32, (32, 32))
    with pytest.raises(ModelError, match="cannot be loaded"):
        model.embed_texts(["a"])


def test_an_architecture_and_a_file_of_weights(tmp_path: Path) -> None:
    arch = "tiny-reel-test"
    config = tmp_path / "configs" / f"{arch}.json"
    config.parent.mkdir()
    config.write_text(json.dumps(tiny_clip.CONFIG))
    from reeldb.models.open_clip import place

    open_clip.add_model_config(config)
    weights = tiny_clip.clip(tmp_path / "c") / "open_clip_model.safetensors"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, "_architectures", lambda: {arch: config})
        model = load(f"open_clip:{arch}/{weights}", "embedder", {"batch_size": 2})
    assert isinstance(model, OpenClip)
    assert model.identity.startswith(f"open_clip:{arch}@") and str(tmp_path) not in model.identity
    wanted = embedder(tmp_path / "c").embed_images(pictures(2))
    np.testing.assert_allclose(model.embed_images(pictures(2)), wanted, atol=1e-6)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("open_clip:ViT-B-23/openai", "did you mean ViT-B-32"),
        ("open_clip:ViT-B-32", "names no weights: write open_clip:ViT-B-32/TAG"),
        ("open_clip:ViT-B-32//no/such.safetensors", "there is no file"),
        ("open_clip:", "write open_clip:ARCH/PRETRAINED"),
    ],
)
def test_a_model_that_is_not_there_is_named_with_the_possible(address: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load(address, "embedder", {"batch_size": 2})


def test_a_siglip_embeds_as_by_open_clip_itself(tmp_path: Path) -> None:
    folder = tiny_clip.siglip(tmp_path / "siglip")
    model, images = embedder(folder), [*pictures(3), *pictures(2, 36, 64)]
    np.testing.assert_allclose(model.embed_images(images), its_own(folder, images), atol=1e-5)
    texts = ["a", "a red car", "two people in front of a house"]
    theirs = open_clip.create_model(f"local-dir:{folder}").eval()
    with torch.inference_mode():
        tokens = open_clip.get_tokenizer(f"local-dir:{folder}")(texts)
        wanted = theirs.encode_text(tokens, normalize=True).numpy()
    np.testing.assert_allclose(model.embed_texts(texts), wanted, atol=1e-5)
    assert (model.dim, wanted_size(model, 640, 360)) == (192, (224, 224))


def test_siglip_is_known_with_its_size() -> None:
    model = load("open_clip:ViT-B-16-SigLIP-384/webli", "embedder", {"batch_size": 2})
    assert isinstance(model, OpenClip)
    assert (model.dim, model.image_size) == (768, (384, 384))
    assert model.identity == "open_clip:ViT-B-16-SigLIP-384/webli"


def test_a_folder_without_a_config_or_weights_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no open_clip_config\.json"):
        load(f"open_clip:{tmp_path}", "embedder", {"batch_size": 2})
    (tmp_path / "open_clip_config.json").write_text('{"model_cfg": {}}')
    with pytest.raises(ModelError, match="is no config of open_clip"):
        load(f"open_clip:{tmp_path}", "embedder", {"batch_size": 2})


def test_a_picture_that_is_none_is_refused(folder: Path) -> None:
    with pytest.raises(ModelError, match="takes RGB pictures"):
        embedder(folder).embed_images([np.zeros((4, 4), np.uint8)])


def test_a_clip_that_knows_colours_finds_the_scenes(tmp_path: Path) -> None:
    import reeldb
    from tests.clips import make_clip

    folder = tiny_clip.clip(tmp_path / "colours", tiny_clip.taught())
    db = reeldb.open(tmp_path / "archive")
    scenes = [("red", 2), ("blue", 2), ("yellow", 2), ("black", 2)]
    clip = make_clip(tmp_path / "a.mp4", scenes)
    db.add(clip, embedder="fake:embedder")
    db.reindex(f"open_clip:{folder}")
    for number, (colour, _) in enumerate(scenes):
        best = f"SELECT scene_no FROM scenes ORDER BY similarity(image, 'a {colour} picture') DESC"
        assert db.sql(f"{best} LIMIT 1").fetchall() == [(number,)], colour
    vectors = db.snapshot().archive.store.schema(
        next(t for t in db.archive.store.tables() if "open_clip" in t)
    )
    assert str(vectors.field("vector").type.value_type) == "halffloat"
