"""Points with whiskers as SVG: accuracy against what it cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from reeldb.evaluation.report.text import ends, mean, safe, share

WIDTH, HEIGHT = 460, 300  # of a plot, in its own units
LEFT, RIGHT, TOP, BOTTOM = 58, 28, 14, 48  # margins
COLOURS = 8  # classes c0 ... of the style sheet; further settings begin anew
RADIUS, WHISKER, NEAR = 5, 4, 14
SAME, STEP = 2.0, 8.0
_PLACES = ((10, -7), (10, 15), (-18, -7), (-18, 15), (10, -22), (-18, -22), (10, 30), (-18, 30))


@dataclass(frozen=True, slots=True)
class Point:
    """One setting: its number in the table, its name, the cost, and accuracy with its interval."""

    number: int
    name: str
    x: float
    y: float
    low: float
    high: float


def plot(points: Sequence[Point], label: str) -> str:
    """An SVG of the points over an axis from 0; the vertical one is accuracy in percent."""
    ticks = ticks_of(max((p.x for p in points), default=0.0))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{safe(f"accuracy against {label}")}">',
        *_axes(ticks, label),
    ]
    at = _beside([_x(p.x, ticks[-1]) for p in points])
    taken = [(x, _y(p.y)) for x, p in zip(at, points, strict=True)]
    for x, point in zip(at, points, strict=True):
        parts += _drawn(point, x, taken)
    return "\n".join([*parts, "</svg>"])


def ticks_of(most: float) -> list[float]:
    """Round numbers from 0 to at least `most`, at most six.

    >>> ticks_of(7.3)
    [0.0, 2.0, 4.0, 6.0, 8.0]
    """
    if most <= 0:
        return [0.0, 1.0]
    rough = most / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(m * unit for m in (1, 2, 5, 10) if m * unit >= rough * (1 - 1e-9))
    return [round(i * step, 12) for i in range(math.ceil(most / step - 1e-9) + 1)]


def _x(value: float, most: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * value / most


def _y(share: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)


def _axes(ticks: Sequence[float], label: str) -> list[str]:
    right, foot = WIDTH - RIGHT, HEIGHT - BOTTOM
    out = []
    for percent in range(0, 101, 20):
        y = _y(percent / 100)
        out.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text class="end" x="{LEFT - 8}" y="{y + 4:.1f}">{percent} %</text>')
    for tick in ticks:
        x = _x(tick, ticks[-1])
        out.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{foot}" y2="{foot + 5}"/>')
        out.append(f'<text class="mid" x="{x:.1f}" y="{foot + 19}">{tick:,.10g}</text>')
    out.append(f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{foot}" y2="{foot}"/>')
    middle = (LEFT + right) / 2
    out.append(f'<text class="mid name" x="{middle:.1f}" y="{HEIGHT - 8}">{safe(label)}</text>')
    at = (TOP + foot) / 2
    out.append(
        f'<text class="mid name" x="14" y="{at:.1f}" '
        f'transform="rotate(-90 14 {at:.1f})">accuracy</text>'
    )
    return out


def _beside(xs: Sequence[float]) -> list[float]:
    """The places, those that are the same to the eye spread so that no whisker hides another.

    >>> _beside([50.0, 80.0, 50.0])
    [46.0, 80.0, 54.0]
    """
    same = [[j for j, other in enumerate(xs) if abs(other - x) < SAME] for x in xs]
    return [
        x + STEP * (twins.index(i) - (len(twins) - 1) / 2)
        for i, (x, twins) in enumerate(zip(xs, same, strict=True))
    ]


def _drawn(point: Point, x: float, taken: list[tuple[float, float]]) -> list[str]:
    """The point at a place, its whisker and its number, beside what is `taken` already."""
    y = _y(point.y)
    top, foot = _y(point.high), _y(point.low)
    told = (
        f"{point.number}: {point.name}; accuracy {share(point.y).text} "
        f"({ends(point.low, point.high)}) at {mean(point.x).text}"
    )
    dx, dy = next((d for d in _PLACES if _is_free((x + d[0], y + d[1]), taken)), _PLACES[0])
    taken.append((x + dx, y + dy))
    bars = "".join(
        f'<line x1="{x - WHISKER:.1f}" x2="{x + WHISKER:.1f}" y1="{at:.1f}" y2="{at:.1f}"/>'
        for at in (top, foot)
    )
    return [
        f'<g class="point c{(point.number - 1) % COLOURS}" data-number="{point.number}" '
        f'data-x="{point.x!r}" data-y="{point.y!r}" data-low="{point.low!r}" '
        f'data-high="{point.high!r}"><title>{safe(told)}</title>'
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{foot:.1f}"/>{bars}'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}"/>'
        f'<text x="{x + dx:.1f}" y="{y + dy:.1f}">{point.number}</text></g>'
    ]


def _is_free(at: tuple[float, float], taken: Sequence[tuple[float, float]]) -> bool:
    return all(abs(at[0] - x) > NEAR or abs(at[1] - y) > NEAR for x, y in taken)
