"""What the adapters of models that write text have in common."""

from __future__ import annotations

from reeldb.models.torch.settings import Settings
from reeldb.models.torch.weights import Source
from reeldb.models.transformers.network import Network, network


class Local:
    """A model on this machine whose weights are loaded at the first call, and kept."""

    def __init__(self, source: Source, settings: Settings) -> None:
        self.address = source.address
        self.identity = source.identity
        self.source, self.settings = source, settings
        self.batch_size = settings.batch_size
        self.image_size = settings.image_size
        self.max_images = settings.max_images
        self._network: Network | None = None

    @property
    def network(self) -> Network:
        """The loaded model. Raises ModelError, with the cure, where it cannot be loaded."""
        if self._network is None:
            self._network = network(self.source, self.settings)
        return self._network
