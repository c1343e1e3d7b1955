"""Object detection by DETR-like models: DETR, RT-DETR, YOLOS, Conditional DETR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reeldb.models.transformers.seer import Seer
from reeldb.schema.models import Found, Look

if TYPE_CHECKING:
    from reeldb.schema.models import Image

THRESHOLD = 0.5  # DETR's own evaluation shows boxes from 0.7, YOLOS' from 0.9; COCO counts all


class TransformersObjects(Seer):
    """Things with their boxes: `schema.models.PictureTool`."""

    can = "finds the kinds of things that its model was trained on, with boxes"
    cannot = "find other things, or tell one of a kind from another"
    kind = "detector"
    threshold = THRESHOLD

    def look(self, images: Sequence[Image]) -> list[Look]:
        """One look a picture, surest first. Raises ModelError where the model cannot be loaded.

        Pictures of one size go together: padding would change what is found in the smaller.
        """
        sizes: dict[tuple[int, ...], list[int]] = {}
        for i, image in enumerate(images):
            sizes.setdefault(image.shape, []).append(i)
        looks: dict[int, Look] = {}
        with self.network.lock:
            for group in sizes.values():
                alike = [images[i] for i in group]
                found = self.network.batches.run(alike, self._batch, self._lost)
                looks |= zip(group, found, strict=True)
        return [looks[i] for i in range(len(images))]

    def _lost(self, image: Image) -> Look:
        return Look("failed", note=self.out_of_memory("picture"))

    def _batch(self, images: Sequence[Image]) -> list[Look]:
        import torch

        network, labels = self.network, self.labels()
        inputs = network.moved(network.processor(images=list(images), return_tensors="pt"))
        with torch.inference_mode():
            out = network.model(**inputs)
        sizes = [image.shape[:2] for image in images]
        found = network.processor.post_process_object_detection(
            out, threshold=self.threshold, target_sizes=sizes
        )
        return [_look(f, s, labels) for f, s in zip(found, sizes, strict=True)]


def _look(found: Any, size: tuple[int, int], labels: dict[int, str]) -> Look:
    height, width = size
    rows = zip(
        found["scores"].tolist(), found["labels"].tolist(), found["boxes"].tolist(), strict=True
    )
    things = [
        Found(
            labels.get(label, str(label)),
            round(score, 4),
            (_part(x0, width), _part(y0, height), _part(x1, width), _part(y1, height)),
        )
        for score, label, (x0, y0, x1, y1) in sorted(rows, key=lambda r: -r[0])
    ]
    return Look("ok" if things else "empty", tuple(things))


def _part(pixels: float, of: int) -> float:
    """Where pixels lie in 0..1 of a side; boxes may reach over the edge."""
    return round(min(1.0, max(0.0, pixels / of)), 5)
