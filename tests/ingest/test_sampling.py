from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from reeldb.ingest.sampling import Recent, Sampler, Take
from reeldb.schema.spans import Span


def picture(index: int, t_s: float) -> Any:
    return SimpleNamespace(index=index, t_s=t_s)


class Taker:
    def __init__(self) -> None:
        self.taken: list[int] = []

    def __call__(self, shown: Any) -> Take:
        self.taken.append(shown.index)
        return Take(str(shown.index).encode())


def sampler(times: list[float], fps: float = 1, limit: int = 1000) -> tuple[Sampler, Taker]:
    taker = Taker()
    made = Sampler(fps, Recent(lambda _: 1, limit), taker)
    for index, t_s in enumerate(times):
        made.show(picture(index, t_s))
    return made, taker


def rows(made: Sampler) -> list[tuple[float, int | None, int]]:
    return [(s.t_s, s.frame_no, int(s.take.thumbnail)) for s in made.samples]


def test_a_grid_time_shows_the_last_picture_at_or_before_it() -> None:
    made, _ = sampler([0, 0.6, 1.0, 1.7, 2.5])
    made.end(3.2)
    assert rows(made) == [(0, 0, 0), (1, 1, 2), (2, 2, 3), (3, 3, 4)]


def test_no_row_lies_at_or_after_the_end_and_one_is_always_there() -> None:
    made, _ = sampler([0, 0.5, 1.0, 1.5])
    made.end(2.0)
    assert [s.t_s for s in made.samples] == [0, 1]
    made, _ = sampler([0.0])
    made.end(0.04)
    assert [s.t_s for s in made.samples] == [0]


def test_a_picture_that_stays_is_taken_once() -> None:
    made, taker = sampler([0, 1.5, 9.5])
    made.end(12)
    assert [r[2] for r in rows(made)] == [0, 0, *[1] * 8, *[2] * 2]
    assert taker.taken == [0, 1, 2]


def test_times_are_whole_milliseconds_at_any_rate() -> None:
    made, _ = sampler([i / 50 for i in range(60)], fps=3)
    made.end(1.2)
    assert [s.t_s for s in made.samples] == [0, 0.333, 0.667, 1.0]


def test_a_key_on_the_grid_needs_no_row_of_its_own() -> None:
    made, _ = sampler([0, 1, 2, 3, 4])
    assert made.key_s(Span(0, 4)) == 2
    assert [s.t_s for s in made.samples] == [0, 1, 2, 3]


def test_a_key_off_the_grid_is_a_row_off_the_grid() -> None:
    made, _ = sampler([i / 25 for i in range(50)])
    made.samples.clear()
    assert made.key_s(Span(1.2, 1.6)) == 1.4
    assert rows(made) == [(1.4, None, 35)]


def test_a_key_picture_that_is_gone_is_missing() -> None:
    made, _ = sampler([i / 25 for i in range(50)], limit=3)
    made.samples.clear()
    assert made.key_s(Span(1.2, 1.6)) == 1.4
    assert made.missing_s == [1.4] and not made.samples


def test_recent_pictures_are_bounded_by_weight() -> None:
    recent = Recent(lambda shown: 10, 35)
    for i in range(9):
        recent.push(picture(i, i))
    assert recent.at(4.5) is None
    assert [recent.at(t).index for t in (6, 7.5, 99)] == [6, 7, 8]  # type: ignore[union-attr]
