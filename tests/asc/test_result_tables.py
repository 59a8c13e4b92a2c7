"""What was found, in the shapes that it is used in."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from asc import Matcher, PlanError
from asc.evaluation.executor import Matches, match
from asc.plan.plan import Plan
from asc.result_tables import count_table, filtered, ids_by_row, result_table

PLAN = Matcher("n INT", {"b": "n > 1", "a": "n > 2", "c": "n > 9"}).plan


def found(*values: int, plan: Plan = PLAN) -> Matches:
    return match(plan, [pa.array(values, pa.int32())], len(values))


def test_parts_are_numbered_through() -> None:
    parts = [found(1, 3), found(), found(2)]
    pairs = result_table(PLAN, parts, "pair")
    assert pairs.to_pydict() == {"row": [1, 1, 2], "query": ["a", "b", "b"]}
    assert pairs.schema == pa.schema([("row", pa.int32()), ("query", pa.string())])
    assert result_table(PLAN, parts, "row").to_pydict() == {"queries": [[], ["a", "b"], ["b"]]}
    assert result_table(PLAN, parts, "query").to_pydict() == {
        "query": ["a", "b", "c"],
        "count": [1, 2, 0],
        "rows": [[1], [1, 2], []],
    }
    assert count_table(PLAN, parts).to_pydict() == {"query": ["a", "b", "c"], "count": [1, 2, 0]}


@pytest.mark.parametrize("by", ["pair", "row", "query"])
def test_nothing_has_the_same_columns(by: str) -> None:
    empty = result_table(PLAN, [], by)  # type: ignore[arg-type]
    assert empty.schema == result_table(PLAN, [found(3)], by).schema  # type: ignore[arg-type]
    assert empty.num_rows == (3 if by == "query" else 0)


def test_a_shape_that_there_is_none_of() -> None:
    with pytest.raises(PlanError, match="shape of a result 'rows': 'pair', 'row' or 'query'"):
        result_table(PLAN, [], "rows")  # type: ignore[arg-type]


def test_ids_that_are_more_than_an_array_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asc.result_tables._TEXT_BYTES", 2)
    assert result_table(PLAN, [found(3, 3)], "pair")["query"].num_chunks == 2
    with pytest.raises(PlanError, match="match fewer rows at a time"):
        ids_by_row(PLAN, found(3, 3))


def test_a_long_id_that_accepts_nothing_takes_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Matcher("n INT", {"l" * 100: "n > 100", "q": "n > 0"}).plan
    monkeypatch.setattr("asc.result_tables._TEXT_BYTES", 50)
    assert ids_by_row(plan, found(*[1] * 40, plan=plan)).to_pylist() == [["q"]] * 40
    pairs = result_table(plan, [found(1, 101, 1, plan=plan)], "pair")["query"]
    assert (pairs.num_chunks, pairs.to_pylist()) == (3, ["q", "l" * 100, "q", "q"])


def test_more_rows_than_can_be_numbered_are_refused_but_counted() -> None:
    many = Matches(
        np.empty(0, np.int32), np.empty(0, np.int32), 2**31 - 1, 0, np.empty(0, np.int64), np.empty(0, np.int64)
    )
    with pytest.raises(PlanError, match="more than 2147483647 rows"):
        result_table(PLAN, [many, found(3)], "pair")
    assert count_table(PLAN, [many, found(3)])["count"].to_pylist() == [1, 1, 0]


VIEWS: dict[str, Callable[[], pa.Array]] = {
    "text": lambda: pa.array(["a", "b"], pa.string_view()),
    "bytes": lambda: pa.array([b"a", b"b"], pa.binary_view()),
    "list": lambda: pa.array([["a"], ["b"]], pa.large_list(pa.string_view())),
    "struct": lambda: pa.array([{"x": "a"}, {"x": "b"}], pa.struct([("x", pa.string_view())])),
    "runs": lambda: pc.run_end_encode(pa.array(["a", "b"])),
    "dictionary": lambda: pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", "b"], pa.string_view())),
}


@pytest.mark.parametrize("kind", VIEWS)
def test_rows_of_views_are_taken_as_well(kind: str) -> None:
    values = VIEWS[kind]()
    kept = filtered(pa.table({"x": values, "n": [1, 2]}), pa.array([False, True]))
    assert kept.to_pylist() == [{"x": values[1].as_py(), "n": 2}]
