"""Action recognition by VideoMAE-like models: VideoMAE, TimeSformer, ViViT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reeldb.models.torch.settings import Settings
from reeldb.models.torch.weights import Source
from reeldb.models.transformers.seer import Seer
from reeldb.schema.models import Action, Recognition

if TYPE_CHECKING:
    from reeldb.schema.models import Image

THRESHOLD = 0.80  # RVLSM: actions are kept above it
PICTURES = 16  # of VideoMAE's Kinetics-400 models (Tong et al. 2022, section 4)


class TransformersActions(Seer):
    """What is done in a scene: `schema.models.ActionTool`."""

    can = "names actions of its model's list (Kinetics-400: 400 of them) in 16 pictures a scene"
    cannot = "tell when in a scene, or name what is not on its list"
    kind = "actions"
    threshold = THRESHOLD
    picture_count = PICTURES

    def __init__(self, source: Source, settings: Settings) -> None:
        super().__init__(source, settings)
        self.image_size = min(settings.image_size, 320)  # models take 224: no need to decode more

    def recognise(self, stretches: Sequence[Sequence[Image]]) -> list[Recognition]:
        """One look a stretch. Raises ModelError where the model cannot be loaded."""
        with self.network.lock:
            return self.network.batches.run(stretches, self._batch, self._lost)

    def _lost(self, stretch: Sequence[Image]) -> Recognition:
        return Recognition("failed", note=self.out_of_memory("scene"))

    def _batch(self, stretches: Sequence[Sequence[Image]]) -> list[Recognition]:
        import torch

        network, labels = self.network, self.labels()
        wanted = int(getattr(network.model.config, "num_frames", PICTURES))
        clips = [_resampled(stretch, wanted) for stretch in stretches]
        inputs = network.moved(network.processor(clips, return_tensors="pt"))
        with torch.inference_mode():
            chances = network.model(**inputs).logits.float().softmax(-1)
        return [self._sure(row, labels) for row in chances.tolist()]

    def _sure(self, chances: Sequence[float], labels: dict[int, str]) -> Recognition:
        """Classes exclude one another, so above one half there is one at most."""
        actions = tuple(
            Action(labels.get(i, str(i)), round(p, 4))
            for i, p in sorted(enumerate(chances), key=lambda r: -r[1])
            if p > self.threshold
        )
        return Recognition("ok" if actions else "empty", actions)


def _resampled(stretch: Sequence[Image], wanted: int) -> list[Image]:
    """As many pictures as the model takes, evenly chosen or repeated."""
    return [stretch[(2 * i + 1) * len(stretch) // (2 * wanted)] for i in range(wanted)]
