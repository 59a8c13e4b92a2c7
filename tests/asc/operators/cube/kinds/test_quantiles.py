"""Declarations of quantiles, and the questions that their sketches answer."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.kinds import quantiles as kind
from asc.operators.cube.states import quantiles as state


def cube(*measures: str) -> Cube:
    definition = CubeDefinition.parse({"dimensions": [["s"]], "measures": list(measures)}, needs_time=False)
    made = Cube(definition, "s STRING, x INT, y DOUBLE, d DECIMAL(9, 2)")
    columns = {"s": ["a", "a", "a", "b"], "x": pa.array([1, 2, 9, None], pa.int32()), "y": [0.5, 1.5, 2.5, 3.5]}
    made.fold(pa.table({**columns, "d": pa.array([None, 1, 2, 3], pa.decimal128(9, 2))}))
    return made


@pytest.mark.parametrize(
    ("asked", "estimate"),
    [
        ("q", 2.0),
        ("quantile(x, 1)", 9.0),
        ("quantile(x, 0.34)", 2.0),
        ("QUANTILE( X , .33) AS low", 1.0),
        ("rank(x, 2)", 2 / 3),
        ("rank(x, -1e9)", 0.0),
    ],
)
def test_a_question_is_answered(asked: str, estimate: float) -> None:
    one, none = cube("quantiles(x) AS q").query({"by": ["s"], "measures": [asked]})["rows"]
    (answer,) = (value for name, value in one.items() if name != "group")
    assert answer["estimate"] == pytest.approx(estimate)
    assert [value for name, value in none.items() if name != "group"] == [None]


def test_lists_have_an_answer_for_each_value_and_no_order() -> None:
    asked = ["cdf(y, 1, 2)", "pmf(y, 1, 2)", "density(y, 1, 2)"]
    made = cube("quantiles(y)")
    (row,) = made.query({"by": [], "measures": asked})["rows"]
    assert [len(row[name]) for name in asked] == [2, 3, 2]
    assert [own["estimate"] for own in row["pmf(y, 1, 2)"]] == pytest.approx([0.25, 0.25, 0.5])
    with pytest.raises(CubeError, match="order"):
        made.query({"by": [], "measures": asked, "order": asked[:1]})


def test_measures_of_one_parameter_share_a_state_and_others_do_not() -> None:
    made = cube("quantiles(x) AS q", "quantiles(x, 200) AS same", "quantiles(x, 400) AS other", "quantiles(y) AS y")
    assert [slot.key for slot in made.layout.slots] == [
        *(("quantiles", 200, "x"), ("quantiles", 400, "x"), ("quantiles", 200, "y")),
    ]
    rows = made.query({"by": [], "order": ["q DESC"]})["rows"]
    assert rows[0]["q"] == rows[0]["same"] == rows[0]["other"]


def test_decimals_are_doubles_and_a_filter_belongs_to_the_state() -> None:
    made = cube("quantiles(d) FILTER (WHERE x > 1) AS q", "quantiles(d) AS all")
    (row,) = made.query({"by": [], "measures": ["q", "quantile(d, 0)", "rank(d, 1) FILTER (WHERE x > 1)"]})["rows"]
    assert (row["q"]["count"], row["q"]["min"], row["q"]["max"]) == (2, 1.0, 2.0)
    assert row["quantile(d, 0)"]["estimate"] == 1.0
    assert row["rank(d, 1) FILTER (WHERE x > 1)"]["estimate"] == 0.5


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        ("quantile(x)", "has one argument: write quantile(x, 0.5)"),
        ("quantile(x, 0.1, 0.2)", "has 3 arguments: write quantile(x, 0.5)"),
        ("quantile(x, 1.01)", "has the rank 1.01: give one from 0 to 1, as 0.5 for the median"),
        ("quantile(x, -0.5)", "has the rank -0.5: give one from 0 to 1"),
        ("quantile(x, y)", "has 'y', which is no constant: write quantile(x, 0.5)"),
        ("quantile(x, true)", "has true, which is no number: write quantile(x, 0.5)"),
        ("rank(x, '9')", "has '9', which is no number: write rank(x, 20)"),
        ("cdf(x)", "has one argument: write cdf(x, 10, 20)"),
        ("pmf(x, 1, 1)", "has bounds that do not ascend: write each larger than the one before"),
        (f"density(x{', 1' * 101})", "has 101 values: give at most 100"),
        ("quantile(y, 0.5)", "needs a state that the cube does not keep: declare the measure quantiles(y)"),
        ("quantiles(x, 19)", "has k 19: give a whole number from 20 to 4,000"),
        ("quantiles(x, 4001)", "has k 4001: give a whole number from 20 to 4,000"),
        ("quantiles(x, 200.5)", "has k 200.5: give a whole number from 20 to 4,000"),
        ("quantiles(x, y)", "has 'y', which is no constant: write quantiles(x) or quantiles(x, 200)"),
        ("quantiles(s)", "takes numbers, and s is STRING: CAST it"),
    ],
)
def test_a_call_is_refused(call: str, fault: str) -> None:
    made = cube("quantiles(x)")
    with pytest.raises(CubeError) as refused:
        _ = cube(call) if call.startswith("quantiles") else made.query({"by": [], "measures": [call]})
    assert fault in str(refused.value)
    assert str(refused.value).startswith("measure ")
    assert "\n" not in str(refused.value)


def test_the_bounds_of_k_are_those_of_the_state() -> None:
    assert (kind.K_LEAST, kind.K_DEFAULT, kind.K_MOST) == (state.K_LEAST, state.K, state.K_MOST)
