from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange

from reeldb.media.convert import fit, small_bgr, to_rgb
from reeldb.media.decode import Decoding
from reeldb.media.jpeg import decode_jpeg, encode_jpeg, read_picture, resize_max
from reeldb.media.orient import Orientation
from reeldb.media.probe import probe
from reeldb.schema.errors import MediaError
from tests.clips import make_clip, near, solid


def frames(path: Path) -> Iterator[VideoFrame]:
    with Decoding(path) as decoding:
        yield from (shown.frame for shown in decoding)


@pytest.mark.parametrize("colour", ["red", "lime", "blue", "yellow", "gray", "white", "black"])
@pytest.mark.parametrize("pix_fmt", ["yuv420p", "yuv444p", "yuv420p10le"])
def test_colours_come_out_as_they_went_in(tmp_path: Path, colour: str, pix_fmt: str) -> None:
    clip = make_clip(tmp_path / "clip.mp4", [(colour, 0.1)], pix_fmt=pix_fmt, size=(322, 242))
    frame = next(frames(clip))
    assert near(to_rgb(frame), colour, 4)
    assert near(small_bgr(frame)[:, :, ::-1], colour, 4)


def test_full_range_is_not_taken_for_limited_range() -> None:
    planes = np.concatenate([np.full((120, 160), 230), np.full((60, 160), 128)]).astype(np.uint8)
    frame = VideoFrame.from_ndarray(planes, "yuv420p")
    frame.color_range = ColorRange.JPEG
    assert near(to_rgb(frame), (230, 230, 230), 2)
    frame.color_range = ColorRange.MPEG
    assert near(to_rgb(frame), (249, 249, 249), 2)


def test_the_matrix_the_frame_names_is_used() -> None:
    frame = VideoFrame.from_ndarray(solid("lime"), "rgb24").reformat(
        format="yuv444p", dst_colorspace="itu709"
    )
    frame.colorspace = 1  # BT.709
    right = to_rgb(frame)
    frame.colorspace = 5  # BT.601
    assert near(right, "lime", 4)
    assert not near(to_rgb(frame), "lime", 4)


def test_a_matrix_that_does_not_exist_is_taken_for_the_usual_one(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "clip.mp4", [("lime", 0.1)])
    frame = next(frames(clip))
    frame.colorspace = 12  # no scaler knows it
    assert near(to_rgb(frame), "lime", 4)
    assert near(small_bgr(frame), "lime", 4)


def test_odd_sizes_keep_every_row_and_column(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "odd.mp4", [("red", 0.1)], pix_fmt="yuv444p", size=(321, 241))
    frame = next(frames(clip))
    assert to_rgb(frame).shape == (241, 321, 3)
    assert small_bgr(frame, 100).shape == (75, 100, 3)


def test_pictures_with_alpha_are_shown_over_black(tmp_path: Path) -> None:
    rgba = np.zeros((120, 160, 4), np.uint8)
    rgba[:, :, 0], rgba[:, :, 3] = 255, 128
    with av.open(str(tmp_path / "clip.mkv"), "w") as out:
        stream = out.add_stream("ffv1", rate=25)
        stream.width, stream.height, stream.pix_fmt = 160, 120, "bgra"
        out.mux(stream.encode(VideoFrame.from_ndarray(rgba, "rgba")))
        out.mux(stream.encode(None))
    frame = next(frames(tmp_path / "clip.mkv"))
    assert probe(tmp_path / "clip.mkv").alpha
    assert near(to_rgb(frame), (128, 0, 0), 2)
    assert near(small_bgr(frame), (0, 0, 128), 2)


def test_sizes_fit_the_longest_side_after_turning() -> None:
    frame = VideoFrame.from_ndarray(solid("red", (640, 480)), "rgb24")
    turned = Orientation(90)
    assert to_rgb(frame, turned).shape == (640, 480, 3)
    assert to_rgb(frame, turned, max_side=64).shape == (64, 48, 3)
    assert to_rgb(frame, turned, size=(30, 40)).shape == (40, 30, 3)
    assert to_rgb(frame, max_side=4000).shape == (480, 640, 3)
    assert fit(8000, 10, 100) == (100, 1)


def test_a_small_picture_is_like_the_shrunk_one(tmp_path: Path) -> None:
    ramp = np.zeros((480, 640, 3), np.uint8)
    ramp[:, :, 0] = np.linspace(0, 255, 640, dtype=np.uint8)
    frame = VideoFrame.from_ndarray(ramp, "rgb24").reformat(format="yuv420p")
    small, large = small_bgr(frame, 128)[:, :, ::-1], resize_max(to_rgb(frame), 128)
    assert np.abs(small.astype(int) - large).mean() < 3


def test_jpeg_keeps_colours_and_refuses_rubbish() -> None:
    image = solid("orange")
    assert near(decode_jpeg(encode_jpeg(image)), "orange", 6)
    assert len(encode_jpeg(image, 30)) < len(encode_jpeg(image, 95))
    for rubbish in (b"", b"no picture", encode_jpeg(image)[:20]):
        with pytest.raises(MediaError):
            decode_jpeg(rubbish)


def test_a_picture_file_is_read_as_rgb(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(encode_jpeg(solid("blue")))
    assert near(read_picture(tmp_path / "a.jpg"), "blue", 6)
    (tmp_path / "b.png").write_text("text")
    for bad in ("b.png", "missing.png"):
        with pytest.raises(MediaError, match=bad):
            read_picture(tmp_path / bad)
