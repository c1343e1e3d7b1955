"""Captions of five scenes of the demo clip by a model of yours: `try_captioner.py ADDRESS`.

Uses your own config (or --base-url). Prints captions, seconds, tokens and cost; keeps nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from typing import cast

import reeldb
from reeldb.media.demo import demo_clip
from reeldb.media.pictures import Pictures
from reeldb.models.config import settings_for
from reeldb.models.registry import load
from reeldb.query.prices import price_of
from reeldb.query.prompts import SCENE
from reeldb.schema.errors import ReelError
from reeldb.schema.models import Captioner, CaptionRequest
from reeldb.schema.spans import clock


def main(address: str, base_url: str | None, scenes: int) -> None:
    """Prints captions of the first scenes. Raises ModelError where the model does not work."""
    settings = settings_for(address) | ({"base_url": base_url} if base_url else {})
    model = cast(Captioner, load(address, "captioner", settings))
    with tempfile.TemporaryDirectory() as place, reeldb.open(place) as db:
        db.add(demo_clip(), embedder="none")
        rows = list(db.sql("SELECT start_s, end_s, key_s FROM scenes ORDER BY 1 LIMIT ?", [scenes]))
    print(f"{model.address} ({model.identity}): {model.can}")
    tokens = 0
    with Pictures(demo_clip()) as pictures:
        for start_s, end_s, key_s in rows:
            image = pictures.at([key_s], max_side=model.image_size)
            began = time.perf_counter()
            [reply] = model.caption([CaptionRequest(image, [key_s], SCENE.text)])
            seconds = time.perf_counter() - began
            tokens += reply.tokens
            print(f"\n{clock(start_s)}-{clock(end_s)}  {reply.status}, {seconds:.1f} s, "
                  f"{reply.tokens} tokens")  # fmt: skip
            print("\n".join(filter(None, [reply.text, reply.note and f"({reply.note})"])))
    price = price_of(address)
    cost = "price not known" if price is None else f"{tokens * price / 1e6:.6f} USD"
    print(f"\n{tokens} tokens in all: {cost}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", help="openai:MODEL or transformers:FOLDER")
    parser.add_argument("--base-url")
    parser.add_argument("--scenes", type=int, default=5)
    args = parser.parse_args()
    try:
        main(args.address, args.base_url, args.scenes)
    except ReelError as error:
        sys.exit(f"try_captioner: {error}")
