"""Tiny annotation files, each in the form its publisher uses. The rows are our own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

NEXTQA = (
    "video_id,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4\n"
    '100,369,640,480,"why does it bark, twice",cat,6,CW,cat,rain,bell,dog,car\n'
    "100,369,640,480,what falls,a vase,7,TN,a cup,a vase,snow,a book,a ball\n"
)


def nextqa(folder: Path) -> Path:
    return _text(folder / "val.csv", NEXTQA)


def nextgqa(folder: Path) -> Path:
    located = {"6": [[1.2, 5.8]], "7": [[12.1, 17], [20.0, 23.5]]}
    _json(folder / "gsub_val.json", {"100": {"duration": 34, "location": located, "fps": 29.97}})
    return nextqa(folder)


def intentqa(folder: Path) -> Path:
    header, first, second = NEXTQA.splitlines()
    rows = [
        header + ",action,lemma,lemma_id",
        first.replace(",cat,6", ",0,6") + ",barking,bark,130",
        second.replace(",a vase,7", ",1,7") + ",falling,fall,131",
    ]
    return _text(folder / "val.csv", "\n".join(rows) + "\n")


def egoschema(folder: Path) -> Path:
    options = {f"option {i}": f"C does thing {i}" for i in range(5)}
    rows = [
        {"q_uid": uid, "google_drive_id": "x", "question": "What does C do?", **options}
        for uid in ("001934bb", "00594c2d")
    ]
    _json(folder / "subset_answers.json", {"00594c2d": 3})
    return _json(folder / "questions.json", rows)


def videomme(folder: Path) -> Path:
    text = """[{"video_id": "001", "duration": "short", "domain": "Knowledge",
      "sub_category": "Law", "questions": [{"question_id": "001-1", "task_type": "Counting Problem",
      "question": "How many, A, or B?", "options": ["A. One,", "B. A. Two.", "C. 3", "D. 4"],
      "answer": "B", "response": "C. 3",},],},]"""
    return _text(folder / "template.json", text)


def videomme_parquet(folder: Path) -> Path:
    row = {
        "video_id": "001", "duration": "long", "domain": "Knowledge", "sub_category": "Law",
        "url": "https://www.youtube.com/watch?v=fFjv93ACGo8", "videoID": "fFjv93ACGo8",
        "question_id": "001-1", "task_type": "Counting Problem", "question": "How many?",
        "options": ["A. One.", "B. Two.", "C. Three.", "D. Four."], "answer": "D",
    }  # fmt: skip
    return _parquet(folder / "test-00000-of-00001.parquet", row)


LVB = {
    "video_id": "86CxyhFV9MI", "question": "What is worn?", "id": "86CxyhFV9MI_0",
    "video_path": "86CxyhFV9MI.mp4", "subtitle_path": "86CxyhFV9MI_en.json",
    "duration_group": 600, "starting_timestamp_for_subtitles": 0, "duration": 190.16,
    "question_category": "TOS", "topic_category": "NP-News-Programs",
}  # fmt: skip


def longvideobench(folder: Path) -> Path:
    row = LVB | {"candidates": ["a hat", "a coat"], "position": [854, 948], "level": "L1"}
    return _json(folder / "lvb_val.json", [row | {"correct_choice": 1}, row | {"id": "x_1"}])


def longvideobench_parquet(folder: Path) -> Path:
    options = {f"option{i}": o for i, o in enumerate(["a hat", "a coat", "N/A", "N/A", "N/A"])}
    return _parquet(folder / "validation.parquet", LVB | options | {"correct_choice": 0})


def lvbench(folder: Path) -> Path:
    asked = "What year is shown?\n(A) 1636\n(B) 1366\n(C) 1363\n(D) 1633"
    entry = {
        "uid": "12", "question": asked, "answer": "D", "time_reference": "00:15-61:19",
        "question_type": ["key information retrieval", "reasoning"],
    }  # fmt: skip
    video = {"key": "Cm73ma6Ibcs", "type": "cartoon", "video_info": {"fps": 24.0}, "qa": [entry]}
    return _text(folder / "video_info.meta.jsonl", json.dumps(video) + "\n")


def mlvu(folder: Path) -> Path:
    choice = {
        "video": "12.mp4", "duration": 246, "question": "What colour is it?",
        "candidates": ["Yellow", "Red"], "answer": "Red", "question_type": "plotQA",
    }  # fmt: skip
    free = {
        "video": "12.mp4", "duration": 5632.83, "question": "Describe the scene.",
        "answer": "A man walks.", "question_type": "subPlot", "scoring_points": ["a man"],
    }  # fmt: skip
    (folder / "json").mkdir()
    _json(folder / "json" / "1_plotQA.json", [choice])
    return _json(folder / "json" / "8_sub_scene.json", [free]).parent


def qvhighlights(folder: Path) -> Path:
    row = {
        "qid": 7803, "query": "A man walks inside.", "duration": 150, "vid": "R_360.0_510.0",
        "relevant_clip_ids": [13, 14], "saliency_scores": [[4, 4, 2], [3, 4, 2]],
        "relevant_windows": [[26, 30]],
    }  # fmt: skip
    return _text(folder / "highlight_val_release.jsonl", json.dumps(row) + "\n")


def activitynet(folder: Path) -> Path:
    video = {
        "duration": 55.15, "timestamps": [[0.28, 55.15], [13.79, 54.32]],
        "sentences": ["A tutorial is given.", "  The coach helps. "],
    }  # fmt: skip
    return _json(folder / "val_1.json", {"v_uqiMw7tQ1Cc": video})


def videoxum(folder: Path) -> Path:
    video = {
        "video_id": "v_QOlSCBRmfWY", "duration": 3.0, "sampled_frames": 3,
        "timestamps": [[0.5, 2.0], [1.0, 3.0]], "tsum": ["She stands.", "She dances."],
        "vsum": [[[0.5, 1.0]] * 10, [[1.5, 2.0]] * 10], "vsum_onehot": [[1, 0, 1]] * 10,
    }  # fmt: skip
    return _json(folder / "test_videoxum.json", [video])


def clipshots(folder: Path) -> Path:
    shots = {"a.mp4": {"transitions": [[0, 1], [3, 6], [8, 8]], "frame_num": 10.0}}
    return _json(folder / "test.json", shots)


FORMATS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    write.__name__: (write.__name__.partition("_")[0], write)
    for write in (
        nextqa, nextgqa, intentqa, egoschema, videomme, videomme_parquet, longvideobench,
        longvideobench_parquet, lvbench, mlvu, qvhighlights, activitynet, videoxum,
    )
}  # fmt: skip


def _text(file: Path, text: str) -> Path:
    file.write_text(text, "utf-8")
    return file


def _json(file: Path, value: object) -> Path:
    return _text(file, json.dumps(value))


def _parquet(file: Path, row: Mapping[str, object]) -> Path:
    pq.write_table(pa.Table.from_pylist([row]), file)
    return file
