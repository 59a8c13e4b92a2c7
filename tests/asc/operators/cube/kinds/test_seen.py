"""The measure ``seen``, and its questions ``frequency`` and ``contains``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition

ROWS = pa.table(
    {
        "host": ["a", "a", "a", "b", "b"],
        "url": ["/x", "/x", "/y", "/z", None],
        "size": pa.array([1, 1, 2, 3, 4], pa.int32()),
    }
)
CERTAIN = {"confidence": 1.0}


def cube(measures: list[str], table: pa.Table = ROWS, parts: int = 2) -> Cube:
    """Return a cube over a table, folded in parts."""
    definition = CubeDefinition.parse({"dimensions": [["host"]], "measures": measures}, needs_time=False)
    found = Cube(definition, table.schema)
    step = -(-len(table) // parts)
    for start in range(0, len(table), step):
        found.fold(table.slice(start, step))
    return found


def asked(own: Cube, *measures: str, by: tuple[str, ...] = ("host",)) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = own.query({"by": list(by), "measures": list(measures)})["rows"]
    return rows


def many(count: int) -> pa.Table:
    return pa.table({"host": ["a"] * count, "url": [f"/{number}" for number in range(count)]})


def test_a_small_cell_answers_exactly() -> None:
    a, b = asked(cube(["seen(url, 100)"]), "frequency(url, '/x') AS n", "contains(url, '/y') AS y")
    assert a["n"] == {"estimate": 2, "low": 2, "high": 2, **CERTAIN}
    assert b["n"] == {"estimate": 0, "low": 0, "high": 0, **CERTAIN}
    assert a["y"] == {"estimate": True, "low": True, "high": True, **CERTAIN, "chance": 2 * 2.0**-64, "different": 2}
    assert b["y"] == {"estimate": False, "low": False, "high": False, **CERTAIN, "chance": 2.0**-64, "different": 1}


def test_the_declared_measure_says_how_full_the_state_is() -> None:
    a, b = asked(cube(["seen(url, 100) AS urls"]), "urls")
    assert a["urls"] == {"values": 3, "different": 2, "chance": 2 * 2.0**-64}
    assert b["urls"] == {"values": 1, "different": 1, "chance": 2.0**-64}


def test_cells_are_rolled_up() -> None:
    (row,) = asked(cube(["seen(size, 9)"]), "frequency(size, 1) AS n", "contains(size, 4) AS has", by=())
    assert (row["n"]["estimate"], row["has"]["estimate"]) == (2, True)


def test_beyond_the_stated_number_the_chance_is_that_of_the_filter() -> None:
    own = cube(["seen(url, 50)"], many(2_000), parts=7)
    (row,) = asked(own, "contains(url, '/7') AS has", "frequency(url, '/7') AS n")
    has = row["has"]
    assert (has["estimate"], has["low"], has["high"]) == (True, False, True)
    assert has["chance"] > 0.5
    assert has["confidence"] == 1 - has["chance"]
    assert 1_000 < has["different"] <= 2_000
    assert 0 == row["n"]["low"] < 1 <= row["n"]["estimate"] == row["n"]["high"]
    assert row["n"]["confidence"] == pytest.approx(0.9817, abs=1e-4)


def test_at_the_stated_number_others_are_never_or_rarely_reported() -> None:
    own = cube(["seen(url, 1000)"], many(1_000))
    calls = [f"contains(url, '/no/{number}')" for number in range(60)]
    (row,) = asked(own, *calls)
    answers = [row[call] for call in calls]
    assert sum(answer["estimate"] for answer in answers) <= 5
    assert all(answer["confidence"] == (1 - answer["chance"] if answer["estimate"] else 1.0) for answer in answers)
    assert 0 < answers[0]["chance"] <= 0.01
    assert abs(answers[0]["different"] - 1_000) < 50


def test_nothing_contains_no_value() -> None:
    own = cube(["seen(url, 100) AS urls"])
    body = {"by": [], "measures": ["frequency(url, '/x') AS n", "contains(url, '/x') AS has", "urls"]}
    (row,) = own.query({**body, "where": "host = 'zzz'"})["rows"]
    assert row["n"]["high"] == 0
    assert row["has"]["estimate"] is False
    assert row["urls"] == {"values": 0, "different": 0, "chance": 0.0}


def test_filters_and_parameters_are_states_of_their_own() -> None:
    own = cube(["seen(url, 100) AS all", "seen(url, 100) FILTER (WHERE size > 1) AS large", "seen(url, 200) AS wide"])
    assert len(own.layout.slots) == 3
    a, _ = asked(own, "frequency(url, '/x') AS n", "frequency(url, '/x') FILTER (WHERE size > 1) AS m")
    assert (a["n"]["estimate"], a["m"]["estimate"]) == (2, 0)


def test_rows_are_ordered_by_a_frequency() -> None:
    own = cube(["seen(url, 100)"])
    body = {"by": ["host"], "measures": ["frequency(url, '/z') AS n"], "order": ["n DESC"]}
    assert [row["group"]["host"] for row in own.query(body)["rows"]] == ["b", "a"]


@pytest.mark.parametrize(
    ("measure", "remedy"),
    [
        ("seen(url)", r"has one argument: write seen\(x, 1000\)"),
        ("seen(url, size)", "has 'size', which is no constant"),
        ("seen(url, 0)", "is out of range: state 1 to 1,000,000"),
        ("seen(url, 1.5)", "is out of range"),
        ("seen(url, true)", "is out of range"),
        ("seen(url, 1000001)", "takes 5.4 to 33 MB"),
        ("seen(*, 5)", "goes with count alone"),
    ],
)
def test_a_declaration_is_refused_in_one_line(measure: str, remedy: str) -> None:
    with pytest.raises(CubeError, match=remedy) as caught:
        cube([measure])
    assert "\n" not in str(caught.value)


def test_values_that_are_not_plain_are_refused() -> None:
    table = pa.table({"host": ["a"], "tags": [["x"]]})
    with pytest.raises(CubeError, match="takes plain values, and tags is ARRAY<STRING>: CAST it"):
        cube(["seen(tags, 5)"], table)


@pytest.mark.parametrize(
    ("measure", "remedy"),
    [
        ("frequency(url)", "has one argument: write frequency"),
        ("contains(url, size)", "is no constant"),
        ("contains(url, 5)", "compares STRING with 5, which is none"),
        ("contains(size, 5)", r"needs a state that the cube does not keep: declare the measure seen\(size, 1000\)"),
    ],
)
def test_a_question_is_refused_in_one_line(measure: str, remedy: str) -> None:
    with pytest.raises(CubeError, match=remedy) as caught:
        asked(cube(["seen(url, 100)"]), measure)
    assert "\n" not in str(caught.value)


def test_the_order_and_division_of_records_do_not_matter() -> None:
    drawn = np.random.default_rng(1)
    table = pa.table({"host": ["a"] * 5_000, "url": [f"/{value}" for value in drawn.zipf(1.2, 5_000) % 900]})
    states = [own.cells.states[0] for own in (cube(["seen(url, 300)"], table, parts) for parts in (1, 3, 40))]
    assert states[0].equals(states[1])
    assert states[0].equals(states[2])
