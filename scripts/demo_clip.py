"""Makes media/clips/big_buck_bunny_excerpt.mp4 from the whole film.

    python scripts/demo_clip.py big_buck_bunny.mp4 media/clips/big_buck_bunny_excerpt.mp4

Joins three excerpts of the film at 640 x 360 pixels, 24 pictures a second, without sound.
"""

from __future__ import annotations

import sys
from fractions import Fraction

import av
from av.video.reformatter import Interpolation, VideoReformatter
from av.video.stream import VideoStream

from reeldb.media.decode import Decoding

EXCERPTS_S = ((15.75, 31.0), (37.0, 56.0833), (75.5417, 99.75))
SIZE = (640, 360)
RATE = 24
OPTIONS = {"crf": "25", "preset": "veryslow", "tune": "animation"}
SLACK_S = 0.01


def make(film: str, clip: str) -> None:
    """Writes the clip; times are seconds of the film from its first picture."""
    reformatter = VideoReformatter()
    with av.open(clip, "w", options={"movflags": "faststart"}) as out, Decoding(film) as pictures:
        stream = out.add_stream("libx264", rate=RATE, options=OPTIONS)
        assert isinstance(stream, VideoStream)
        stream.codec_context.width, stream.codec_context.height = SIZE
        stream.codec_context.pix_fmt = "yuv420p"
        stream.codec_context.gop_size = 5 * RATE
        out.metadata["title"] = "Big Buck Bunny (excerpt)"
        out.metadata["copyright"] = "(c) copyright 2008, Blender Foundation / www.bigbuckbunny.org"
        out.metadata["comment"] = "CC-BY 3.0; cut, scaled and re-encoded; see ATTRIBUTION.txt"
        written = 0
        for shown in pictures:
            if shown.t_s > EXCERPTS_S[-1][1]:
                break
            if any(a - SLACK_S <= shown.t_s < b - SLACK_S for a, b in EXCERPTS_S):
                frame = reformatter.reformat(
                    shown.frame, *SIZE, "yuv420p", interpolation=Interpolation.LANCZOS
                )
                frame.pts, frame.time_base = written, Fraction(1, RATE)
                frame.pict_type = 0
                out.mux(stream.encode(frame))
                written += 1
        out.mux(stream.encode(None))


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2])
