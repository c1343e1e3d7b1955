from __future__ import annotations

from pathlib import Path

import av
import cv2
import pytest

from reeldb.media.container import list_kind, open_media, pick_video
from reeldb.media.probe import probe
from reeldb.schema.errors import MediaError
from tests.clips import make_clip, remux, solid, truncate

LISTS = {
    "ffconcat version 1.0\nfile 'secret.mp4'\n": "concat",
    "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:4,\nsecret.mp4\n#EXT-X-ENDLIST\n": "playlist",
    "\ufeff#EXTM3U\nsecret.mp4\n": "playlist",
    "[playlist]\nFile1=secret.mp4\n": "playlist",
    "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nm=video 5000 RTP/AVP 96\n": "SDP",
    '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011">secret.mp4</MPD>': "DASH",
    "<ASX version='3.0'><entry><ref href='secret.mp4'/></entry></ASX>": "ASX",
    "<smil><body><video src='secret.mp4'/></body></smil>": "SMIL",
    "[Reference]\nRef1=http://127.0.0.1/x.asf\n": "reference",
}


@pytest.mark.parametrize(("text", "kind"), LISTS.items(), ids=range(len(LISTS)))
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_list_of_other_files_is_refused_even_when_named_mp4(
    tmp_path: Path, text: str, kind: str, encoding: str
) -> None:
    make_clip(tmp_path / "secret.mp4", [("red", 0.2)])
    (tmp_path / "list.mp4").write_text(text, encoding=encoding)
    with pytest.raises(MediaError, match=kind) as caught:
        open_media(tmp_path / "list.mp4")
    assert "give the media files themselves" in str(caught.value)


def test_a_list_hidden_behind_blank_lines_reaches_no_other_file(tmp_path: Path) -> None:
    make_clip(tmp_path / "secret.mp4", [("red", 0.2)])
    (tmp_path / "list.ffconcat").write_text(" " * 5000 + "\nffconcat version 1.0\nfile secret.mp4")
    (tmp_path / "list.m3u8").write_text("\n" * 5000 + "#EXTM3U\n#EXTINF:4,\nsecret.mp4\n")
    for name in ("list.ffconcat", "list.m3u8"):
        with pytest.raises(MediaError):
            open_media(tmp_path / name)


def test_a_numbered_picture_pattern_is_not_followed(tmp_path: Path) -> None:
    for i in range(3):
        cv2.imwrite(str(tmp_path / f"p{i}.png"), solid("red"))
    (tmp_path / "p%d.png").write_bytes((tmp_path / "p0.png").read_bytes())
    with pytest.raises(MediaError, match="not a video format"):
        open_media(tmp_path / "p%d.png")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"this is a text, not a video. " * 200, "not a media file"),
        (bytes(range(256)) * 80, "not a media file"),
        (b"\0" * 4096, "not a media file"),
        (b"GIF89a", "not a media file"),
    ],
    ids=["empty", "text", "bytes", "zeros", "stub"],
)
def test_what_is_no_media_file_is_told_in_one_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    file = tmp_path / "clip\nname.mp4"
    file.write_bytes(content)
    with pytest.raises(MediaError, match=message) as caught:
        probe(file)
    assert "\n" not in str(caught.value)
    assert "clip\\nname.mp4" in str(caught.value)


def test_an_mp4_cut_off_before_its_index_says_so(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "whole.mp4", [("red", 1.0)])
    with pytest.raises(MediaError, match="no index"):
        open_media(truncate(clip, tmp_path / "cut.mp4", 0.5))


def test_missing_files_and_folders_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="does not exist"):
        open_media(tmp_path / "nothing.mp4")
    with pytest.raises(MediaError, match="is a folder"):
        open_media(tmp_path)


def test_a_name_that_looks_like_a_protocol_or_an_option_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip = make_clip(tmp_path / "plain.mp4", [("red", 0.2)])
    monkeypatch.chdir(tmp_path)
    for name in ("concat:a.mp4", "-i.mp4", "subfile,,start,0,end,9,,:x.mp4", "%(d)s $(id) 'ü'.mp4"):
        (tmp_path / name).write_bytes(clip.read_bytes())
        assert probe(name).codec == "h264"


def test_a_file_with_sound_only_says_so(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "both.mp4", [("red", 1.0)], sound=True)
    with av.open(str(clip)) as source, av.open(str(tmp_path / "sound.m4a"), "w") as out:
        voice = out.add_stream_from_template(source.streams.audio[0])
        for packet in source.demux(source.streams.audio[0]):
            if packet.size:
                packet.stream = voice
                out.mux_one(packet)
    with pytest.raises(MediaError, match="audio only"):
        probe(tmp_path / "sound.m4a")


def test_cover_art_is_not_the_video(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "film.mp4", [("blue", 1.0)], sound=True)
    cover = cv2.imencode(".jpg", solid("red", (320, 240)))[1].tobytes()
    with av.open(str(clip)) as source, av.open(str(tmp_path / "cover.mp4"), "w") as out:
        picture = out.add_mux_stream("mjpeg", rate=1, width=320, height=240)
        picture.disposition = av.stream.Disposition.attached_pic
        made = {s.index: out.add_stream_from_template(s) for s in source.streams}
        packet = av.Packet(cover)
        packet.stream, packet.pts, packet.dts, packet.is_keyframe = picture, 0, 0, True
        out.mux_one(packet)
        for copied in source.demux():
            if copied.size:
                copied.stream = made[copied.stream.index]
                out.mux_one(copied)
    with open_media(tmp_path / "cover.mp4") as container:
        assert len(container.streams.video) == 2
        assert pick_video(container).codec_context.codec.canonical_name == "h264"


def test_the_video_stream_with_the_default_flag_is_chosen(tmp_path: Path) -> None:
    first = make_clip(tmp_path / "a.mp4", [("red", 0.5)])
    second = make_clip(tmp_path / "b.mp4", [("blue", 0.5)], size=(320, 240))
    with (
        av.open(str(first)) as one,
        av.open(str(second)) as two,
        av.open(str(tmp_path / "two.mkv"), "w") as out,
    ):
        pairs = [(s, out.add_stream_from_template(s.streams.video[0])) for s in (one, two)]
        pairs[0][1].disposition = av.stream.Disposition(0)
        pairs[1][1].disposition = av.stream.Disposition.default
        for source, made in pairs:
            for packet in source.demux(source.streams.video[0]):
                if packet.size:
                    packet.stream = made
                    out.mux_one(packet)
    assert (probe(tmp_path / "two.mkv").stream, probe(tmp_path / "two.mkv").width) == (1, 320)


def test_every_kind_of_list_is_known_by_its_first_bytes() -> None:
    assert all(list_kind(text.encode()) for text in LISTS)
    assert list_kind(b"\0\0\0\x20ftypisom") is None


def test_remuxed_clips_open_in_every_container(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "a.mp4", [("red", 0.4)])
    for suffix in ("mkv", "mov", "ts", "flv"):
        facts = probe(remux(clip, tmp_path / f"b.{suffix}"))
        assert (facts.codec, facts.width, facts.height) == ("h264", 160, 120)
