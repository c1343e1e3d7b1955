"""Pictures to sentences by models that read no prompt: BLIP, GIT, ViT-GPT2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reeldb.models.said import judged
from reeldb.models.torch.settings import Settings
from reeldb.models.transformers.network import Network
from reeldb.models.transformers.talker import clean, end_tokens, greedy
from reeldb.schema.models import CaptionRequest, Reply

if TYPE_CHECKING:
    from reeldb.schema.models import Image

NO_PROMPT = "the model reads no prompt: this is its own description of each picture"


@dataclass(frozen=True)
class Describer:
    """One sentence a picture; those of a request in time order, repeated ones once."""

    settings: Settings
    network: Network

    def caption(self, requests: Sequence[CaptionRequest]) -> list[Reply]:
        """One reply a request, in order; `empty` where it holds no picture."""
        pictures = [image for r in requests for image in r.images]
        with self.network.lock:
            said = iter(self.network.batches.run(pictures, self._batch, self._lost))
        return [_joined([next(said) for _ in r.images]) for r in requests]

    def _lost(self, image: Image) -> Reply:
        device = self.network.hardware.device
        return Reply("failed", note=f"out of memory on {device} with one picture alone")

    def _batch(self, images: Sequence[Image]) -> list[Reply]:
        import torch
        from PIL import Image as Pil

        network, most = self.network, self.settings.max_tokens
        pils = [Pil.fromarray(image) for image in images]
        inputs = network.moved(network.processor.images(pils, return_tensors="pt"))
        with torch.inference_mode():
            out = network.model.generate(
                pixel_values=inputs["pixel_values"], max_new_tokens=most, **greedy(network)
            )
        texts = network.tokenizer.batch_decode(out, skip_special_tokens=True)
        ends = end_tokens(network)
        replies = []
        for text, row in zip(texts, out.tolist(), strict=True):
            written = next((i for i, t in enumerate(row) if i and t in ends), len(row))
            status, kept, note = judged(clean(text), cut=written >= most)
            replies.append(Reply(status, kept, note, written, written))
        return replies


def _joined(parts: Sequence[Reply]) -> Reply:
    """The sentences of one request as one reply; what failed for a picture is told."""
    if not parts:
        return Reply("empty", note="no picture", calls=0)
    tokens = sum(p.tokens for p in parts)
    good = [p for p in parts if p.status == "ok"]
    notes = list(dict.fromkeys(p.note for p in parts if p.note))
    if not good:
        failed = next((p for p in parts if p.status == "failed"), parts[0])
        return Reply(failed.status, note="; ".join(notes), tokens=tokens, tokens_out=tokens)
    sentences = [_sentence(t) for t in dict.fromkeys(p.text for p in good)]
    return Reply("ok", " ".join(sentences), "; ".join([NO_PROMPT, *notes]), tokens, tokens)


def _sentence(text: str) -> str:
    """BLIP writes "a dog on a beach": a sentence with its end.

    >>> _sentence("a dog on a beach")
    'A dog on a beach.'
    """
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
