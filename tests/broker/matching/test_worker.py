"""Texts of what accepts each row: complete in pieces of any size, topics with their ids."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from asc.evaluation.executor import match
from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.matching import worker
from broker.matching.worker import pairs_a_piece, texts_of

_SCHEMA = Schema.from_ddl("n BIGINT")
_VALUES = [5, 50, None, 500, 5, -1, 50, 50, 5000]
_QUERIES = [
    ("every", "true", "all"),
    ("a", "n > 10", "large"),
    ("b", "n > 100", "large"),
    ("é", "n > 100 OR n IS NULL", "odd"),
    ("c", "n < 0", "small"),
]


def _plan(queries: list[tuple[str, str, str]]) -> Plan:
    return compile_plan([Query(name, normalise(text, _SCHEMA), topic) for name, text, topic in queries])


def _accepting(value: int | None, queries: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """(id, topic) of the queries that accept a value, by the book."""
    tests = {
        "true": True,
        "n > 10": value is not None and value > 10,
        "n > 100": value is not None and value > 100,
        "n > 100 OR n IS NULL": value is None or value > 100,
        "n < 0": value is not None and value < 0,
    }
    return sorted((name, topic) for name, text, topic in queries if tests[text])


@pytest.mark.parametrize("piece_bytes", [1, 8, 20, 1_000_000])
@pytest.mark.parametrize("count", [1, 4, 5])
def test_ids_of_each_row_in_pieces_of_any_size(piece_bytes: int, count: int) -> None:
    queries = _QUERIES[-count:]
    plan = _plan(queries)
    matches = match(plan, [pa.array(_VALUES, pa.int64())], len(_VALUES))
    pieces = list(texts_of(plan, matches, "queries", pairs_a_piece(plan, "queries", piece_bytes)))
    assert all(len(piece) for piece in pieces)
    wanted = ["\x1f".join(name for name, _ in _accepting(value, queries)) or None for value in _VALUES]
    assert [text for piece in pieces for text in piece.to_pylist()] == wanted


@pytest.mark.parametrize("piece_bytes", [1, 30, 1_000_000])
def test_topics_with_their_ids_in_pieces_of_any_size(piece_bytes: int) -> None:
    plan = _plan(_QUERIES)
    matches = match(plan, [pa.array(_VALUES, pa.int64())], len(_VALUES))
    found = [
        text
        for piece in texts_of(plan, matches, "deliveries", pairs_a_piece(plan, "deliveries", piece_bytes))
        for text in piece.to_pylist()
    ]
    assert len(found) == len(_VALUES)
    for value, text in zip(_VALUES, found, strict=True):
        by_topic: dict[str, list[str]] = {}
        for name, topic in _accepting(value, _QUERIES):
            by_topic.setdefault(topic, []).append(name)
        delivered = dict(part.split("\x1e") for part in text.split("\x1d"))
        assert {topic: ids.split("\x1f") for topic, ids in delivered.items()} == by_topic


def test_small_pieces_stay_small() -> None:
    queries = [(f"q{number:03d}", "n > 10", "t") for number in range(100)]
    plan = _plan(queries)
    rows = 50
    matches = match(plan, [pa.array([11] * rows, pa.int64())], rows)
    pieces = list(texts_of(plan, matches, "queries", pairs_a_piece(plan, "queries", 1_500)))
    assert sum(len(piece) for piece in pieces) == rows
    assert max(len("".join(piece.to_pylist())) for piece in pieces) <= 1_500


def test_no_rows_and_no_matches() -> None:
    plan = _plan(_QUERIES[-1:])
    for values in ([], [1, 2]):
        matches = match(plan, [pa.array(values, pa.int64())], len(values))
        assert [text for piece in texts_of(plan, matches, "queries", 100) for text in piece.to_pylist()] == [
            None
        ] * len(values)


class _Arrived:
    """A transport, and the parts of a plan, that hand on what they are given."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @staticmethod
    def read(arrived: tuple[pd.Series, ...]) -> list[pa.Array]:
        return [pa.array(arrived[0], pa.int64(), from_pandas=True)]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 9])
def test_rows_go_by_few_first_and_by_more_then(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of a batch may fit the second call, which is allowed more rows than the first one was."""
    monkeypatch.setattr(worker, "rows_of_a_call", lambda _queries, found=None: 2 if found is None else 6)
    own: Any = _Arrived(_plan(_QUERIES))
    values = _VALUES[:count]
    pieces = worker.matching_task(own, own, "queries")(iter([(pd.Series(values, dtype="Int64"),)] * 2))
    wanted = ["\x1f".join(name for name, _ in _accepting(value, _QUERIES)) or None for value in values]
    assert [text for piece in pieces for text in piece.tolist()] == wanted * 2
