"""Pictures and texts to unit vectors of one space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reeldb.models.open_clip.network import Network, network
from reeldb.models.open_clip.place import Place
from reeldb.models.torch.settings import Settings
from reeldb.schema.errors import ModelError

if TYPE_CHECKING:
    from reeldb.schema.models import Image, Vectors

PIECES = 32  # pieces of one text that are read at most


class OpenClip:
    """`schema.models.Embedder`. A text of more tokens than the model's context is read in
    pieces, and its vector is their mean, weighted by length; `pieces` tells."""

    can = "finds what CLIP was trained to: people, things, places, colours, actions, styles"

    def __init__(self, place: Place, settings: Settings) -> None:
        self.address = place.address
        self.identity = self.space = place.identity
        self.place, self.settings = place, settings
        self.dim, self.image_size = place.dim, place.image_size
        self.batch_size = settings.batch_size
        context = place.config["text_cfg"].get("context_length", 77)
        self.cannot = (
            "count, tell left from right, or read more than a few words; a text of more than "
            f"{context} tokens is read in pieces and averaged"
        )
        self._network: Network | None = None

    @property
    def network(self) -> Network:
        """The weights, loaded at the first call and kept. Raises ModelError."""
        if self._network is None:
            self._network = network(self.place, self.settings)
        return self._network

    def frame_size(self, width: int, height: int) -> tuple[int, int]:
        """The size it wants a picture of that size in, before it cuts out or fills up what it
        looks at (see `schema.models.Framing`)."""
        wide, high = self.image_size
        mode = self.network.preprocess.get("resize_mode", "shortest")
        if mode == "squash":
            return wide, high
        scales = wide / width, high / height
        scale = max(scales) if mode == "shortest" else min(scales)
        sides = int(width * scale + 1e-6), int(height * scale + 1e-6)
        most = 8 * max(wide, high)  # a strip of a picture is cut off, not blown up
        return min(max(1, sides[0]), most), min(max(1, sides[1]), most)

    def embed_images(self, images: Sequence[Image]) -> Vectors:
        """One row a picture, shape (n, dim); NaN where it does not fit the device's memory."""
        for image in images:
            check_picture(image, self.address)
        with self.network.lock:
            rows = self.network.images.run(images, self._images, self._none)
        return unit(self._stacked(rows))

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """One row a text, shape (n, dim)."""
        pieces = [(i, p, n) for i, text in enumerate(texts) for p, n in self._pieces(text)]
        with self.network.lock:
            rows = self.network.texts.run([p for _, p, _ in pieces], self._texts, self._none)
        total = np.zeros((len(texts), self.dim), np.float32)
        for (i, _, n), row in zip(pieces, unit(self._stacked(rows)), strict=True):
            total[i] += n * row
        return unit(total)

    def pieces(self, text: str) -> int:
        """How many pieces the text is read in: above 1, its vector is an average."""
        return len(self._pieces(text))

    def _pieces(self, text: str) -> list[tuple[str, int]]:
        """The pieces and how many tokens each has, at most PIECES."""
        text = text.encode("utf-8", "replace").decode()
        done: list[tuple[str, int]] = []
        waiting = [text]
        while waiting and len(done) < PIECES:
            piece = waiting.pop(0)
            tokens = self.network.tokens(piece)
            if tokens <= self.network.context or len(piece) < 2:
                done.append((piece, tokens))
            else:
                waiting = [*_halves(piece), *waiting]
        return done

    def _images(self, images: Sequence[Image]) -> list[Vectors]:
        import torch
        from PIL import Image as Pil

        net = self.network
        pixels = torch.stack([net.prepare(Pil.fromarray(image)) for image in images])
        dtype = net.hardware.torch_dtype()
        with torch.inference_mode():
            found = net.model.encode_image(pixels.to(net.hardware.device, dtype), normalize=True)
        return _rows(found)

    def _texts(self, texts: Sequence[str]) -> list[Vectors]:
        import torch

        net = self.network
        tokens = net.tokenizer(list(texts)).to(net.hardware.device)
        with torch.inference_mode():
            return _rows(net.model.encode_text(tokens, normalize=True))

    def _none(self, _: object) -> Vectors:
        return np.full(self.dim, np.nan, np.float32)

    def _stacked(self, rows: Sequence[Vectors]) -> Vectors:
        return np.stack(rows) if rows else np.empty((0, self.dim), np.float32)


def check_picture(image: Image, address: str) -> None:
    """Raises ModelError where it is no RGB picture."""
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or not image.size:
        raise ModelError(
            f"{address!r} takes RGB pictures, uint8 of shape (height, width, 3), "
            f"not {image.dtype} of shape {image.shape}"
        )


def unit(rows: Vectors) -> Vectors:
    """The rows at length 1; a row that cannot be, is all NaN."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    good = np.isfinite(length) & (length > 0)
    return np.where(good, rows / np.where(good, length, 1.0), np.nan).astype(np.float32)


def _halves(text: str) -> tuple[str, str]:
    """The text cut in the middle, between words where it has some.

    >>> _halves("a red car drives by"), _halves("abcd")
    (('a red car', 'drives by'), ('ab', 'cd'))
    """
    middle = len(text) // 2
    before, after = text.rfind(" ", 1, middle + 1), text.find(" ", middle)
    cuts = [c for c in (before, after) if 0 < c < len(text) - 1]
    if not cuts:
        return text[:middle], text[middle:]
    cut = min(cuts, key=lambda c: abs(c - middle))
    return text[:cut], text[cut + 1 :]


def _rows(found: Any) -> list[Vectors]:
    return list(found.float().cpu().numpy())
