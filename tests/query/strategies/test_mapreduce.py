"""`mapreduce` on a film whose characters recur under other local names, and one local name of
which belongs to two characters; the server checks what it is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from reeldb.index.entities import remove_entities
from reeldb.query.named import named, named_captions, names_at
from reeldb.query.strategies.characters import Entity, folded, letters, merge, new_names
from reeldb.query.strategies.map_forms import intent_form, salient_form, same_form, split_form
from reeldb.schema.errors import BindError
from tests.query.story import Story, even, story
from tests.witness import Event, Seen

FILM = even(180, 10)
EVENTS = [  # Ann wears red, Bob blue; a stretch of memory is a minute
    Event(1, 10, 20, "Ann jumps.", ("ann",)),
    Event(1, 40, 50, "Ann jumps.", ("ann",)),
    Event(1, 70, 80, "Ann waves.", ("ann",)),
    Event(1, 90, 100, "Bob jumps.", ("bob",)),
    Event(1, 130, 140, "Ann jumps.", ("ann",)),
    Event(1, 150, 160, "Bob leaves.", ("bob",)),
]
LOCAL = {
    0: {"ann": "person_a"},
    1: {"bob": "person_a", "ann": "person_b"},
    2: {"ann": "x", "bob": "y"},
}
COATS = {"ann": "in a red coat", "bob": "in a blue coat"}


class Viewer:
    """What a faithful vision model says, read off the moments of the pictures it is sent."""

    def __init__(self, one: Story) -> None:
        self.one = one
        self.fails: Callable[[Seen], bool] = lambda _: False

    def __call__(self, seen: Seen) -> str | None:
        parts = (seen.schema or {}).get("properties", {})
        for keys, says in (
            ({"single"}, self.split),
            ({"detailed"}, self.dense),
            ({"context"}, self.intent),
            ({"combine"}, self.reduce),
            ({"local"}, self.goal),
            ({"finding"}, self.finding),
            ({"choice"}, self.answer),
            ({"characters"}, self.salient),
            ({"same"}, self.same),
        ):
            if keys <= set(parts):
                return "{broken" if self.fails(seen) else json.dumps(says(seen))
        return None

    def who(self, moment: Any) -> str | None:
        found = [e for e in EVENTS if moment and e.start_s <= moment[1] < e.end_s]
        return found[0].entities[0] if found else None

    def split(self, seen: Seen) -> Any:
        return {"description": "", "single": True, "starts": []}

    def salient(self, seen: Seen) -> Any:
        out: dict[str, Any] = {}
        for i, moment in enumerate(seen.moments, 1):
            who = self.who(moment)
            if who and moment:
                name = LOCAL[int(moment[1] // 60)][who]
                out[who] = {"name": name, "description": COATS[who], "picture": i}
        return {"characters": list(out.values())}

    def same(self, seen: Seen) -> Any:
        if seen.schema and seen.schema["properties"]["same"]["type"] == "boolean":
            return {"same": False}
        who = [self.who(m) for m in seen.moments]
        n = len(re.findall(r"^\[\d+\]", seen.prompt.split("</set_1>")[0], re.M))
        pairs = [(i, j) for i in range(n) for j in range(n, len(who)) if who[i] == who[j]]
        return {"same": [{"first": i + 1, "second": j + 1, "better": i + 1} for i, j in pairs]}

    def dense(self, seen: Seen) -> Any:
        memory = re.findall(r"^\[\d+\] (\w+):", seen.prompt, re.M)
        names = {self.who(m): n for m, n in zip(seen.moments, memory, strict=False)}
        shown = seen.moments[len(memory) :]
        texts = [e.text for e in EVENTS if any(m and e.start_s <= m[1] < e.end_s for m in shown)]
        detailed = " ".join(texts) or "Nothing happens."
        for who, name in names.items():
            detailed = detailed.replace(str(who).title(), f"<{name}>")
        return {
            "brief": detailed,
            "appeared": re.findall(r"<(\w+)>", detailed),
            "detailed": detailed,
        }

    def intent(self, seen: Seen) -> Any:
        hits = [m for m in seen.moments if m and self._jumps(m[1])]
        spans = [{"start_s": m[1], "end_s": m[1] + 1} for m in hits]
        return {"reasoning": f"jumps: {len(hits)}", "spans": spans, "context": False,
                "characters": ["in a red coat"], "confidence": 4}  # fmt: skip

    def _jumps(self, t_s: float) -> bool:
        return any(e.text == "Ann jumps." and e.start_s <= t_s < e.end_s for e in EVENTS)

    def reduce(self, seen: Seen) -> Any:
        spans = [
            {"video": 0, "start_s": float(a), "end_s": float(b)}
            for line in re.findall(r"spans: (.*?);", seen.prompt)
            for a, b in re.findall(r"\(([\d.]+), ([\d.]+)\)", line)
        ]
        total = sum(int(n) for n in re.findall(r"jumps: (\d+)", seen.prompt))
        return {"reasoning": f"in all {total}", "spans": spans, "characters": [],
                "scope": "global", "combine": "sum", "whole": True}  # fmt: skip

    def goal(self, seen: Seen) -> Any:
        return {"local": "who jumps here?", "global": "in which order?"}

    def finding(self, seen: Seen) -> Any:
        said = [e.text for e in self.one.witness.at(seen)]
        return {"finding": "; ".join(said) or "nothing", "confidence": 5}

    def answer(self, seen: Seen) -> Any:
        total = re.findall(r"in all (\d+)", seen.prompt)
        options = re.findall(r"^([A-Z])\) (.+)$", seen.prompt, re.M)
        if "first" in seen.prompt.split("<question>")[1]:
            texts: list[str] = re.findall(r"Ann \w+\.|Bob \w+\.", seen.prompt)
            letter = next((k for k, o in options if texts and o in texts[0]), "insufficient")
        else:
            letter = next((k for k, o in options if total and o == total[0]), "insufficient")
        return {"reason": "", "choice": letter, "answer": letter, "cites": [2], "confidence": 5}


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Story]:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "none.toml"))
    with story(tmp_path / "archive", [FILM], EVENTS) as one:
        one.witness.rules.append(Viewer(one))
        yield one


COUNT = "ASK 'how often does the one in the red coat jump?' CHOICES ('2', '3', '4') USING mapreduce"


@pytest.mark.parametrize("scenes", ["detected", "model"])
def test_counting_over_the_whole_film_is_exact(one: Story, scenes: str) -> None:
    row = one.row(f"{COUNT}(scenes => '{scenes}', segment_scenes => 5)")
    assert row["choice"] == {"letter": "B", "text": "3"}
    assert row["status"] == "complete"
    assert max(len(r.moments) for r in one.server.requests) <= 32
    assert all(0 <= e["start_s"] < e["end_s"] <= 180 for e in row["evidence"])
    assert row["evidence"]


def test_a_question_of_order_is_answered_from_the_looks_in_order(one: Story) -> None:
    row = one.row(
        "ASK 'who jumps first?' CHOICES ('Bob', 'Ann') USING mapreduce(characters => false)"
    )
    assert row["choice"]["text"] == "Ann"


def test_detected_scenes_reuse_the_captions_of_the_scene_rows(one: Story) -> None:
    one.engine.sql("SELECT caption FROM scenes")
    paid = one.server.calls
    row = one.row(f"{COUNT}(characters => false)")
    assert (row["captions_made"], row["captions_reused"]) == (0, 18)
    assert one.server.calls - paid == row["calls"]


def test_the_same_question_again_costs_nothing_and_another_keeps_the_captioning(one: Story) -> None:
    first = one.row(f"{COUNT}(scenes => 'model')")
    again = one.row(f"{COUNT}(scenes => 'model')")
    assert again["calls"] == 0 and again["answer"] == first["answer"]
    before = len(one.sent("detailed"))
    one.row("ASK 'who waves?' CHOICES ('2', '3') USING mapreduce(scenes => 'model')")
    assert len(one.sent("detailed")) == before == 18


def test_entities_are_right_across_local_names_and_one_name_of_two(one: Story) -> None:
    one.row(f"{COUNT}(scenes => 'model')")
    rows = one.engine.sql(
        "SELECT e.name, e.description, m.segment, m.local_name FROM entities e JOIN "
        "entity_mentions m ON m.entity_id = e.entity_id AND m.version = e.version ORDER BY ALL"
    ).fetchall()
    assert [r[1:] for r in rows] == [
        ("in a red coat", 0, "person_a"),
        ("in a red coat", 1, "person_b"),
        ("in a red coat", 2, "x"),
        ("in a blue coat", 1, "person_a"),
        ("in a blue coat", 2, "y"),
    ]
    assert [r[0] for r in rows] == ["person_a"] * 3 + ["person_b"] * 2


def test_captions_are_read_raw_or_with_names_and_a_version_is_undone(one: Story) -> None:
    one.row(f"{COUNT}(scenes => 'model')")
    ((video_id,),) = one.engine.sql("SELECT video_id FROM videos").fetchall()

    def texts(**how: Any) -> list[str]:
        found = named_captions(one.engine, video_id, **how)
        return [str(r["text"]) for r in found if "Nothing" not in str(r["text"])]

    raw = texts(names=False)
    assert raw[2:4] == ["<person_b> waves.", "<person_a> jumps."]
    assert raw[4:] == ["<x> jumps.", "<y> leaves."]
    assert texts()[2:] == [
        "<person_a> waves.", "<person_b> jumps.", "<person_a> jumps.", "<person_b> leaves.",
    ]  # fmt: skip
    ((version,),) = one.engine.sql("SELECT DISTINCT version FROM entities").fetchall()
    assert texts(version=version) == texts()
    with pytest.raises(BindError, match="no version"):
        texts(version="x")
    assert remove_entities(one.engine.archive, version) == 2
    assert texts() == raw
    assert one.engine.sql("SELECT count(*) FROM entity_mentions").fetchall() == [(0,)]
    with pytest.raises(BindError, match="no version"):
        remove_entities(one.engine.archive, version)


def test_the_first_scene_of_a_window_has_no_previous_caption(one: Story) -> None:
    one.row(f"{COUNT}(scenes => 'model', window_seconds => 20)")
    dense = one.sent("detailed")
    assert len(dense) == 9  # a window is a single scene, as the model says
    assert not any("<before>" in r.prompt for r in dense)


def test_one_failed_map_is_reported_and_the_rest_answer(one: Story) -> None:
    viewer: Any = one.witness.rules[0]
    viewer.fails = lambda seen: "context" in seen.schema["properties"] and seen.times_s[0] < 40
    row = one.row(f"{COUNT}(segment_scenes => 5, characters => false)")
    assert row["status"] == "partial"
    assert any("1 of 4 parts were not analysed" in n for n in row["notes"])
    assert row["answer"] == "2"  # the jump in the part that failed is not seen


def test_maps_run_at_once(one: Story) -> None:
    one.server.latency_s = 0.05
    one.row(f"{COUNT}(segment_scenes => 1, characters => false)")
    assert one.server.peak > 4


def test_a_budget_smaller_than_the_scope_is_partial(one: Story) -> None:
    row = one.row(f"{COUNT}(characters => false) BUDGET 10 CAPTIONS")
    assert row["status"] == "partial"
    assert row["captions_made"] == 10
    before = one.server.calls
    few = one.row("ASK 'who waves?' CHOICES ('2', '3') USING mapreduce BUDGET 10 CALLS")
    assert few["status"] in ("partial", "insufficient")
    assert one.server.calls - before <= 10


def test_an_answer_is_replayed_without_a_call(one: Story) -> None:
    row = one.row(f"{COUNT}(scenes => 'model')")
    calls = one.server.calls
    again = one.row(f"REPLAY '{row['id']}'")
    assert one.server.calls == calls
    assert (again["answer"], again["choice"]) == (row["answer"], row["choice"])


def test_the_bound_of_explain_holds(one: Story) -> None:
    lines = str(one.engine.sql(f"EXPLAIN {COUNT}(scenes => 'model')").fetchall())
    assert "mapreduce" in lines and one.server.calls == 0
    row = one.row(f"{COUNT}(scenes => 'model')")
    assert not any("budget ended" in n for n in row["notes"])


def test_without_a_language_model_captions_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REELDB_CONFIG", str(tmp_path / "none.toml"))
    with story(tmp_path / "archive", [FILM], EVENTS, chat="", vision="") as one:
        row = one.row("ASK 'Ann waves.' USING mapreduce")
        assert row["reasoner"] == "embedding"
        assert one.server.calls == row["captions_made"] == 18


# Pure parts


def entity(stretch: int, name: str) -> Entity:
    return Entity(f"{stretch}{name}", None, ((stretch, name),))  # type: ignore[arg-type]


def test_merging_takes_each_entity_once_and_keeps_the_better_picture() -> None:
    a, b = [entity(0, "p"), entity(0, "q")], [entity(1, "p"), entity(1, "r")]
    out = merge(a, b, [(0, 1, 1), (1, 1, 0), (0, 0, 0)])
    assert [e.members for e in out] == [((0, "p"), (1, "r")), ((0, "q"),), ((1, "p"),)]
    assert out[0].description == "1r"


@pytest.mark.parametrize("stretches", [1, 2, 5, 8])
def test_folding_makes_one_of_what_recurs_in_any_number_of_stretches(stretches: int) -> None:
    sets = [[entity(n, "cat"), entity(n, f"only{n}")] for n in range(stretches)]

    def compare(wanted: Sequence[Any]) -> list[list[tuple[int, int, int]]]:
        assert all(len(c.first) <= 16 and len(c.second) <= 16 for c in wanted)
        return [
            [
                (i, j, 0)
                for i, x in enumerate(c.first)
                for j, y in enumerate(c.second)
                if x.members[0][1] == y.members[0][1]
            ]
            for c in wanted
        ]

    out = folded(sets, compare)
    assert len(out) == 1 + stretches
    assert [n for n, _ in out[0].members] == list(range(stretches))


def test_new_names_are_unique_and_tell_the_kind() -> None:
    found = [entity(0, "person_b"), entity(0, "dog_a"), entity(1, "person_a"), entity(1, "car 2")]
    assert new_names(found) == ["person_a", "dog_a", "person_b", "car_a"]
    assert letters(27) == "ab"


def test_names_apply_by_segment_and_all_at_once() -> None:
    mentions = [("p", "person_a", 0.0, 60.0), ("p", "person_b", 60.0, 120.0)]
    assert names_at(mentions, 55, 65) == {"p": "person_b"}
    assert named("<p> and <q>", names_at(mentions, 0, 10)) == "<person_a> and <q>"
    assert named("a < b > c", {" b ": "x"}) == "a <x> c"


def test_forms_take_nothing_that_was_not_shown() -> None:
    assert split_form(10).read('{"single": false, "starts": [1, 4, 99, "7"]}') == (3, 6)
    assert split_form(10).read('{"single": true, "starts": [4]}') == ()
    assert split_form(10).read("no idea") is None
    same = same_form(2, 2).read(
        '{"same": [{"first": 1, "second": 3, "better": 3}, {"first": 1, "second": 4, "better": 1},'
        ' {"first": 3, "second": 1, "better": 1}, {"first": 2, "second": 9, "better": 2}]}'
    )
    assert same == ((0, 0, 1),)
    found = salient_form(3).read(
        '{"characters": [{"name": "<dog_a>", "description": "a dog", "picture": 2}, {"name": "x",'
        ' "picture": 9}, {"name": "<script>!", "picture": 1}, {"name": "dog_a", "picture": 1}]}'
    )
    assert found is not None and [(c.name, c.picture) for c in found] == [("dog_a", 1)]
    intent = intent_form(0).read(
        "{'spans': [{'start_s': 1, 'end_s': 2}, {'start_s': 5, 'end_s': 2}, {'start_s': 'x'}], "
        "'confidence': 9}"
    )
    assert intent is not None and intent.spans == ((0, 1.0, 2.0),) and intent.confidence == 5
