"""One file into the archive: what it is, whether it is known, and if not, its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from reeldb.index.archive import Archive
from reeldb.index.commit import Published, Vectors, Writer
from reeldb.ingest.chosen import address_of, fix_embedder
from reeldb.ingest.file import File
from reeldb.ingest.known import Known, note_gone, note_seen, same_settings
from reeldb.ingest.pass_ import Pass
from reeldb.ingest.report import Item, Outcome
from reeldb.ingest.rows import scene_rows
from reeldb.ingest.video_row import VideoRow, decoded_columns, file_columns, twin_columns
from reeldb.media.container import shown_path
from reeldb.media.identity import Packets, scan_packets
from reeldb.media.probe import Probe, probe
from reeldb.media.subtitles import cues
from reeldb.schema.digests import digest
from reeldb.schema.errors import IngestError
from reeldb.schema.settings import Settings

if TYPE_CHECKING:
    from reeldb.ingest.rows import Times
    from reeldb.schema.models import Embedder
    from reeldb.schema.models import Vectors as Matrix

Share = Callable[[float], None]
"""Told how much of a file is done, 0 to 1."""


@dataclass(frozen=True, slots=True)
class _Content:
    """A file with what it shows, before anything but one picture of it is decoded."""

    file: File
    found: Probe
    packets: Packets

    @classmethod
    def of(cls, file: File) -> _Content:
        found = probe(file.path)
        return cls(file, found, scan_packets(file.path, found))


class Adder:
    """Adds files, one at a time, each in one commit; the settings have their threshold
    written out."""

    def __init__(
        self, archive: Archive, settings: Settings, embedder: Embedder | None, replace: bool
    ) -> None:
        self._archive = archive
        self._settings = settings
        self._embedder = embedder
        self._replace = replace

    def add(self, path: Path, share: Share) -> Item:
        """What became of the file. Raises ReelError where it cannot be added; then nothing
        of it is visible."""
        file = File.read(path)
        known = self._archive.read(Known)
        for row in known.at_path(path):
            if row["video_id"] != file.video_id:
                note_gone(self._archive, known, row, str(path))
        old = known.by_id(file.video_id)
        if old is None:
            return self._add_new(file, known, share)
        moved = note_seen(self._archive, known, old, path)
        if same_settings(old, self._settings):
            told = f"was {old['path']}" if moved else ""
            return _item(file, "moved" if moved else "known", old, told)
        if not self._replace:
            raise IngestError(f"{shown_path(path)}: {_other_settings(old, self._settings)}")
        return self._decode(_Content.of(file), share, replaced=True)

    def _add_new(self, file: File, known: Known, share: Share) -> Item:
        content = _Content.of(file)
        _, twins = known.settle(content.packets)
        for twin in filter(self._usable, twins):
            copied = self._copy(content, twin["video_id"])
            if copied is not None:
                return copied
        return self._decode(content, share, replaced=False)

    def _usable(self, twin: VideoRow | None) -> bool:
        """Whether the rows of this video are those that decoding would give."""
        return (
            twin is not None
            and same_settings(twin, self._settings)
            and twin["embedder"] == self._address
        )

    def _decode(self, content: _Content, share: Share, replaced: bool) -> Item:
        file, found, packets = content.file, content.found, content.packets
        with Writer(self._archive) as writer:
            stage = _Stage(writer, file.video_id, self._embedder)
            one_pass = Pass(
                file.path,
                found.orientation,
                self._settings,
                self._embedder,
                stage,
                lambda t_s: share(min(1.0, t_s / max(packets.duration_s, 1e-3))),
            )
            passed = one_pass.run()
            writer.stage("scenes", stage.owned(scene_rows(passed.scenes, passed.keys_s)))
            _stage_subtitles(writer, file)
            row = file_columns(file, found, packets)
            row |= decoded_columns(found, passed, self._settings, self._address)
            file.check_unchanged()
            published = self._publish(writer, row, packets, replaced)
        if not published.ours:
            return _item(file, "known", row, "another run added it meanwhile")
        return _item(file, "replaced" if replaced else "added", row, passed.note)

    def _publish(
        self, writer: Writer, row: VideoRow, packets: Packets, replaced: bool
    ) -> Published:
        with self._archive.lock():
            fix_embedder(self._archive, self._embedder)
            known = Known(self._archive.snapshot())  # others may have published meanwhile
            old = known.by_id(row["video_id"]) if replaced else None
            if old is None:
                row["content_id"], _ = known.settle(packets)
            else:
                row |= {n: old[n] for n in ("content_id", "name", "path", "aliases")}
            return writer.publish(row, replace=replaced)

    def _copy(self, content: _Content, twin_id: str) -> Item | None:
        """Publishes the file with the rows of its twin, unless that has changed meanwhile."""
        file = content.file
        with Writer(self._archive) as writer, self._archive.lock():
            twin = Known(self._archive.snapshot()).by_id(twin_id)
            if twin is None or not self._usable(twin):
                return None
            _stage_subtitles(writer, file)
            row = file_columns(file, content.found, content.packets) | twin_columns(twin)
            file.check_unchanged()
            published = writer.copy_twin(twin_id, row)
        told = f"shows the same as {twin['name']}" if published.ours else ""
        return _item(file, "copied" if published.ours else "known", row, told)

    @property
    def _address(self) -> str:
        return address_of(self._embedder)


class _Stage:
    """Passes batches on to a writer, with the columns that name the video."""

    def __init__(self, writer: Writer, video_id: str, embedder: Embedder | None) -> None:
        self._writer = writer
        self._video_id = video_id
        self._space = embedder.space if embedder is not None else ""

    def owned(self, rows: pa.Table) -> pa.Table:
        return rows.append_column("video_id", pa.repeat(self._video_id, len(rows)))

    def frames(self, rows: pa.Table) -> None:
        self._writer.stage("frames", self.owned(rows))

    def vectors(self, times_s: Times, matrix: Matrix) -> None:
        self._writer.stage_vectors(self._video_id, Vectors(self._space, times_s, matrix))


def _stage_subtitles(writer: Writer, file: File) -> None:
    """The file's own subtitles and those beside it, as rows of `speech`."""
    rows = [
        {
            "key": digest("subtitle", file.video_id, str(cue.track)),
            "source_id": file.video_id,
            "line_no": n,
            "start_s": cue.start_s,
            "end_s": cue.end_s,
            "text": cue.text,
            "language": cue.language,
            "model": "subtitle",
        }
        for n, cue in enumerate(cues(file.path))
    ]
    writer.stage("speech", rows)


def _item(file: File, outcome: Outcome, row: VideoRow, message: str) -> Item:
    return Item(str(file.path), outcome, message, row["video_id"], bool(row["damaged"]))


def _other_settings(row: VideoRow, wanted: Settings) -> str:
    stored = row["settings"]
    differing = [n for n, v in wanted.row().items() if stored[n] != v]
    was = ", ".join(f"{n} {stored[n]}" for n in differing)
    now = ", ".join(f"{n} {wanted.row()[n]}" for n in differing)
    return f"is indexed with {was}, not {now}; add --replace to index it again"
