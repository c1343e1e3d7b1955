"""Measures of texts, against the examples that their libraries publish."""

import pytest

from reeldb.evaluation.metrics.bleu import bleu
from reeldb.evaluation.metrics.cider import cider
from reeldb.evaluation.metrics.meteor import meteor
from reeldb.evaluation.metrics.rouge import rouge
from reeldb.schema.errors import EvaluationError

CIDER = [2.89237186, 1.55011057, 0.0]
TEXTS = ["a man rides a brown horse on the beach", "two dogs play with a ball", "rain"]
REFERENCES = [
    ["a man is riding a horse on a beach", "someone rides a brown horse near the sea"],
    ["two dogs are playing with a red ball", "dogs play", "a cat sleeps"],
    ["it rains on the street"],
]


def test_rouge_gives_the_example_of_its_readme() -> None:
    pytest.importorskip("rouge_score")
    scores = rouge("The quick brown dog jumps on the log.", [FOX])
    assert (scores["rouge1"].precision, scores["rouge1"].recall) == pytest.approx((0.75, 2 / 3))
    assert scores["rouge1"].f1 == pytest.approx(0.7058823529, abs=1e-4)
    assert (scores["rougeL"].precision, scores["rougeL"].recall) == pytest.approx((0.625, 5 / 9))
    assert scores["rougeL"].f1 == pytest.approx(0.5882352941, abs=1e-4)
    assert scores["rouge2"].f1 == pytest.approx(2 / 15 * 2, abs=1e-4)


FOX = "The quick brown fox jumps over the lazy dog"


def test_rouge_takes_the_best_of_several_references() -> None:
    pytest.importorskip("rouge_score")
    assert rouge("dogs play", ["a cat", "the dog plays"])["rouge1"].recall == pytest.approx(2 / 3)


def test_bleu_gives_the_example_of_sacrebleu_s_readme() -> None:
    pytest.importorskip("sacrebleu")
    texts = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
    references = [
        ["The dog bit the man.", "The dog had bit the man."],
        ["It was not unexpected.", "No one was surprised."],
        ["The man bit him first.", "The man had bitten the dog."],
    ]
    assert bleu(texts, references) == pytest.approx(0.48530827, abs=1e-4)


def test_bleu_takes_as_many_references_as_each_text_has() -> None:
    pytest.importorskip("sacrebleu")
    assert bleu(["the cat sat down there", "a b c d"], [["x", "a cat sat down there"], ["a b c d"]])


HYPOTHESIS = (
    "It is a guide to action which ensures that the military always obeys the commands of the party"
)
NLTK_REFERENCES = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the "
    "command of the Party",
    "It is the practical guide for the army always to heed the directions of the party",
]


def test_meteor_gives_the_example_of_nltk() -> None:
    pytest.importorskip("nltk")
    try:
        score = meteor(HYPOTHESIS, NLTK_REFERENCES)
    except EvaluationError as error:
        pytest.skip(str(error))
    assert score == pytest.approx(0.6944, abs=1e-4)


def test_meteor_without_synonyms_matches_words_and_stems() -> None:
    pytest.importorskip("nltk")
    # No pair of the example matches by synonym alone, so its figure is the same.
    score = meteor(HYPOTHESIS, NLTK_REFERENCES, synonyms=False)
    assert score == pytest.approx(0.6944, abs=1e-4)
    assert meteor("dogs played", ["dog playing"], synonyms=False) == pytest.approx(1 - 0.5 / 8)
    assert meteor("a feline", ["a cat"], synonyms=False) == pytest.approx(0.5 * (1 - 0.5))


def test_meteor_says_where_synonyms_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pytest.importorskip("nltk.data")
    monkeypatch.setattr(data, "path", [])
    with pytest.raises(EvaluationError, match=r"nltk\.downloader wordnet"):
        meteor("a cat", ["a feline"])


def test_cider_gives_what_the_published_script_gives() -> None:
    # Cider().compute_score of pycocoevalcap 1.2 on the same words.
    assert cider(TEXTS, REFERENCES) == pytest.approx(CIDER, abs=1e-4)


def test_cider_agrees_with_the_published_script_where_it_is_installed() -> None:
    script = pytest.importorskip("pycocoevalcap.cider.cider")
    truths = dict(enumerate(REFERENCES))
    _, scores = script.Cider().compute_score(truths, {i: [t] for i, t in enumerate(TEXTS)})
    assert cider(TEXTS, REFERENCES) == pytest.approx(list(scores), abs=1e-9)


def test_cider_of_a_text_without_reference_is_refused() -> None:
    with pytest.raises(EvaluationError, match="at least one reference"):
        cider(["a"], [[]])


def test_a_measure_whose_library_is_missing_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sacrebleu", None)
    with pytest.raises(EvaluationError, match=r"pip install 'reeldb\[eval\]'"):
        bleu(["a"], [["a"]])
