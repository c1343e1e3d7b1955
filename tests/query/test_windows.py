"""Windows of sound: cores tile it, and what is heard twice counts once."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reeldb.query.windows import STEP_MS, WINDOW_MS, clipped, core_ms, windows_of
from reeldb.schema.models import Heard, Word

seconds = st.floats(0, 500, allow_nan=False)


def heard(start_s: float, text: str, words: bool = True, step_s: float = 0.5) -> Heard:
    texts = text.split()
    each = tuple(
        Word(start_s + i * step_s, start_s + (i + 1) * step_s, t) for i, t in enumerate(texts)
    )
    end_s = start_s + len(texts) * step_s
    return Heard(start_s, end_s, text, 0.9, "en", each if words else ())


def test_cores_tile_the_sound_and_lie_in_their_windows() -> None:
    ends = [core_ms(n) for n in range(50)]
    assert ends[0][0] == 0
    assert all(a[1] == b[0] for a, b in pairwise(ends))
    assert all(n * STEP_MS <= a < b <= n * STEP_MS + WINDOW_MS for n, (a, b) in enumerate(ends))


@given(start_s=seconds, length_s=st.floats(0.01, 100))
def test_the_windows_of_a_span_are_those_whose_cores_meet_it(
    start_s: float, length_s: float
) -> None:
    end_s = start_s + length_s
    meet = [n for n in range(40) if core_ms(n)[0] < end_s * 1000 and start_s * 1000 < core_ms(n)[1]]
    assert list(windows_of(start_s, end_s)) == meet


def test_a_span_before_the_sound_has_no_window() -> None:
    assert list(windows_of(-20, -3)) == list(windows_of(5, 5)) == []
    assert list(windows_of(-20, 1)) == [0]


@given(st.integers(0, 200), st.integers(1, 30), st.booleans())
def test_every_word_counts_in_one_window_only(at: int, count: int, told: bool) -> None:
    start_s = at / 2
    said = [(start_s + i / 2, f"w{i}") for i in range(count)]
    kept: list[str] = []
    for n in range(6):
        first_s, last_s = n * STEP_MS / 1000, (n * STEP_MS + WINDOW_MS) / 1000
        inside = [(t, w) for t, w in said if first_s <= t and t + 0.5 <= last_s]
        if not inside:
            continue
        stretch = heard(inside[0][0] - first_s, " ".join(w for _, w in inside), told)
        cut = clipped(n, stretch)
        if cut is not None:
            kept += cut.text.split()
            assert core_ms(n)[0] / 1000 <= cut.start_s <= cut.end_s <= core_ms(n)[1] / 1000
    if told:
        assert kept == [w for _, w in said]
    else:  # times are guessed: a word at a border may go either way
        assert len({w for _, w in said} - set(kept)) <= 1


def test_a_stretch_inside_its_core_stays_as_the_model_gave_it() -> None:
    given_ = Heard(3.1, 4.9, "to the moon", 0.8, "en")
    cut = clipped(1, given_)
    assert cut == Heard(28.1, 29.9, "to the moon", 0.8, "en")


@pytest.mark.parametrize("words", [True, False])
def test_a_stretch_over_the_border_is_cut_between_words(words: bool) -> None:
    before = clipped(0, heard(26.5, "aa bb cc dd", words))
    after = clipped(1, heard(1.5, "aa bb cc dd", words))
    assert before is not None and after is not None
    assert (before.text, after.text) == ("aa bb", "cc dd")
    assert before.end_s == after.start_s == 27.5
