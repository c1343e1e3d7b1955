from __future__ import annotations

from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from tests.clips import Picture
from tests.timecode import read_stamp, stamped, stamped_clip

NOISE = np.random.default_rng(3).integers(0, 256, (360, 640, 3), np.uint8)


def _rgb(frame: av.VideoFrame) -> Picture:
    return frame.to_ndarray(format="rgb24").astype(np.uint8)


@pytest.mark.parametrize("width", [200, 320, 768])
@pytest.mark.parametrize("t_s", [0.0, 12.345, 16777.215, 268435.455])
def test_a_strip_survives_scaling_and_jpeg(width: int, t_s: float) -> None:
    picture = cv2.resize(
        stamped(NOISE, 51_234, t_s), (width, width * 9 // 16), interpolation=cv2.INTER_AREA
    )
    _, jpeg = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 60])
    assert read_stamp(cv2.imdecode(jpeg, cv2.IMREAD_COLOR)) == (51_234, t_s)  # type: ignore[arg-type]


@pytest.mark.parametrize("shade", [0, 128, 255])
def test_a_picture_without_a_strip_says_nothing(shade: int) -> None:
    assert read_stamp(np.full((120, 160, 3), shade, np.uint8)) is None
    assert read_stamp(NOISE) is None
    assert read_stamp(NOISE[:10, :10]) is None


def test_each_picture_of_a_clip_knows_its_time(tmp_path: Path) -> None:
    path = stamped_clip(tmp_path / "a.mp4", 7, [("red", 1.0), ("gray", 1.0)], fps=10)
    with av.open(str(path)) as container:
        pictures = [_rgb(f) for f in container.decode(video=0)]
    assert [read_stamp(p) for p in pictures] == [(7, i / 10) for i in range(20)]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        stamped(NOISE, 65_536, 0.0)
