"""The checks of `verify`, one SQL query each.

A query gives rows of (where, count, example) and names the tables `s_<table>` (stored rows,
live or not), `s_vectors` (with each vector's length), `bare` (frames without a thumbnail)
and `claimed` (ingests a living writer owns). A new check is one entry of `CHECKS`.
"""

from __future__ import annotations

from dataclasses import dataclass

RESTORE = "`reel add --replace` indexes it anew"
COMPACT = "`reel compact` removes them"
EMPTY = "`reel compact` tidies up; the values are made again when they are needed"


@dataclass(frozen=True, slots=True)
class Check:
    """`text` is filled with `{n}` and `{example}` of each row the query gives."""

    kind: str
    text: str
    cure: str
    sql: str
    harmless: bool = False


LIVE = "SELECT v.* FROM s_videos v"
SCENES = f"(SELECT s.*, v.name, v.duration_s FROM s_scenes s JOIN ({LIVE}) v USING (ingest_id))"
FRAMES = f"(SELECT f.*, v.name, v.duration_s FROM s_frames f JOIN ({LIVE}) v USING (ingest_id))"
VECTORS = f"(SELECT e.*, v.name FROM s_vectors e JOIN ({LIVE}) v USING (ingest_id))"
OWNED = "(SELECT ingest_id FROM s_videos UNION ALL SELECT ingest_id FROM claimed)"


def _orphans(table: str) -> Check:
    return Check(
        "orphan rows",
        "{n} rows belong to no video, left by a killed or replaced `add`, such as {example}",
        COMPACT,
        f"""SELECT '{table.removeprefix("s_")}', count(*), min(ingest_id) FROM {table} t
            WHERE ingest_id IS NOT NULL AND NOT EXISTS
              (SELECT 1 FROM {OWNED} o WHERE o.ingest_id = t.ingest_id)
            HAVING count(*) > 0""",
        harmless=True,
    )


def _twice(table: str) -> Check:
    return Check(
        "duplicate keys",
        "{n} addresses are kept twice, such as {example}",
        COMPACT,
        f"""SELECT '{table}', count(*), min(key) FROM
              (SELECT key FROM s_{table} WHERE status <> 'failed' GROUP BY key HAVING count(*) > 1)
            HAVING count(*) > 0""",
        harmless=True,
    )


def _status(table: str) -> Check:
    return Check(
        "bad status",
        "{n} rows have a status that is none, such as {example}",
        EMPTY,
        f"""SELECT '{table}', count(*), min(coalesce(status, 'NULL')) FROM s_{table}
            WHERE status IS NULL OR status NOT IN ('ok', 'empty', 'refused', 'failed')
            HAVING count(*) > 0""",
    )


def _unseen(table: str, own: str = "TRUE") -> Check:
    return Check(
        "found without a look",
        "{n} rows come from looks that are not on record, such as {example}",
        COMPACT,
        f"""SELECT '{table}', count(*), min(key) FROM s_{table} t WHERE {own} AND NOT EXISTS
              (SELECT 1 FROM s_tool_runs r WHERE r.key = t.key)
            HAVING count(*) > 0""",
        harmless=True,
    )


def _miscounted(table: str) -> Check:
    return Check(
        "wrong counts",
        "{n} looks found another number of things than are kept, such as {example}",
        EMPTY,
        f"""SELECT 'tool_runs', count(*), min(r.key) FROM s_tool_runs r LEFT JOIN
              (SELECT key, count(DISTINCT line_no) AS n FROM s_{table} GROUP BY key) t USING (key)
            WHERE r.tool = '{table}' AND r.status = 'ok' AND r.same_as_ms IS NULL
              AND coalesce(t.n, 0) <> r.found
            HAVING count(*) > 0""",
    )


CHECKS: tuple[Check, ...] = (
    Check(
        "duplicate ids",
        "{n} rows of `videos` have the id {example}",
        "`reel rm` it and add it again",
        "SELECT any_value(name), count(*), video_id FROM s_videos GROUP BY video_id "
        "HAVING count(*) > 1",
    ),
    Check(
        "dangling ingest",
        "`videos` names an ingest that has no rows: {example}",
        RESTORE,
        """SELECT name, 1, coalesce(ingest_id, 'NULL') FROM s_videos v
           WHERE ingest_id IS NULL OR (coalesce(scene_count, 0) > 0 AND NOT EXISTS
             (SELECT 1 FROM s_scenes s WHERE s.ingest_id = v.ingest_id)
             AND NOT EXISTS (SELECT 1 FROM s_frames f WHERE f.ingest_id = v.ingest_id))""",
    ),
    Check(
        "wrong counts",
        "`videos` counts {example} scenes, there are {n}",
        RESTORE,
        """SELECT v.name, count(s.scene_no), any_value(v.scene_count) FROM s_videos v
            JOIN s_scenes s USING (ingest_id) GROUP BY v.video_id, v.name
            HAVING count(s.scene_no) <> any_value(coalesce(v.scene_count, -1))""",
    ),
    Check(
        "duplicate rows",
        "{n} scene numbers appear twice, such as {example}",
        RESTORE,
        f"""SELECT name, count(*), min(scene_no) FROM
              (SELECT name, scene_no FROM {SCENES} GROUP BY video_id, name, scene_no
               HAVING count(*) > 1)
            GROUP BY name""",
    ),
    Check(
        "duplicate rows",
        "{n} pictures appear twice, such as the one at {example} s",
        RESTORE,
        f"""SELECT name, count(*), min(t_s) FROM
              (SELECT name, t_s FROM {FRAMES} GROUP BY video_id, name, t_s HAVING count(*) > 1)
            GROUP BY name""",
    ),
    Check(
        "scenes do not tile",
        "{n} scenes do not start where the one before ends, such as number {example}",
        RESTORE,
        f"""SELECT name, count(*), min(scene_no) FROM (
              SELECT *, lag(end_s, 1, 0.0) OVER w AS before, lead(scene_no) OVER w IS NULL AS last
              FROM {SCENES} WINDOW w AS (PARTITION BY ingest_id ORDER BY scene_no))
            WHERE start_s <> before OR NOT end_s > start_s OR (last AND end_s <> duration_s)
            GROUP BY video_id, name""",
    ),
    Check(
        "frames outside",
        "{n} pictures lie outside the video or their scene, such as the one at {example} s",
        RESTORE,
        f"""SELECT f.name, count(*), min(f.t_s) FROM {FRAMES} f
            LEFT JOIN s_scenes s ON s.ingest_id = f.ingest_id AND s.scene_no = f.scene_no
            WHERE NOT (f.t_s >= 0 AND f.t_s < f.duration_s)
               OR s.scene_no IS NULL OR NOT (f.t_s >= s.start_s AND f.t_s < s.end_s)
            GROUP BY f.video_id, f.name""",
    ),
    Check(
        "key picture missing",
        "{n} scenes have a key picture that is no row of `frames`, such as number {example}",
        RESTORE,
        f"""SELECT s.name, count(*), min(s.scene_no) FROM {SCENES} s
            WHERE NOT EXISTS
              (SELECT 1 FROM s_frames f WHERE f.ingest_id = s.ingest_id AND f.t_s = s.key_s)
            GROUP BY s.video_id, s.name""",
    ),
    Check(
        "thumbnails missing",
        "{n} pictures have no thumbnail, such as the one at {example} s",
        RESTORE,
        """SELECT v.name, count(*), min(b.t_s) FROM bare b JOIN s_videos v USING (ingest_id)
           GROUP BY v.video_id, v.name""",
    ),
    Check(
        "vectors missing",
        "{n} pictures have no vector, such as the one at {example} s",
        "`reel reindex` makes them",
        f"""SELECT f.name, count(*), min(f.t_s) FROM {FRAMES} f JOIN s_videos v USING (ingest_id)
            WHERE v.embedder IS NOT NULL AND v.embedder NOT IN ('', 'none') AND NOT EXISTS
              (SELECT 1 FROM s_vectors e WHERE e.ingest_id = f.ingest_id AND e.t_s = f.t_s)
            GROUP BY f.video_id, f.name""",
    ),
    Check(
        "vectors without a picture",
        "{n} vectors belong to no picture, such as the one at {example} s",
        "`reel reindex` makes them anew",
        f"""SELECT e.name, count(*), min(e.t_s) FROM {VECTORS} e WHERE NOT EXISTS
              (SELECT 1 FROM s_frames f WHERE f.ingest_id = e.ingest_id AND f.t_s = e.t_s)
            GROUP BY e.video_id, e.name""",
    ),
    Check(
        "NaN vectors",
        "{n} vectors are not of length 1, or hold NaN, such as the one at {example} s",
        "`reel reindex` makes them anew",
        f"""SELECT name, count(*), min(t_s) FROM {VECTORS}
            WHERE NOT abs(length - 1) <= 0.01 OR isnan(length) GROUP BY video_id, name""",
    ),
    Check(
        "empty captions",
        "{n} captions have the status ok and no text, such as {example}",
        EMPTY,
        """SELECT 'captions', count(*), min(key) FROM s_captions
           WHERE status = 'ok' AND coalesce(trim(text), '') = '' HAVING count(*) > 0""",
    ),
    Check(
        "unknown entity",
        "{n} mentions name an entity that is not there, such as {example}",
        "index the entities anew",
        """SELECT 'entity_mentions', count(*), min(m.entity_id) FROM s_entity_mentions m
           WHERE NOT EXISTS (SELECT 1 FROM s_entities e WHERE e.entity_id = m.entity_id
                             AND e.version = m.version) HAVING count(*) > 0""",
    ),
    *(_status(t) for t in ("captions", "tool_runs", "replies")),
    *(_miscounted(t) for t in ("ocr", "objects", "actions")),
    *(_orphans(t) for t in ("s_scenes", "s_frames", "s_vectors", "s_speech")),
    *(_twice(t) for t in ("captions", "tool_runs", "replies")),
    *(_unseen(t) for t in ("ocr", "objects", "actions")),
    _unseen("speech", "ingest_id IS NULL"),
)
