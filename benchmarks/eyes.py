"""What a search by picture finds, against scenes that were looked at beforehand.

`python -m benchmarks.eyes ARCHIVE` prints how many of the first five scenes show what was asked
for, for every query of docs/eyes.csv, in four ways. The archive must hold
the videos that the file names. Captions and on-screen text are used as far as they were made.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import reeldb

QUERIES = Path(__file__).parents[1] / "docs" / "eyes.csv"
TOP = 5

KEY_PICTURE = """
SELECT video, scene_no, start_s FROM scenes ORDER BY similarity(image, $q) DESC LIMIT 5
"""
BEST_PICTURE = """
SELECT video, scene_no FROM frames
GROUP BY video, scene_no ORDER BY max(similarity(image, $q)) DESC LIMIT 5
"""
# Reciprocal rank fusion (Cormack et al. 2009, k = 60) of pictures, captions and written words.
FUSED = """
WITH seen AS (
  SELECT video, scene_no, rank() OVER (ORDER BY score DESC) AS place FROM ({score})
), captioned AS (
  SELECT video, scene_no, rank() OVER (ORDER BY similarity(caption, $q) DESC) AS place
  FROM scenes WHERE caption IS NOT NULL
), words AS (
  SELECT DISTINCT s.video, s.scene_no, w.word
  FROM scenes s JOIN ocr o ON during(o, s)
  JOIN (SELECT unnest(string_split(lower($q), ' ')) AS word) w ON contains(lower(o.text), w.word)
  WHERE length(w.word) > 3
), written AS (
  SELECT video, scene_no, rank() OVER (ORDER BY count(*) DESC) AS place
  FROM words GROUP BY video, scene_no
)
SELECT video, scene_no FROM (
  SELECT * FROM seen UNION ALL SELECT * FROM captioned UNION ALL SELECT * FROM written
) GROUP BY video, scene_no ORDER BY sum(1 / (60 + place)) DESC LIMIT 5
"""
KEY_SCORE = "SELECT video, scene_no, similarity(image, $q) AS score FROM scenes"
BEST_SCORE = (
    "SELECT video, scene_no, max(similarity(image, $q)) AS score FROM frames "
    "GROUP BY video, scene_no"
)
WAYS = {
    "key picture": KEY_PICTURE,
    "best picture": BEST_PICTURE,
    "key, fused": FUSED.format(score=KEY_SCORE),
    "best, fused": FUSED.format(score=BEST_SCORE),
}
Scene = tuple[str, int]


@dataclass(slots=True)
class Query:
    """A text and the scenes that show it."""

    kind: str
    text: str
    scenes: set[Scene] = field(default_factory=set)


def main(archive: str) -> None:
    """Prints the table."""
    with reeldb.open(archive) as db:
        db.sql("SET captions = 'cached'")
        db.sql("SET ocr = 'cached'")
        searches(db)


def searches(db: reeldb.Database) -> None:
    """Prints hits among the first five, for every query and way."""
    spans = db.sql("SELECT video, scene_no, start_s, end_s FROM scenes").fetchall()
    print(f"{len(spans)} scenes\n\n| query | relevant | at most | chance | {' | '.join(WAYS)} |")
    print("|---" * (4 + len(WAYS)) + "|")
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0] * (3 + len(WAYS)))
    for query in read(spans):
        hits = []
        for sql in WAYS.values():
            rows = db.sql(sql, {"q": query.text}).fetchall()
            hits.append(sum((row[0], row[1]) in query.scenes for row in rows))
        relevant = len(query.scenes)
        line = [relevant, min(TOP, relevant), TOP * relevant / len(spans), *hits]
        for group in (f"*{query.kind}*", "**all**"):
            sums[group] = [a + b for a, b in zip(sums[group], line, strict=True)]
        print(_line(query.text, line), flush=True)
    for group in sorted(sums, key="**all**".__eq__):
        print(_line(group, sums[group]))


def read(spans: list[tuple[object, ...]]) -> list[Query]:
    """The queries of the file, their moments turned into the archive's scenes."""
    queries: dict[str, Query] = {}
    with QUERIES.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            query = queries.setdefault(row["query"], Query(row["kind"], row["query"]))
            for at_s in map(float, row["seconds"].split()):
                query.scenes |= {
                    (str(video), int(str(number)))
                    for video, number, start_s, end_s in spans
                    if video == row["video"] and float(str(start_s)) <= at_s < float(str(end_s))
                }
    return list(queries.values())


def _line(name: str, values: list[float]) -> str:
    relevant, most, chance, *hits = values
    counts = " | ".join(f"{h:.0f}" for h in hits)
    return f"| {name} | {relevant:.0f} | {most:.0f} | {chance:.2f} | {counts} |"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(sys.argv[1])
