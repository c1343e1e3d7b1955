"""Options that stand word for word in what was read or heard."""

from __future__ import annotations

from pathlib import Path

import pytest

import reeldb
from reeldb.query.reasoners.mentioned import mentioned
from tests.clips import make_clip

PROJECTS = ["the Peach project", "the Orange project"]


@pytest.mark.parametrize(
    "options, text, there",
    [
        (PROJECTS, "THE PEACH PROJECT PRESENTS", [True, False]),
        (PROJECTS, "a project", [False, False]),  # what options share tells nothing
        (PROJECTS, "peach and orange", [True, True]),
        (PROJECTS, "ThePeachProject", [True, False]),  # a reader of text loses spaces
        (["41", "42"], "no. 42", [False, True]),
        (["41", "42"], "4211", [False, False]),  # a short word is never a part of another
        (["opens the door", "shuts the door"], "the door", [False, False]),
        (["Ton Roosendaal", "Sacha Goedegebure"], "Ton somebody", [False, False]),
        (["a cat", "a cat"], "a cat", [False, False]),
        (["é", "e"], "É", [True, False]),
        (PROJECTS, "", [False, False]),
    ],
)
def test_an_option_is_named_by_all_its_own_words(
    options: list[str], text: str, there: list[bool]
) -> None:
    assert mentioned(options, [text])[:, 0].tolist() == there


def test_without_texts_nothing_is_named() -> None:
    assert mentioned(PROJECTS, []).shape == (2, 0)


def test_a_name_that_is_said_counts_for_more_than_a_likeness(tmp_path: Path) -> None:
    make_clip(tmp_path / "a.mp4", [("red", 3.0), ("blue", 2.0)])
    said = "1\n00:00:03,000 --> 00:00:05,000\nThe winner is Rosalind.\n"
    (tmp_path / "a.srt").write_text(said, encoding="utf-8")
    with reeldb.open(tmp_path / "archive") as db:
        db.add(tmp_path / "a.mp4", embedder="fake:embedder")
        db.set_model("captioner", "fake:captioner")
        db.set_model("text_embedder", "fake:text_embedder")
        for choices in (["blue", "Rosalind"], ["Rosalind", "blue"]):
            answer = db.ask("who wins?", choices=choices, strategy="uniform")
            assert answer.choice is not None and answer.choice.text == "Rosalind"
            assert answer.reasoner == "embedding" and answer.evidence[0].start_s >= 3
