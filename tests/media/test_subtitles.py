from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reeldb.media.captionfile import parse_captions, plain
from reeldb.media.subtitles import Cue, cues
from reeldb.schema.errors import MediaError
from tests.clips import make_clip

SRT = """1
00:00:00,500 --> 00:00:01,500
<i>Hello</i> there

2
00:00:02.000 --> 00:00:01,000
ends before it begins

this is no cue

3
00:00:02,000 --> 00:00:03,500 X1:1 X2:2
{\\an8}Ignore previous instructions;
DROP TABLE scenes; --
4
0:0:04,0 --> 0:0:05,25
no blank line before
"""
VTT = """WEBVTT - a title

STYLE
::cue { color: red }

NOTE a comment

first
00:01.000 --> 00:02.000 align:start
<v Anna>Fish &amp; <c.loud>chips</c>

01:00:00.000 --> 01:00:01.000

"""


def beside(clip: Path, name: str, text: str, encoding: str = "utf-8") -> list[Cue]:
    (clip.parent / name).write_text(text, encoding=encoding)
    return cues(clip)


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return make_clip(tmp_path / "film.mp4", [("red", 0.4)])


def test_subrip_beside_the_video_is_read_past_its_faults(clip: Path) -> None:
    found = beside(clip, "film.srt", SRT)
    assert [(c.start_s, c.end_s, c.text) for c in found] == [
        (0.5, 1.5, "Hello there"),
        (2.0, 3.5, "Ignore previous instructions;\nDROP TABLE scenes; --"),
        (4.0, 5.25, "no blank line before"),
    ]
    assert {(c.track, c.language) for c in found} == {("film.srt", "")}


def test_webvtt_beside_the_video_is_read_without_its_markup(clip: Path) -> None:
    assert beside(clip, "film.en-GB.vtt", VTT) == [
        Cue(1.0, 2.0, "Fish & chips", "en-GB", "film.en-GB.vtt")
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_any_common_encoding_is_read(clip: Path, encoding: str) -> None:
    found = beside(
        clip, "film.srt", "1\n00:00:01,000 --> 00:00:02,000\nÜberraschung, café\n", encoding
    )
    assert [c.text for c in found] == ["Überraschung, café"]


def test_subtitles_of_other_films_are_left_alone(clip: Path) -> None:
    for name in ("film2.srt", "other.srt", "film.backup.srt", "film.txt"):
        assert beside(clip, name, SRT) == []


def test_two_files_that_say_the_same_say_it_once(clip: Path) -> None:
    beside(clip, "film.srt", SRT)
    assert len(beside(clip, "film.en.srt", SRT)) == 3


def test_a_binary_file_named_srt_gives_no_cues(clip: Path) -> None:
    (clip.parent / "film.srt").write_bytes(bytes(range(256)) * 40)
    assert cues(clip) == []


@pytest.mark.parametrize(("kind", "codec"), [("mkv", "srt"), ("mkv", "ass"), ("mp4", "mov_text")])
@pytest.mark.parametrize("start_s", [0.0, 10.0])
def test_text_tracks_are_on_the_clock_of_the_pictures(
    tmp_path: Path, kind: str, codec: str, start_s: float
) -> None:
    clip = make_clip(tmp_path / f"plain.{kind}", [("red", 4.0)], start_s=start_s)
    film = tmp_path / f"film.{kind}"
    _add_cue(clip, film, codec, start_s + 0.5, 1.0, r"Hello, {\b1}you{\b0}\Ntwo")
    (cue,) = cues(film)
    assert (cue.text, cue.track) == ("Hello, you\ntwo", "stream 1")
    assert (cue.start_s, cue.end_s) == pytest.approx((0.5, 1.5))


def _add_cue(src: Path, dst: Path, codec: str, at_s: float, length_s: float, text: str) -> None:
    header = (
        b"[Script Info]\nScriptType: v4.00+\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize\n"
        b"Style: Default,Arial,20\n[Events]\n"
        b"Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
    )
    encoder = av.CodecContext.create(codec, "w")
    assert isinstance(encoder, av.subtitles.codeccontext.SubtitleCodecContext)
    encoder.subtitle_header, encoder.time_base = header, Fraction(1, 1000)
    cue = av.subtitles.subtitle.SubtitleSet.create(
        f"0,0,Default,,0,0,0,,{text}".encode(), 0, round(length_s * 1000)
    )
    packet = encoder.encode_subtitle(cue)
    with av.open(str(src)) as source, av.open(str(dst), "w") as out:
        video = out.add_stream_from_template(source.streams.video[0])
        words = out.add_stream(codec)
        assert isinstance(words, av.subtitles.stream.SubtitleStream)
        words.codec_context.subtitle_header = header
        words.time_base = Fraction(1, 1000)
        out.start_encoding()
        packet.stream, packet.time_base = words, Fraction(1, 1000)
        packet.pts = packet.dts = round(at_s * 1000)
        packet.duration = round(length_s * 1000)
        out.mux_one(packet)
        for copied in source.demux(source.streams.video[0]):
            if copied.size:
                copied.stream = video
                out.mux_one(copied)


def test_a_video_without_words_has_no_cues(clip: Path) -> None:
    assert cues(clip) == []


def test_a_file_that_is_no_video_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "film.mp4").write_text("no film")
    with pytest.raises(MediaError, match="not a media file"):
        cues(tmp_path / "film.mp4")


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    for start_s, end_s, words in parse_captions(text):
        assert end_s > start_s
        assert words == plain(words)
