"""`reel show`: a video's scenes on one picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reeldb.schema.errors import ArchiveError, BindError
from reeldb.schema.spans import clock

if TYPE_CHECKING:
    from reeldb.database import Database
    from reeldb.schema.models import Image

MOST = 200  # scenes on one sheet; a longer video shows evenly chosen ones


def write_sheet(db: Database, video_id: str, out: Path | None = None) -> Path:
    """Writes a PNG of the scenes' key pictures with number and start, and gives its path.

    Pictures come from the file where it still is, else from the archive's thumbnails.
    Without `out` the sheet goes to the working directory under the video's name.
    """
    from reeldb.media.sheet import contact_sheet, encode_png

    rows = db.sql(
        "SELECT v.name, v.path, s.scene_no, s.start_s, s.key_s FROM scenes s "
        "JOIN videos v USING (video_id) WHERE video_id = $id ORDER BY scene_no",
        {"id": video_id},
    ).fetchall()
    if not rows:
        raise BindError(f"{video_id}: the video has no scenes")
    rows = [rows[i * len(rows) // min(MOST, len(rows))] for i in range(min(MOST, len(rows)))]
    name, path = str(rows[0][0]), Path(str(rows[0][1]))
    images = _pictures(db, video_id, path, [float(row[4]) for row in rows])
    labels = [f"{row[2]}  {clock(round(float(row[3]), 1))}" for row in rows]
    out = out or Path(f"{Path(name).stem}.png")
    if out.suffix.lower() != ".png":
        raise ArchiveError(f"{out}: a contact sheet is a PNG; name it ….png")
    out.write_bytes(encode_png(contact_sheet(list(zip(images, labels, strict=True)))))
    return out


def _pictures(db: Database, video_id: str, path: Path, times_s: list[float]) -> list[Image]:
    if path.is_file():
        from reeldb.media.pictures import pictures_at

        return pictures_at(path, times_s, max_side=480)
    from reeldb.media.jpeg import decode_jpeg

    thumbs = dict(
        db.sql(
            "SELECT t_s, thumbnail FROM frames WHERE video_id = $id", {"id": video_id}
        ).fetchall()
    )
    return [decode_jpeg(thumbs[t]) for t in times_s]
