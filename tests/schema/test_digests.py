from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reeldb.schema.digests import caption_key, digest, look_key

parts = st.lists(st.one_of(st.text(), st.binary()), max_size=4)


def as_bytes(part: str | bytes) -> bytes:
    return part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part


@given(parts, parts)
def test_different_parts_have_different_digests(a: list[str | bytes], b: list[str | bytes]) -> None:
    as_bytes = [
        [p.encode("utf-8", "surrogatepass") if isinstance(p, str) else p for p in x] for x in (a, b)
    ]
    assert (digest(*a) == digest(*b)) == (as_bytes[0] == as_bytes[1])


def test_the_address_of_a_caption_never_changes() -> None:
    key = caption_key("content", [0, 1000], "Describe.", "fake:captioner", size=768)
    assert key == "ee1dfd4b5ae2ed9a07be889952d73722"


def test_every_part_of_a_request_is_in_its_address() -> None:
    base = caption_key("c", [0], "p", "m", size=1)
    others = [
        caption_key("d", [0], "p", "m", size=1),
        caption_key("c", [1], "p", "m", size=1),
        caption_key("c", [0, 0], "p", "m", size=1),
        caption_key("c", [0], "q", "m", size=1),
        caption_key("c", [0], "p", "n", size=1),
        caption_key("c", [0], "p", "m", size=2),
        caption_key("c", [0], "p", "m", size=1, schema="{}"),
        caption_key("c", [0], "p", "m", size=1, temperature_milli=800),
        caption_key("c", [0], "p", "m", size=1, seed=1),
    ]
    assert len({base, *others}) == 10


def test_a_look_at_another_moment_or_by_another_model_is_another_look() -> None:
    keys = {
        look_key("c", "ocr", "m", 0, 0),
        look_key("c", "ocr", "m", 1000, 1000),
        look_key("c", "ocr", "m", 0, 1000),
        look_key("c", "ocr", "n", 0, 0),
        look_key("c", "objects", "m", 0, 0),
    }
    assert len(keys) == 5
