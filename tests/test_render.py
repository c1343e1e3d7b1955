from __future__ import annotations

import csv
import io
import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from reeldb.render import FORMATS, escaped, table, text, width

anything = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(),
    st.lists(st.text(), max_size=3),
)  # fmt: skip


@given(st.text())
def test_escaped_text_holds_no_control_characters(value: str) -> None:
    assert not {unicodedata.category(c) for c in escaped(value)} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_an_escape_sequence_in_a_name_is_shown_not_obeyed() -> None:
    assert "\x1b" not in table(["video"], [["\x1b[31mred\x1b[0m.mp4"]])


def test_direction_overrides_are_shown_escaped() -> None:
    assert escaped("a\u202egpj.exe") == "a\\u202egpj.exe"


@given(st.lists(st.tuples(anything, anything), max_size=5))
def test_every_format_writes_any_value(rows: list[tuple[object, object]]) -> None:
    for form in FORMATS:
        assert isinstance(text(form, ["a", "b"], rows), str)


@given(st.lists(st.tuples(st.integers(), st.text()), max_size=5))
def test_json_and_ndjson_hold_the_same_objects(rows: list[tuple[int, str]]) -> None:
    whole = json.loads(text("json", ["n", "t"], rows))
    lines = [json.loads(line) for line in text("ndjson", ["n", "t"], rows).splitlines() if line]
    assert whole == lines == [{"n": n, "t": t} for n, t in rows]


def test_csv_has_a_header_and_quotes_what_needs_it() -> None:
    out = text("csv", ["video", "text"], [["a,b.mp4", 'he said "no"\nthen left']])
    assert list(csv.reader(io.StringIO(out))) == [
        ["video", "text"],
        ["a,b.mp4", 'he said "no"\nthen left'],
    ]


def test_a_column_name_that_comes_twice_keeps_both_values() -> None:
    assert json.loads(text("json", ["n", "n"], [[1, 2]])) == [{"n": 1, "n_2": 2}]


def test_json_holds_no_control_character_and_reads_back() -> None:
    value = "bell\x07 c1\x9b del\x7f line\u2028 over\u202e"
    out = text("ndjson", ["t"], [[value]])
    assert out.isprintable()
    assert json.loads(out) == {"t": value}


def test_nan_is_null_in_json() -> None:
    assert text("ndjson", ["x"], [[float("nan")]]) == '{"x": null}'


def test_a_table_fits_the_terminal_and_counts_wide_characters() -> None:
    lines = table(["a", "b"], [["日本語" * 40, "x"]], columns_wide=60).splitlines()
    assert max(width(line) for line in lines) <= 60
    assert "…" in lines[2]


def test_a_table_without_rows_still_shows_its_columns() -> None:
    assert table(["video", "n"], []).splitlines()[0].split() == ["video", "n"]
