"""Definitions of DBSCAN queries."""

from __future__ import annotations

from typing import Any

import pytest

from asc.errors import DbscanError
from asc.operators.dbscan.dbscan_query import ATTRIBUTES_MAX, SAMPLE_MAX, SLIDES_MAX, DbscanQuery
from asc.operators.dbscan.definition import (
    _EXPRESSION_CHARS_MAX,
    COMBINATIONS_MAX,
    COUNT_MAX,
    DEFAULT_TIME,
    LONGEST_S,
    DbscanDefinition,
    combinations,
)

TIMED: dict[str, Any] = {"attributes": ["x", "y"], "eps": 0.5, "min_samples": 5, "window_s": 600, "slide_s": 60}
COUNTED: dict[str, Any] = {"position": "ST_Point(x, y)", "eps": 2_000, "min_samples": 5.0, "window_points": 5_000}
COUNTED["slide_points"] = 1_000


@pytest.mark.parametrize(
    "plain",
    [
        TIMED,
        COUNTED,
        {**TIMED, "name": "dbscan", "time": "ts", "key": "icao24", "members": "changes", "sample": 0},
        {**TIMED, "window_s": 0.5, "slide_s": 0.001, "sample": SAMPLE_MAX},
        {**TIMED, "window_s": LONGEST_S, "slide_s": LONGEST_S / SLIDES_MAX},
        {**TIMED, "attributes": ["x"] * ATTRIBUTES_MAX, "eps": 10**20},
    ],
)
def test_a_definition_says_all_of_itself(plain: dict[str, Any]) -> None:
    found = DbscanDefinition.parse(plain)
    assert DbscanDefinition.parse(found.plain()) == found
    query = found.query("q", "asc.q", track="t", time="ts", selection="s", lateness_us=7)
    assert DbscanQuery.of(query.settings()) == query
    assert found.summary()


def test_defaults() -> None:
    found = DbscanDefinition.parse(TIMED)
    assert (found.time, found.members, found.key, found.sample) == (DEFAULT_TIME, "none", None, 200)
    assert DbscanDefinition.parse(TIMED, needs_time=False).time is None
    query = DbscanDefinition.parse(COUNTED).query("q", "q", track="t", time="ts", selection="s", lateness_us=0)
    assert (query.is_position, query.attributes, query.is_timed, query.window, query.slide) == (
        True,
        2,
        False,
        5_000,
        1_000,
    )
    query = DbscanDefinition.parse(TIMED).query("q", "q", track="t", time="ts", selection="s", lateness_us=0)
    assert (query.is_timed, query.window, query.slide, query.radius) == (True, 600_000_000, 60_000_000, 0.5)


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        ({**TIMED, "epsilon": 1}, "field operator 'epsilon': is not known"),
        ({**TIMED, "name": "near"}, "is none of DBSCAN"),
        ({**TIMED, "attributes": []}, "give a list of numeric expressions"),
        ({**TIMED, "attributes": "x"}, "give a list of numeric expressions"),
        ({**TIMED, "attributes": ["x"] * (ATTRIBUTES_MAX + 1)}, "at most 8"),
        ({**TIMED, "attributes": ["x", ""]}, "give an expression"),
        ({**TIMED, "attributes": ["x" * (_EXPRESSION_CHARS_MAX + 1)]}, "at most 10,000 characters"),
        ({**TIMED, "attributes": ["'\ud800'"]}, "half of a surrogate pair"),
        ({**TIMED, "position": "ST_Point(x, y)"}, "cannot both be"),
        *(
            ({**TIMED, "eps": eps}, "operator.eps")
            for eps in (0, -1, float("nan"), float("inf"), 1e-170, 1e170, "1", True)
        ),
        ({**TIMED, "eps": 10**400}, "neither 0 nor infinite"),
        ({**COUNTED, "eps": float("inf")}, "half around the earth"),
        ({**COUNTED, "eps": 20_015_200}, "half around the earth"),
        ({**COUNTED, "eps": float("nan")}, "operator.eps"),
        *(
            ({**TIMED, "min_samples": least}, "operator.min_samples")
            for least in (0, 2.5, "5", None, True, COUNT_MAX + 1)
        ),
        *(
            ({**TIMED, "min_samples": 2**63 * more}, "give a whole number from 1 to 9,223,372,036,854,775,807: ")
            for more in (1, 1.0, 10**30)
        ),
        ({**TIMED, "window_points": 5}, "cannot both be"),
        ({**COUNTED, "slide_points": None}, "operator.slide_points: give a whole number"),
        ({**COUNTED, "slide_points": 5_001}, "is longer than the window"),
        ({**COUNTED, "slide_points": 4}, f"more than {SLIDES_MAX:,} slides"),
        ({**TIMED, "slide_s": 601}, "is longer than the window"),
        ({**TIMED, "slide_s": 0.0001}, "operator.slide_s 0.0001: give seconds, from 0.001"),
        ({**TIMED, "slide_s": 0.5}, f"more than {SLIDES_MAX:,} slides"),
        ({**TIMED, "window_s": LONGEST_S + 1}, "86,400"),
        ({name: own for name, own in TIMED.items() if name != "window_s"}, "operator.window_s: give seconds"),
        ({**TIMED, "members": "some"}, "give one of none, changes, all"),
        ({**TIMED, "sample": SAMPLE_MAX + 1}, "give a whole number from 0 to 1,000: "),
        ({**TIMED, "sample": -1}, "give a whole number from 0"),
        ({**TIMED, "time": " "}, "give an expression"),
        ({**TIMED, "key": 5}, "give an expression"),
    ],
)
def test_what_is_none_is_refused(plain: dict[str, Any], said: str) -> None:
    with pytest.raises(DbscanError) as refused:
        DbscanDefinition.parse(plain)
    assert said in str(refused.value)


def test_lists_are_all_their_combinations() -> None:
    found = combinations("dense", {**TIMED, "eps": [1, 2], "min_samples": [5, 6]})
    numbers = [(own, plain["eps"], plain["min_samples"]) for own, plain in found]
    assert numbers == [("dense.1", 1, 5), ("dense.2", 1, 6), ("dense.3", 2, 5), ("dense.4", 2, 6)]
    assert combinations("one", {**TIMED, "eps": [1]}) == [("one", {**TIMED, "eps": 1})]
    with pytest.raises(DbscanError, match="has no number"):
        combinations("none", {**TIMED, "eps": []})


def test_so_many_combinations_and_no_more() -> None:
    most = {**TIMED, "eps": [1] * 10, "min_samples": [1] * (COMBINATIONS_MAX // 10)}
    assert len(combinations("most", most)) == COMBINATIONS_MAX
    # Before any is made: two short lists would be as many as their product.
    for lists in ([1] * 11, [1] * 1_000_000):
        with pytest.raises(DbscanError, match="are too many: 1,000 at most, divide the lists"):
            combinations("more", {**most, "eps": lists})
