"""The relations of the query language: what `SHOW TABLES` and `DESCRIBE` list.

A column is *stored* (computed once, at `add`), *lazy* (computed by a model when a statement
needs it, then kept), *virtual* (names a picture; only functions take it) or *heavy* (stored,
read from disk only by statements that name it). A relation is lazy when reading it makes a
tool look. A new relation is one entry of `RELATIONS`, and its stored form one of
`tables.TABLES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["stored", "lazy", "virtual", "heavy"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its DuckDB type, how it comes about, and a line for DESCRIBE."""

    name: str
    type: str
    kind: Kind = "stored"
    about: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation.

    `order` names the columns of its key order, after `video, video_id`; `lazy` is the role
    whose looks fill the relation, or None. Of a look that nobody has taken yet, `foreseen`
    names the columns that its rows will have as they are, and `bounded` those, rising with the
    key order, whose values will lie in the span of the look.
    """

    name: str
    about: str
    order: tuple[str, ...]
    columns: tuple[Column, ...]
    lazy: str | None = None
    foreseen: tuple[str, ...] = ()
    bounded: tuple[str, ...] = ()

    @property
    def by_name(self) -> dict[str, Column]:
        return {c.name: c for c in self.columns}

    def names(self, *kinds: Kind) -> list[str]:
        return [c.name for c in self.columns if c.kind in kinds]


def _of(text: str) -> tuple[Column, ...]:
    """Columns from lines of `name TYPE [-- about]`."""
    out = []
    for line in text.strip().splitlines():
        head, _, about = line.partition("--")
        name, type_ = head.split(maxsplit=1)
        out.append(Column(name, type_.strip(), about=about.strip()))
    return tuple(out)


SETTINGS = "STRUCT(fps DOUBLE, detector VARCHAR, threshold DOUBLE, min_scene DOUBLE, scan VARCHAR)"
VIDEO = Column("video", "VARCHAR", about="name of the video")
VIDEO_ID = Column("video_id", "VARCHAR", about="digest of the file's bytes")
IMAGE = Column("image", "PICTURE", "virtual", "the picture itself: an argument of functions")
BOX = _of("x0 DOUBLE -- box, 0..1 of the picture as shown\ny0 DOUBLE\nx1 DOUBLE\ny1 DOUBLE")

_ALL = (
    Relation(
        "videos",
        "one row a video file",
        (),
        (
            VIDEO,
            VIDEO_ID,
            *_of(
                f"""
                name VARCHAR -- base name of the newest existing path
                path VARCHAR
                aliases VARCHAR[] -- every path this file was seen at
                content_id VARCHAR -- digest of what is shown, shared by remuxed copies
                file_hash VARCHAR
                bytes BIGINT
                duration_s DOUBLE -- last shown pts - first + that picture's time on screen
                fps DOUBLE -- average, for people; times never come from it
                frame_count BIGINT -- pictures shown
                width INTEGER -- as shown, after rotation and pixel aspect
                height INTEGER
                rotation INTEGER -- degrees clockwise that were applied
                codec VARCHAR
                stream INTEGER -- index of the video stream in the file
                has_audio BOOLEAN
                start_pts_s DOUBLE -- the container's time of the first shown picture
                damaged BOOLEAN
                lost_frames BIGINT -- pictures that the file promised and the decoder did not give
                hdr BOOLEAN -- PQ or HLG: colours are only roughly right
                note VARCHAR
                scene_count INTEGER
                settings {SETTINGS}
                embedder VARCHAR
                missing BOOLEAN -- no path of it exists any more
                added_at TIMESTAMP -- UTC
                ingest_id VARCHAR
                """
            ),
        ),
    ),
    Relation(
        "scenes",
        "shots between cuts; they tile every video",
        ("scene_no",),
        (
            VIDEO,
            VIDEO_ID,
            *_of(
                """
                scene_no INTEGER -- from 0
                start_s DOUBLE
                end_s DOUBLE
                key_s DOUBLE -- time of the picture that stands for it, a row of frames
                """
            ),
            Column("caption", "VARCHAR", "lazy", "prose about up to 4 pictures of the scene"),
            Column("ocr_text", "VARCHAR", "lazy", "distinct on-screen texts, one a line"),
            Column("speech_text", "VARCHAR", "lazy", "subtitles and speech that overlap the scene"),
            IMAGE,
        ),
    ),
    Relation(
        "frames",
        "the sampled pictures: one a second, and the key picture of every scene",
        ("t_s",),
        (
            VIDEO,
            VIDEO_ID,
            *_of(
                """
                t_s DOUBLE
                on_grid BOOLEAN
                frame_no INTEGER -- position on the grid, NULL off it
                scene_no INTEGER
                """
            ),
            Column("thumbnail", "BLOB", "heavy", "small JPEG"),
            Column("caption", "VARCHAR", "lazy", "prose about this picture"),
            IMAGE,
        ),
    ),
    Relation(
        "embeddings",
        "a vector a sampled picture",
        ("t_s", "space"),
        (
            VIDEO,
            VIDEO_ID,
            *_of("t_s DOUBLE\nspace VARCHAR -- which embedder made it"),
            Column("vector", "FLOAT[]", "heavy", "unit length"),
        ),
    ),
    Relation(
        "captions",
        "every caption ever made, of any model and prompt",
        ("start_s", "end_s", "kind", "key"),
        (
            VIDEO,
            VIDEO_ID,
            *_of(
                """
                key VARCHAR -- address in the ledger
                kind VARCHAR -- clip, frame, node, asked or describe
                start_s DOUBLE
                end_s DOUBLE
                times_ms BIGINT[] -- nominal times of the pictures
                text VARCHAR
                fields VARCHAR -- JSON
                model VARCHAR
                prompt_id VARCHAR
                status VARCHAR -- ok, empty, refused or failed
                note VARCHAR
                tokens BIGINT
                seconds DOUBLE
                created_at TIMESTAMP
                """
            ),
        ),
    ),
    Relation(
        "ocr",
        "text seen on screen, one look a grid picture",
        ("t_s", "line_no"),
        (
            VIDEO,
            VIDEO_ID,
            *_of(
                """
                t_s DOUBLE
                line_no INTEGER -- reading order
                text VARCHAR
                confidence DOUBLE
                """
            ),
            *BOX,
            *_of("model VARCHAR"),
        ),
        lazy="ocr",
        foreseen=("video", "video_id", "t_s"),
    ),
    Relation(
        "objects",
        "things detected, one look a grid picture",
        ("t_s", "line_no"),
        (
            VIDEO,
            VIDEO_ID,
            *_of("t_s DOUBLE\nline_no INTEGER\nlabel VARCHAR\nconfidence DOUBLE"),
            *BOX,
            *_of("model VARCHAR"),
        ),
        lazy="objects",
        foreseen=("video", "video_id", "t_s"),
    ),
    Relation(
        "speech",
        "what is said: subtitles, and transcripts where a speech model is named",
        ("start_s", "line_no"),
        (
            VIDEO,
            VIDEO_ID,
            *_of(
                """
                start_s DOUBLE
                end_s DOUBLE
                line_no INTEGER
                text VARCHAR
                confidence DOUBLE
                language VARCHAR
                model VARCHAR -- 'subtitle' where it came with the file
                """
            ),
        ),
        lazy="speech",
        foreseen=("video", "video_id"),
        bounded=("start_s", "end_s"),
    ),
    Relation(
        "actions",
        "actions recognised, one look a scene",
        ("start_s", "line_no"),
        (
            VIDEO,
            VIDEO_ID,
            *_of(
                """
                start_s DOUBLE
                end_s DOUBLE
                line_no INTEGER
                label VARCHAR
                confidence DOUBLE
                model VARCHAR
                """
            ),
        ),
        lazy="actions",
        foreseen=("video", "video_id", "start_s", "end_s"),
    ),
    Relation(
        "entities",
        "characters and objects that recur",
        ("entity_id",),
        (
            VIDEO,
            VIDEO_ID,
            *_of(
                """
                entity_id VARCHAR
                version VARCHAR
                name VARCHAR
                description VARCHAR
                best_s DOUBLE -- time of its best picture
                """
            ),
        ),
    ),
    Relation(
        "entity_mentions",
        "where entities appear, under which local name",
        ("start_s", "entity_id"),
        (
            VIDEO,
            VIDEO_ID,
            *_of(
                """
                entity_id VARCHAR
                version VARCHAR
                segment INTEGER
                local_name VARCHAR
                start_s DOUBLE
                end_s DOUBLE
                """
            ),
        ),
    ),
    Relation(
        "tool_runs",
        "what has been looked at, by which tool: empty is not never",
        ("start_ms", "tool", "key"),
        (
            VIDEO,
            VIDEO_ID,
            *_of(
                """
                key VARCHAR
                tool VARCHAR
                model VARCHAR
                start_ms BIGINT
                end_ms BIGINT
                status VARCHAR -- ok, empty or failed
                found INTEGER
                same_as_ms BIGINT -- set where the picture nearly equals one looked at before
                note VARCHAR
                seconds DOUBLE
                created_at TIMESTAMP
                """
            ),
        ),
    ),
    Relation(
        "answers",
        "every answer to ASK: enough to replay it",
        ("created_at", "id"),
        _of(
            """
            id VARCHAR
            question VARCHAR
            statement VARCHAR
            strategy VARCHAR
            reasoner VARCHAR
            plan VARCHAR
            answer VARCHAR
            choice VARCHAR
            confidence DOUBLE
            status VARCHAR
            note VARCHAR
            evidence VARCHAR
            trace VARCHAR
            models VARCHAR
            reply_keys VARCHAR[]
            calls BIGINT
            captions_made BIGINT
            captions_reused BIGINT
            tokens BIGINT
            usd DOUBLE
            seconds DOUBLE
            created_at TIMESTAMP
            """
        ),
    ),
)

RELATIONS: dict[str, Relation] = {r.name: r for r in _ALL}
