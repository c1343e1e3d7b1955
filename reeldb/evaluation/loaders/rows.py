"""Rows out of CSV, JSON, JSONL and Parquet files, each knowing where it stands."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path
from typing import Any

from reeldb.schema.errors import EvaluationError

LETTERS = "ABCDEFGHIJ"
_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


@dataclass(frozen=True, slots=True)
class Row:
    """One row and where it stands. What is asked of it raises EvaluationError where it lacks it."""

    values: Mapping[str, Any]
    where: str

    def wrong(self, why: str) -> EvaluationError:
        return EvaluationError(f"{self.where}: {why}")

    def get(self, name: str) -> Any:
        value = self.values.get(name)
        if value is None:
            raise self.wrong(f"{name!r} is missing; it has {', '.join(map(str, self.values))}")
        return value

    def text(self, name: str) -> str:
        """A text that is not empty; numbers as they are written."""
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
            raise self.wrong(f"{name!r} is {value!r}, not a text")
        return str(value)

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.get(name)
        if not isinstance(value, list) or not all(isinstance(v, str | int | float) for v in value):
            raise self.wrong(f"{name!r} is {value!r}, not a list of texts")
        return tuple(map(str, value))

    def number(self, name: str) -> float:
        value = self.get(name)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = nan
        if not isfinite(number):
            raise self.wrong(f"{name!r} is {value!r}, not a number")
        return number

    def pairs(self, name: str) -> tuple[tuple[float, float], ...]:
        """Pairs of numbers, as published."""
        value = self.get(name)
        try:
            pairs = tuple((float(a), float(b)) for a, b in value)
        except (TypeError, ValueError):
            pairs = ((nan, nan),)
        if not all(isfinite(a) and isfinite(b) for a, b in pairs):
            raise self.wrong(f"{name!r} is {value!r}, no list of pairs of numbers")
        return pairs

    def spans(self, name: str) -> tuple[tuple[float, float], ...]:
        """Pairs of seconds, none of which ends before it starts."""
        pairs = self.pairs(name)
        for start_s, end_s in pairs:
            if not 0 <= start_s <= end_s:
                raise self.wrong(f"{name!r} has a span from {start_s} to {end_s} s")
        return pairs

    def rows(self, name: str) -> list[Row]:
        """The objects of a list."""
        return objects(self.get(name), f"{self.where}, {name}")

    def choice(self, choices: Sequence[str], index: object) -> str:
        """The choice of a number from 0. Raises EvaluationError where there is none."""
        try:
            number = int(str(index))
        except ValueError:
            number = -1
        if not 0 <= number < len(choices):
            raise self.wrong(f"the answer {index!r} is none of {len(choices)} choices")
        return choices[number]

    def letter(self, choices: Sequence[str], letter: str) -> str:
        """The choice of a letter."""
        found = LETTERS.find(letter.strip().upper()) if len(letter.strip()) == 1 else -1
        if not 0 <= found < len(choices):
            raise self.wrong(f"the answer {letter!r} is none of {LETTERS[: len(choices)]}")
        return choices[found]

    def rest(self, *names: str) -> dict[str, Any]:
        """What these columns hold, those that are not there left out."""
        return {n: self.values[n] for n in names if self.values.get(n) not in (None, "")}


def objects(value: object, where: str) -> list[Row]:
    """The rows of a list of JSON objects, numbered from 1."""
    if not isinstance(value, list):
        raise EvaluationError(f"{where}: not a list")
    for number, one in enumerate(value, 1):
        if not isinstance(one, dict):
            raise EvaluationError(f"{where}, entry {number}: not an object")
    return [Row(one, f"{where}, entry {number}") for number, one in enumerate(value, 1)]


def csv_rows(file: Path) -> Iterator[Row]:
    """The rows of a CSV file with a header; a row of another width is an error."""
    lines = csv.reader(io.StringIO(read(file), newline=""), strict=True)
    try:
        header = next(lines, None)
        if not header:
            raise EvaluationError(f"{file}: no header")
        for line in lines:
            where = f"{file}, line {lines.line_num}"
            if len(line) != len(header):
                raise EvaluationError(f"{where}: {len(line)} values for {len(header)} columns")
            yield Row(dict(zip(header, line, strict=True)), where)
    except csv.Error as error:
        raise EvaluationError(f"{file}, line {lines.line_num}: not CSV: {error}") from error


def json_value(file: Path) -> Any:
    """The file's JSON value. Commas before a closing bracket, as published ones have, are read."""
    text = read(file)
    try:
        return _json(text, str(file))
    except EvaluationError as error:
        try:
            return _json(_COMMA.sub(lambda m: m[1] or "", text), str(file))
        except EvaluationError:
            raise error from None


def json_object(file: Path) -> dict[str, Any]:
    value = json_value(file)
    if not isinstance(value, dict):
        raise EvaluationError(f"{file}: not a JSON object")
    return value


def json_by_name(file: Path) -> list[tuple[str, Row]]:
    """The objects of a JSON object, and their names."""
    named = json_object(file).items()
    for name, value in named:
        if not isinstance(value, dict):
            raise EvaluationError(f"{file}, {name}: not an object")
    return [(name, Row(value, f"{file}, {name}")) for name, value in named]


def json_rows(file: Path) -> list[Row]:
    return objects(json_value(file), str(file))


def jsonl_rows(file: Path) -> Iterator[Row]:
    for number, line in enumerate(read(file).split("\n"), 1):
        where = f"{file}, line {number}"
        if not line.strip():
            continue
        value = _json(line, where)
        if not isinstance(value, dict):
            raise EvaluationError(f"{where}: not a JSON object")
        yield Row(value, where)


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise EvaluationError(f"{where}: not JSON: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a name that comes twice is an error, else the first would be lost."""
    if len(found := dict(pairs)) < len(pairs):
        twice = next(n for i, (n, _) in enumerate(pairs) if n in dict(pairs[:i]))
        raise ValueError(f"{twice!r} comes twice")
    return found


def parquet_rows(file: Path) -> list[Row]:
    """Raises EvaluationError where the file is no Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(file)
    except (OSError, pa.ArrowInvalid) as error:
        raise EvaluationError(f"{file}: not read as Parquet: {error}") from error
    return [Row(v, f"{file}, row {n}") for n, v in enumerate(table.to_pylist(), 1)]


def read(file: Path) -> str:
    """The text. Raises EvaluationError where it cannot be read."""
    try:
        return file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise EvaluationError(f"{file}: {why}") from error
