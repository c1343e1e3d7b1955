"""Captions of three scenes of the demo clip by a model of yours: `try_captioner.py ADDRESS`.

Uses your own config (or --base-url). Prints captions, seconds and tokens; keeps nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time

from reeldb.media.demo import demo_clip
from reeldb.models.config import settings_for
from reeldb.models.registry import load
from reeldb.query.prompts import SCENE
from reeldb.schema.errors import ReelError
from reeldb.schema.models import Captioner, CaptionRequest
from reeldb.schema.spans import clock


def main(address: str, base_url: str | None, scenes: int) -> None:
    """Prints captions of the first scenes. Raises ModelError where the model does not work."""
    import reeldb
    from reeldb.media.pictures import Pictures

    settings = settings_for(address) | ({"base_url": base_url} if base_url else {})
    model = load(address, "captioner", settings)
    assert isinstance(model, Captioner)
    with tempfile.TemporaryDirectory() as place, reeldb.open(place) as db:
        db.add(demo_clip(), embedder="none")
        rows = db.sql(
            "SELECT start_s, end_s, key_s FROM scenes ORDER BY start_s LIMIT ?", [scenes]
        ).fetchall()
    print(f"{model.address} ({model.identity}): {model.can}")
    with Pictures(demo_clip()) as pictures:
        for start_s, end_s, key_s in rows:
            image = pictures.at([key_s], max_side=model.image_size)
            began = time.perf_counter()
            [reply] = model.caption([CaptionRequest(image, [key_s], SCENE.text)])
            seconds = time.perf_counter() - began
            print(f"\n{clock(start_s)}-{clock(end_s)}  {reply.status}, {seconds:.1f} s, "
                  f"{reply.tokens} tokens\n{reply.text or reply.note}")  # fmt: skip
            if reply.text and reply.note:
                print(f"({reply.note})")
    print("\nmoney: see your provider's price for these tokens")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", help="openai:MODEL or transformers:NAME_OR_FOLDER")
    parser.add_argument("--base-url")
    parser.add_argument("--scenes", type=int, default=3)
    args = parser.parse_args()
    try:
        main(args.address, args.base_url, args.scenes)
    except ReelError as error:
        sys.exit(f"try_captioner: {error}")
