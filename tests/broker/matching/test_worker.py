"""Texts of what accepts each row: complete in pieces of any size, topics with their ids."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from asc.evaluation.executor import match
from asc.plan.compiler import compile_plan
from asc.plan.destination import Destination
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.matching import worker
from broker.matching.alike import Alike
from broker.matching.destinations import Destinations
from broker.matching.matches_text import AFTER_TARGET
from broker.matching.plan_ids import RegisteredIds
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
    pieces = list(
        texts_of(
            plan, RegisteredIds.of(plan.query_ids), matches, "queries", pairs_a_piece(plan, "queries", piece_bytes)
        )
    )
    assert all(len(piece) for piece in pieces)
    wanted = ["\x1f".join(name for name, _ in _accepting(value, queries)) or None for value in _VALUES]
    assert [text for piece in pieces for text in piece.to_pylist()] == wanted


@pytest.mark.parametrize("piece_bytes", [1, 30, 1_000_000])
def test_topics_with_their_ids_in_pieces_of_any_size(piece_bytes: int) -> None:
    plan = _plan(_QUERIES)
    matches = match(plan, [pa.array(_VALUES, pa.int64())], len(_VALUES))
    found = [
        text
        for piece in texts_of(
            plan,
            RegisteredIds.of(plan.query_ids),
            matches,
            "deliveries",
            pairs_a_piece(plan, "deliveries", piece_bytes),
        )
        for text in piece.to_pylist()
    ]
    assert len(found) == len(_VALUES)
    for value, text in zip(_VALUES, found, strict=True):
        by_topic: dict[str, list[str]] = {}
        for name, topic in _accepting(value, _QUERIES):
            by_topic.setdefault(topic, []).append(name)
        delivered = dict(part.split("\x1e") for part in text.split("\x1d"))
        assert {topic: ids.split("\x1f") for topic, ids in delivered.items()} == by_topic


_MEMBERS = [
    ("over/b", "n > 10", "large"),
    ("over/a", "n > 100", "large"),
    ("over-x", "n > 10", "large"),
    ("each|a/b", "n > 10", "large"),
    ("each|é", "n > 100", "large"),
    ("far/a", "n < 0", "small"),
]


@pytest.mark.parametrize("piece_bytes", [1, 30, 1_000_000])
def test_members_of_joins_come_with_their_queries_and_shapes(piece_bytes: int) -> None:
    queries = [*_QUERIES, *_MEMBERS]
    plan = _plan(queries)
    registered = RegisteredIds.of(plan.query_ids)
    matches = match(plan, [pa.array(_VALUES, pa.int64())], len(_VALUES))
    texts = [
        text
        for piece in texts_of(plan, registered, matches, "deliveries", pairs_a_piece(plan, "deliveries", piece_bytes))
        for text in piece.to_pylist()
    ]
    for value, text in zip(_VALUES, texts, strict=True):
        wanted: list[tuple[str, list[str], list[str]]] = []
        for topic in sorted({topic for _, topic in _accepting(value, queries)}):
            ids = [name for name, own in _accepting(value, queries) if own == topic]
            wanted += [(topic, [name.replace("|", "/", 1)], [name.split("|")[0]]) for name in ids if "|" in name]
            together = [name for name in ids if "|" not in name]
            shapes = [name for name in together if "/" in name]
            wanted.append((topic, shapes, sorted({name.split("/")[0] for name in together})))
        found = [_target(own) for own in text.split("\x1d")] if text else []
        assert sorted(found) == sorted(wanted)
    by_query = registered.ids.take(pa.array(registered.accepted(matches.rows, matches.queries))).to_pylist()
    assert sorted(by_query) == sorted(
        name
        for value in _VALUES
        for name in [
            *{name.split("/")[0] for name, _ in _accepting(value, queries) if "|" not in name},
            *(name.split("|")[0] for name, _ in _accepting(value, queries) if "|" in name),
        ]
    )


def _target(text: str) -> tuple[str, list[str], list[str]]:
    """Topic, shapes and queries of what is to be written."""
    topic, _, rest = text.partition("\x1e")
    shapes, between, queries = rest.rpartition("\x1c")
    return topic, shapes.split("\x1f") if between else [], queries.split("\x1f")


def test_small_pieces_stay_small() -> None:
    queries = [(f"q{number:03d}", "n > 10", "t") for number in range(100)]
    plan = _plan(queries)
    rows = 50
    matches = match(plan, [pa.array([11] * rows, pa.int64())], rows)
    pieces = list(
        texts_of(plan, RegisteredIds.of(plan.query_ids), matches, "queries", pairs_a_piece(plan, "queries", 1_500))
    )
    assert sum(len(piece) for piece in pieces) == rows
    assert max(len("".join(piece.to_pylist())) for piece in pieces) <= 1_500


def test_no_rows_and_no_matches() -> None:
    plan = _plan(_QUERIES[-1:])
    for values in ([], [1, 2]):
        matches = match(plan, [pa.array(values, pa.int64())], len(values))
        assert [
            text
            for piece in texts_of(plan, RegisteredIds.of(plan.query_ids), matches, "queries", 100)
            for text in piece.to_pylist()
        ] == [None] * len(values)


class _Arrived:
    """A transport, and the parts of a plan, that hand on what they are given."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.registered = plan, RegisteredIds.of(plan.query_ids)
        self.destinations = Destinations.of(plan)
        alike = Alike.of(plan, self.destinations.operated, self.registered)
        self.evaluated = (plan if alike is None else alike.pruned(plan), alike)

    @staticmethod
    def read(arrived: tuple[pd.Series, ...]) -> list[pa.Array]:
        return [pa.array(arrived[0], pa.int64(), from_pandas=True)]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 9])
@pytest.mark.parametrize("pairs", [1, 4, 9, 1_000])
def test_rows_go_by_as_many_as_have_room(count: int, pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_PAIRS", pairs)
    own: Any = _Arrived(_plan(_QUERIES))
    values = _VALUES[:count]
    pieces = worker.matching_task(own, own, "queries")(iter([(pd.Series(values, dtype="Int64"),)] * 2))
    wanted = ["\x1f".join(name for name, _ in _accepting(value, _QUERIES)) or None for value in values]
    assert [text for piece in pieces for text in piece.tolist()] == wanted * 2


def _operated(name: str, target: str, selection: str) -> Destination:
    return Destination(name, "near", 2, target, selection, "{}")


def _delivered(queries: list[tuple[str, str, str, Destination | None]]) -> list[set[str]]:
    plan = compile_plan([Query(name, normalise(text, _SCHEMA), topic, own) for name, text, topic, own in queries])
    matches = match(plan, [pa.array([5, 50, 500], pa.int64())], 3)
    (texts,) = texts_of(plan, RegisteredIds.of(plan.query_ids), matches, "deliveries", 10_000)
    return [set() if text is None else set(text.split("\x1d")) for text in texts.to_pylist()]


def test_operators_are_given_selections_under_their_targets_each_once() -> None:
    many = [(f"m{i}", "n > 10", "out", _operated(f"m{i}", "t1", "s1")) for i in range(9)]
    queries = [
        *many,
        ("b", "n > 100", "out", _operated("b", "t1", "s2")),
        ("c", "n > 100", "feed", _operated("c", "t2", "s1")),
        ("d", "n > 10", "feed", None),
    ]
    first, second = f"t1{AFTER_TARGET}", f"t2{AFTER_TARGET}"
    assert _delivered(queries) == [
        set(),
        {f"{first}\x1es1", "feed\x1ed"},
        {f"{first}\x1es1\x1fs2", f"{second}\x1es1", "feed\x1ed"},
    ]
    # Without a routed query.
    assert _delivered(queries[:-1]) == [set(), {f"{first}\x1es1"}, {f"{first}\x1es1\x1fs2", f"{second}\x1es1"}]


def test_the_text_of_a_record_does_not_grow_with_the_queries_of_a_selection() -> None:
    def texts(count: int) -> list[set[str]]:
        own = [
            (f"q{i:04}", "n > 10", f"t{i}", _operated(f"q{i:04}", "5f1d0c6a9b21", "a41c9e0273d15b88"))
            for i in range(count)
        ]
        return _delivered([*own])

    assert texts(1_000) == texts(1)
    assert max(map(len, texts(1_000)[2])) < 40


def test_operators_are_given_the_shapes_of_joins_and_topics_their_queries() -> None:
    over = _operated("over", "t1", "s1")
    queries = [
        ("late", "n > 10", "lates", _operated("late", "t1", "s2")),
        ("over/a", "n > 10", "overs", over),
        ("over/b", "n > 100", "overs", over),
        ("routed/a", "n > 10", "topic", None),
        ("routed/b", "n > 100", "topic", None),
    ]
    target = f"t1{AFTER_TARGET}"
    assert _delivered(queries) == [
        set(),
        {f"{target}\x1es1/a\x1fs2", "topic\x1erouted/a\x1crouted"},
        {f"{target}\x1es1/a\x1fs1/b\x1fs2", "topic\x1erouted/a\x1frouted/b\x1crouted"},
    ]


def test_texts_of_operators_stay_within_a_piece() -> None:
    plain = compile_plan([Query("a", normalise("n > 1", _SCHEMA), "t")])
    operated = compile_plan([Query("a", normalise("n > 1", _SCHEMA), "t", _operated("a", "target", "x" * 100))])
    assert (
        worker.pairs_a_piece(operated, "deliveries", 10_000)
        < 10_000 / 100
        < worker.pairs_a_piece(plain, "deliveries", 10_000)
    )
