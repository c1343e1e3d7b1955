"""Published annotation files become questions, whole, and say what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from reeldb.evaluation.benchmark import Question
from reeldb.evaluation.loaders import clipshots
from reeldb.evaluation.loaders.published import LOADERS, load
from reeldb.evaluation.loaders.videos import Videos
from reeldb.evaluation.metrics.shots import score
from reeldb.schema.errors import EvaluationError
from tests.evaluation.loaders import files


def _load(name: str, folder: Path) -> tuple[Question, ...]:
    format, write = files.FORMATS[name]
    return load(format, write(folder)).asked


def test_every_loader_has_a_file_in_its_form() -> None:
    assert {format for format, _ in files.FORMATS.values()} == set(LOADERS)


@pytest.mark.parametrize(("format", "write"), files.FORMATS.values(), ids=files.FORMATS)
def test_a_file_in_the_published_form_loads_and_lists_its_videos_as_missing(
    format: str, write: Callable[[Path], Path], tmp_path: Path
) -> None:
    benchmark = load(format, write(tmp_path), tmp_path)
    assert benchmark.questions() and benchmark.name == format
    assert benchmark.missing() == list(dict.fromkeys(q.video for q in benchmark.asked))


@pytest.mark.parametrize(("format", "write"), files.FORMATS.values(), ids=files.FORMATS)
def test_a_file_that_is_cut_short_is_an_error_that_names_it(
    format: str, write: Callable[[Path], Path], tmp_path: Path
) -> None:
    path = write(tmp_path)
    file = path if path.is_file() else next(path.iterdir())
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(EvaluationError) as caught:
        load(format, path)
    assert str(file) in str(caught.value) or file.name in str(caught.value)


def test_nextgqa_of_the_publisher_loads_whole_with_spans(shared_annotations: Path) -> None:
    questions = load("nextgqa", shared_annotations / "nextgqa_val.csv").asked
    assert len(questions) == 3358
    assert all(q.spans and q.duration_s for q in questions)
    assert len({q.video for q in questions}) == 567
    assert all(0 <= a < b <= (q.duration_s or 0) + 0.5 for q in questions for a, b in q.spans)


def test_nextqa_of_the_publisher_loads_whole(shared_annotations: Path) -> None:
    questions = load("nextqa", shared_annotations / "nextqa_val.csv").asked
    assert len(questions) == 4996
    assert Counter(q.kind for q in questions)["CW"] == 1924
    assert all(len(q.choices) == 5 and q.answer in q.choices for q in questions)


def test_other_files_of_publishers_load_whole(shared_annotations: Path) -> None:
    intent = load("intentqa", shared_annotations / "intentqa_val.csv").asked
    assert (len(intent), intent[0].answer) == (2044, "move left right to balance")
    moments = load("qvhighlights", shared_annotations / "qvhighlights_val.jsonl").asked
    assert len(moments) == 1550 and all(q.spans for q in moments)
    mme = load("videomme", shared_annotations / "videomme_output_test_template.json").asked
    assert (len(mme), mme[0].answer) == (9, "Berries.")
    shots = clipshots.read(shared_annotations / "clipshots_test.json")
    assert sum(len(s.cuts) for s in shots) == 4903
    assert sum(len(s.gradual) for s in shots) == 2301
    assert sum(len(s.transitions) for s in shots) == 7209


def test_nextqa_reads_answers_as_texts_or_as_numbers(tmp_path: Path) -> None:
    text = _load("nextqa", tmp_path)
    number = _load("intentqa", tmp_path)
    assert [q.answer for q in text] == [q.answer for q in number] == ["cat", "a vase"]
    assert text[0].id == "100_6" and text[0].question == "why does it bark, twice"
    assert number[1].more["lemma"] == "fall"


def test_nextgqa_takes_spans_from_the_file_beside(tmp_path: Path) -> None:
    questions = _load("nextgqa", tmp_path)
    assert questions[1].spans == ((12.1, 17), (20.0, 23.5))
    assert questions[1].duration_s == 34
    (tmp_path / "gsub_val.json").write_text('{"100": {"duration": 34, "location": {"6": []}}}')
    with pytest.raises(EvaluationError, match=r"gsub_val\.json, 100: no spans of the question 7"):
        load("nextgqa", tmp_path / "val.csv")


def test_egoschema_joins_the_answers_that_are_published(tmp_path: Path) -> None:
    every = _load("egoschema", tmp_path)
    assert [q.answer for q in every] == ["", "C does thing 3"]
    assert [q.id for q in load("egoschema", tmp_path).asked] == ["00594c2d"]


def test_videomme_reads_the_form_with_its_spare_commas(tmp_path: Path) -> None:
    (question,) = _load("videomme", tmp_path)
    assert question.choices == ("One,", "A. Two.", "3", "4")
    assert (question.answer, question.video) == ("A. Two.", "001")
    assert question.question == "How many, A, or B?"


def test_videomme_names_videos_by_their_youtube_id(tmp_path: Path) -> None:
    (question,) = _load("videomme_parquet", tmp_path)
    assert (question.video, question.answer) == ("fFjv93ACGo8", "Four.")
    assert question.more["duration"] == "long"


def test_longvideobench_keeps_questions_whose_answer_is_withheld(tmp_path: Path) -> None:
    known, withheld = _load("longvideobench", tmp_path)
    assert (known.answer, withheld.answer) == ("a coat", "")
    assert known.more["position"] == [854, 948] and not known.spans
    (column,) = _load("longvideobench_parquet", tmp_path)
    assert (column.choices, column.answer) == (("a hat", "a coat"), "a hat")


def test_lvbench_takes_choices_and_times_out_of_texts(tmp_path: Path) -> None:
    (question,) = _load("lvbench", tmp_path)
    assert question.question == "What year is shown?"
    assert (question.choices[0], question.answer) == ("1636", "1633")
    assert question.spans == ((15, 3679),)
    assert question.kind == "key information retrieval+reasoning"


def test_mlvu_reads_every_task_and_finds_videos_by_task(tmp_path: Path) -> None:
    choice, free = _load("mlvu", tmp_path)
    assert (choice.id, choice.video) == ("1_plotQA-0", "1_plotQA/12.mp4")
    assert (free.choices, free.more["scoring_points"]) == ((), ["a man"])
    for task in ("1_plotQA", "8_sub_scene"):
        (tmp_path / "video" / task).mkdir(parents=True)
        (tmp_path / "video" / task / "12.mkv").touch()
    videos = Videos.of(tmp_path)
    assert videos.find(choice.video) == tmp_path / "video" / "1_plotQA" / "12.mkv"
    assert videos.find(free.video) == tmp_path / "video" / "8_sub_scene" / "12.mkv"


def test_captions_and_summaries_keep_their_sentences(tmp_path: Path) -> None:
    (captions,) = _load("activitynet", tmp_path)
    assert captions.answer == "A tutorial is given. The coach helps."
    assert captions.more["sentences"] == ["A tutorial is given.", "The coach helps."]
    assert captions.spans == ((0.28, 55.15), (13.79, 54.32))
    (summary,) = _load("videoxum", tmp_path)
    assert summary.answer == "She stands. She dances."
    assert len(summary.more["vsum"][0]) == 10


def test_clipshots_gives_truths_in_the_times_of_pictures(tmp_path: Path) -> None:
    (shots,) = clipshots.read(files.clipshots(tmp_path))
    assert (shots.cuts, shots.gradual) == (((0, 1),), ((3, 6),))
    times_s = [0, 0.1, 0.2, 0.5, 0.6, 0.7, 1.5, 1.6, 1.7, 1.8]
    truth = shots.truth(tmp_path / "a.mp4", times_s)
    assert (truth.cuts, truth.either) == ((0.1,), ((0.5, 1.5),))
    assert score([0.1, 0.9], truth, 0.01).f1 == 1
    with pytest.raises(EvaluationError, match="has 8 pictures"):
        shots.truth(tmp_path / "a.mp4", times_s[:8])


def test_a_video_is_found_in_any_container_and_subfolder(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("100.webm", "R_360.0_510.0.MP4", "200.txt"):
        (tmp_path / "a" / "b" / name).touch()
    videos = Videos.of(tmp_path)
    assert videos.find("100") == videos.find("100.mp4") == tmp_path / "a" / "b" / "100.webm"
    assert videos.find("R_360.0_510.0") is not None
    assert videos.missing(["100", "200", "300", "200"]) == ["200", "300"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("cat,6,CW", "cow,6,CW"), r"val\.csv, line 2: the answer 'cow' is none of a0 to a4"),
        ((",a ball", ""), r"val\.csv, line 3: 12 values for 13 columns"),
        (("what falls", ""), r"val\.csv, line 3: 'question' is '', not a text"),
        (("qid", "number"), r"val\.csv, line 2: 'qid' is missing; it has video_id, frame_count"),
        (("a vase,7,TN", "a vase,6,TN"), r"val\.csv: 1 ids come twice, such as '100_6'"),
    ],
)
def test_a_bad_row_is_an_error_with_file_and_line(
    change: tuple[str, str], why: str, tmp_path: Path
) -> None:
    (tmp_path / "val.csv").write_text(files.NEXTQA.replace(*change))
    with pytest.raises(EvaluationError, match=why):
        load("nextqa", tmp_path / "val.csv")


def test_a_quote_that_never_closes_swallows_no_rows(tmp_path: Path) -> None:
    (tmp_path / "val.csv").write_text(files.NEXTQA.replace("dog,car", 'dog,"car'))
    with pytest.raises(EvaluationError, match=r"val\.csv, line 3: not CSV"):
        load("nextqa", tmp_path / "val.csv")


def test_a_text_may_hold_any_character_that_ends_lines_elsewhere(tmp_path: Path) -> None:
    odd = "why\u2028does\x85it\x0cbark"
    (tmp_path / "val.csv").write_text(files.NEXTQA.replace("why does it bark", odd), "utf-8")
    first, second = load("nextqa", tmp_path / "val.csv").asked
    assert first.question == f"{odd}, twice"
    assert second.id == "100_7"


@pytest.mark.parametrize(
    ("spans", "why"),
    [
        ("[[5, 2]]", "a span from 5.0 to 2.0 s"),
        ("[[NaN, 2]]", "no list of pairs of numbers"),
        ("[[1]]", "no list of pairs of numbers"),
        ("7", "no list of pairs of numbers"),
    ],
)
def test_spans_that_are_none_are_an_error(spans: str, why: str, tmp_path: Path) -> None:
    file = files.qvhighlights(tmp_path)
    file.write_text(file.read_text().replace("[[26, 30]]", spans))
    with pytest.raises(EvaluationError, match=r"\.jsonl, line 1: 'relevant_windows'") as caught:
        load("qvhighlights", file)
    assert why in str(caught.value)


def test_a_video_that_is_described_twice_is_an_error(tmp_path: Path) -> None:
    file = files.activitynet(tmp_path)
    video = file.read_text()[1:-1]
    file.write_text(f"{{{video}, {video}}}")
    with pytest.raises(EvaluationError, match="'v_uqiMw7tQ1Cc' comes twice"):
        load("activitynet", file)


def test_an_unknown_format_or_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="no benchmark format 'nextq'"):
        load("nextq", tmp_path)
    with pytest.raises(EvaluationError, match="not a folder of videos"):
        load("nextqa", files.nextqa(tmp_path), tmp_path / "gone")
    with pytest.raises(EvaluationError, match="No such file"):
        load("nextqa", tmp_path / "gone.csv")
