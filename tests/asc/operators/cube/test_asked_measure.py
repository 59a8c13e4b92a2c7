"""Measures of questions: names of declared measures, and calls of question functions."""

from __future__ import annotations

from typing import Any

import pytest

from asc.errors import CubeError
from asc.operators.cube.asked_measure import ASKED_MAX, asked_measure, asked_measures
from asc.operators.cube.definition import CubeDefinition

CUBE = CubeDefinition.parse(
    {
        "dimensions": [["s"]],
        "measures": [
            "count(*) AS n",
            "stats(x, y, z) AS three",
            "stats(x + 1, y) AS two",
            "stats(x, y, z) FILTER (WHERE s = 'a') AS some",
            "corr(y, z)",
            "sum(x)",
        ],
        "grain_s": 60,
    }
)


@pytest.mark.parametrize(
    ("text", "name", "place", "columns"),
    [
        ("N", "n", 0, ()),
        ("  three ", "three", 1, ()),
        ("corr(x,  Y)", "corr(x, y)", 1, (0, 1)),
        ("CORR(z, x)", "corr(z, x)", 1, (2, 0)),
        ("stddev(z)", "stddev(z)", 1, (2,)),
        # The state with the fewest columns answers.
        ("regr_slope(z, y)", "regr_slope(z, y)", 4, (1, 0)),
        ("corr(y, x+1)", "corr(y, x + 1)", 2, (1, 0)),
        ("corr(y, x) filter (where s='a')", "corr(y, x) FILTER (WHERE s = 'a')", 3, (1, 0)),
        ("corr(x, y) AS r", "r", 1, (0, 1)),
    ],
)
def test_a_text_names_a_measure(text: str, name: str, place: int, columns: tuple[int, ...]) -> None:
    found = asked_measure(text, CUBE)
    assert (found.name, found.place, found.columns) == (name, place, columns)
    assert bool(found.function) == bool(columns)
    again = asked_measure(found.text, CUBE)
    assert again == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (7, "measure 7: is not declared: the cube has n, three, two, some, corr(y, z), sum(x)"),
        ("median", "measure 'median': is not declared: the cube has n, three"),
        (
            "median(x)",
            "measure 'median(x)': has the function 'median', which no question has: name a measure, or one of",
        ),
        ("sum(y)", "measure 'sum(y)': is not declared: the cube has n"),
        ("corr(x)", "has one argument: give two expressions, as in corr(y, x)"),
        ("corr(x, )", "has an argument that is empty"),
        ("stddev(x, y)", "has several arguments: give one expression"),
        ("corr(x, w)", "needs a state that the cube does not keep: declare the measure stats(x, w)"),
        ("stddev(w)", "needs a state that the cube does not keep: declare the measure stddev(w)"),
        # The state of corr(y, z) has the rows that are complete in both columns.
        ("corr(x, y) FILTER (WHERE s = 'A')", "declare the measure stats(x, y) FILTER (WHERE s = 'A')"),
        ("corr(x, y) AS n", "measure 'n': has the name of a declared measure: give another one with AS"),
        ("corr(x, y) AS S", "measure 'S': has the name of a dimension"),
        ("corr(x, y) AS pane", "measure 'pane': is a name that answers use"),
        ("corr(x, y", "has a parenthesis that is not closed"),
    ],
)
def test_what_is_no_measure_is_refused_in_one_line(text: Any, said: str) -> None:
    with pytest.raises(CubeError) as caught:
        asked_measure(text, CUBE)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_state_of_two_columns_does_not_answer_for_one() -> None:
    cube = CubeDefinition.parse({"measures": ["corr(x, y)"], "grain_s": 60})
    with pytest.raises(CubeError, match=r"declare the measure stddev\(x\)$"):
        asked_measure("stddev(x)", cube)


def test_without_a_list_all_declared_measures_are_asked() -> None:
    assert [own.name for own in asked_measures(None, CUBE)] == [own.name for own in CUBE.measures]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ("n", "measures 'n': give a list"),
        ([], "measures []: give a list"),
        (["n", "N"], "measure 'N': is named twice: name it once"),
        (["corr(x, y)", "CORR( x,y )"], "is named twice"),
        (["corr(x, y)", "corr(x, y) AS r"], "is named twice"),
        (["corr(x, y) AS r", "corr(x, z) AS R"], "is named twice"),
        (["corr(x, y)"] * (ASKED_MAX + 1), f"measures 65: a question has at most {ASKED_MAX}"),
    ],
)
def test_a_list_of_measures_is_refused_in_one_line(texts: Any, said: str) -> None:
    with pytest.raises(CubeError) as caught:
        asked_measures(texts, CUBE)
    assert said in str(caught.value)
