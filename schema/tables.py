"""The Lance tables of an archive: their Arrow schemas, fixed and typed.

These are what is stored. What a statement sees is `relations.py`. Times are seconds from
the first shown picture as doubles in columns named `..._s`, or whole milliseconds in
columns named `..._ms` where they are part of an address. A table is created from its
schema, never from its first batch, so a column of NULLs keeps its type.

Rows of `videos scenes frames embeddings_*` and subtitles in `speech` carry the `ingest_id`
of the `add` that made them; only the one named by the live `videos` row counts.
`captions ocr objects actions speech tool_runs replies` are the ledger: addressed by
content, shared by copies, kept when a video is removed.
"""

from __future__ import annotations

import pyarrow as pa

STRING, INT, BIG, DOUBLE, BOOL = pa.string(), pa.int32(), pa.int64(), pa.float64(), pa.bool_()
WHEN = pa.timestamp("us")  # UTC without a zone: DuckDB needs pytz to hand out zoned ones

SETTINGS = pa.struct(
    [
        ("fps", DOUBLE),
        ("detector", STRING),
        ("threshold", DOUBLE),
        ("min_scene", DOUBLE),
        ("scan", STRING),
    ]
)

VIDEOS = pa.schema(
    [
        ("video_id", STRING),
        ("ingest_id", STRING),
        ("name", STRING),
        ("path", STRING),
        ("aliases", pa.list_(STRING)),
        ("content_id", STRING),
        ("sound_id", STRING),
        ("file_hash", STRING),
        ("bytes", BIG),
        ("duration_s", DOUBLE),
        ("fps", DOUBLE),
        ("frame_count", BIG),
        ("width", INT),
        ("height", INT),
        ("rotation", INT),
        ("codec", STRING),
        ("stream", INT),
        ("has_audio", BOOL),
        ("start_pts_s", DOUBLE),
        ("damaged", BOOL),
        ("lost_frames", BIG),
        ("hdr", BOOL),
        ("note", STRING),
        ("scene_count", INT),
        ("settings", SETTINGS),
        ("embedder", STRING),
        ("missing", BOOL),
        ("added_at", WHEN),
        ("timing", pa.binary()),
        ("sound_start_s", DOUBLE),  # of the first sound, after the first picture; NULL is 0
    ]
)

SCENES = pa.schema(
    [
        ("video_id", STRING),
        ("ingest_id", STRING),
        ("scene_no", INT),
        ("start_s", DOUBLE),
        ("end_s", DOUBLE),
        ("key_s", DOUBLE),
    ]
)

FRAMES = pa.schema(
    [
        ("video_id", STRING),
        ("ingest_id", STRING),
        ("t_s", DOUBLE),
        ("on_grid", BOOL),
        ("frame_no", INT),
        ("scene_no", INT),
        ("thumbnail", pa.binary()),
    ]
)

CAPTIONS = pa.schema(
    [
        ("key", STRING),
        ("content_id", STRING),
        ("kind", STRING),
        ("start_s", DOUBLE),
        ("end_s", DOUBLE),
        ("times_ms", pa.list_(BIG)),
        ("text", STRING),
        ("fields", STRING),
        ("model", STRING),
        ("prompt_id", STRING),
        ("status", STRING),
        ("note", STRING),
        ("tokens", BIG),
        ("seconds", DOUBLE),
        ("created_at", WHEN),
    ]
)

_BOX = [("x0", DOUBLE), ("y0", DOUBLE), ("x1", DOUBLE), ("y1", DOUBLE)]
_SEEN = [("key", STRING), ("content_id", STRING), ("model", STRING), ("line_no", INT)]

OCR = pa.schema([*_SEEN, ("t_ms", BIG), ("text", STRING), ("confidence", DOUBLE), *_BOX])
OBJECTS = pa.schema([*_SEEN, ("t_ms", BIG), ("label", STRING), ("confidence", DOUBLE), *_BOX])
ACTIONS = pa.schema(
    [*_SEEN, ("start_s", DOUBLE), ("end_s", DOUBLE), ("label", STRING), ("confidence", DOUBLE)]
)

SPEECH = pa.schema(
    [
        ("key", STRING),
        ("source_id", STRING),  # the sound's digest; the video_id for subtitles
        ("ingest_id", STRING),  # NULL in ledger rows, set for subtitles
        ("line_no", INT),
        ("start_s", DOUBLE),
        ("end_s", DOUBLE),
        ("text", STRING),
        ("confidence", DOUBLE),
        ("language", STRING),
        ("model", STRING),
    ]
)

TOOL_RUNS = pa.schema(
    [
        ("key", STRING),
        ("content_id", STRING),
        ("tool", STRING),
        ("model", STRING),
        ("start_ms", BIG),
        ("end_ms", BIG),
        ("status", STRING),
        ("found", INT),
        ("same_as_ms", BIG),  # set where the picture was nearly equal to one looked at
        ("note", STRING),
        ("seconds", DOUBLE),
        ("created_at", WHEN),
    ]
)

ENTITIES = pa.schema(
    [
        ("entity_id", STRING),
        ("version", STRING),
        ("video_id", STRING),
        ("name", STRING),
        ("description", STRING),
        ("best_s", DOUBLE),
    ]
)

ENTITY_MENTIONS = pa.schema(
    [
        ("entity_id", STRING),
        ("version", STRING),
        ("video_id", STRING),
        ("segment", INT),
        ("local_name", STRING),
        ("start_s", DOUBLE),
        ("end_s", DOUBLE),
    ]
)

REPLIES = pa.schema(
    [
        ("key", STRING),
        ("role", STRING),
        ("model", STRING),
        ("text", STRING),
        ("status", STRING),
        ("note", STRING),
        ("tokens", BIG),
        ("seconds", DOUBLE),
        ("created_at", WHEN),
    ]
)

ANSWERS = pa.schema(
    [
        ("id", STRING),
        ("question", STRING),
        ("statement", STRING),
        ("strategy", STRING),
        ("reasoner", STRING),
        ("plan", STRING),
        ("answer", STRING),
        ("choice", STRING),
        ("confidence", DOUBLE),
        ("status", STRING),
        ("note", STRING),
        ("evidence", STRING),
        ("trace", STRING),
        ("models", STRING),
        ("reply_keys", pa.list_(STRING)),
        ("calls", BIG),
        ("captions_made", BIG),
        ("captions_reused", BIG),
        ("tokens", BIG),
        ("usd", DOUBLE),
        ("seconds", DOUBLE),
        ("created_at", WHEN),
    ]
)

TABLES: dict[str, pa.Schema] = {
    "videos": VIDEOS,
    "scenes": SCENES,
    "frames": FRAMES,
    "captions": CAPTIONS,
    "ocr": OCR,
    "objects": OBJECTS,
    "actions": ACTIONS,
    "speech": SPEECH,
    "tool_runs": TOOL_RUNS,
    "entities": ENTITIES,
    "entity_mentions": ENTITY_MENTIONS,
    "replies": REPLIES,
    "answers": ANSWERS,
}

INGESTED = ("scenes", "frames")  # every row of these belongs to one ingest
LEDGER = ("captions", "ocr", "objects", "actions", "speech", "tool_runs", "replies")
HEAVY = {"videos": {"timing"}, "frames": {"thumbnail"}}  # read on their own, never with the rest


def embeddings_schema(space: str, dim: int, number: pa.DataType | None = None) -> pa.Schema:
    """The table of one embedding space; the space and its width travel in the metadata.

    Vectors are unit vectors as float16, half the disk of float32: by its rounding (2**-11 of
    each number) no cosine of two vectors moves by more than 0.001. Tables of float32 (`number`),
    made by earlier versions, stay so.
    """
    return pa.schema(
        [
            ("video_id", STRING),
            ("ingest_id", STRING),
            ("t_s", DOUBLE),
            ("space", STRING),
            ("vector", pa.list_(number or pa.float16(), dim)),
        ],
        metadata={"space": space, "dim": str(dim)},
    )
