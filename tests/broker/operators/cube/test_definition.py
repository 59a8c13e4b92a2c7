"""Definitions of cubes as queries have them."""

from __future__ import annotations

from typing import Any

import pytest

from asc.operators.cube.budget import CHOSEN_CELLS_MAX, CHOSEN_VIEWS_MAX
from broker.errors import QueryError
from broker.operators.cube.definition import StandingCube
from broker.operators.expression import Expression

PLAIN = {
    "name": "cube",
    "dimensions": [["origin", "dest"], ["carrier"]],
    "measures": ["count(*) AS `flights`", "sum(delay) AS `total`", "max(delay) FILTER (WHERE late) AS `worst`"],
    "time": "time_hour",
    "grain_s": 3600,
}
NONE = {
    **{"output": [], "window_s": None, "slide_s": None, "emit": "all", "late": "merge", "from": "now"},
    **{"materialise": [], "keep": [], "cuboids": 8, "cells": 2_000_000},
}
WINDOWS = {"output": [["origin", "dest"], []], "window_s": 86_400, "slide_s": 3_600, "emit": "changes"}


def test_it_is_read_back_as_it_was_written() -> None:
    found = StandingCube.parse(PLAIN)
    assert found.plain() == {**PLAIN, **NONE}
    assert StandingCube.parse(found.plain()) == found
    assert hash(StandingCube.parse(found.plain())) == hash(found)
    assert found.summary() == "flights, total, worst by origin > dest, carrier, every 1h"
    windows = StandingCube.parse({**PLAIN, **WINDOWS})
    later = {name: NONE[name] for name in ("late", "from", "materialise", "keep", "cuboids", "cells")}
    assert windows.plain() == {**PLAIN, **WINDOWS, **later}
    assert StandingCube.parse(windows.plain()) == windows
    assert windows.summary().endswith("every 1h, writes changes of windows of 1d every 1h")
    apart = StandingCube.parse({**PLAIN, "late": "apart"})
    assert apart.plain() == {**PLAIN, **NONE, "late": "apart"}
    assert StandingCube.parse(apart.plain()) == apart != found
    assert apart.summary() == f"{found.summary()}, late records apart"
    earliest = StandingCube.parse({**PLAIN, "from": "earliest"})
    assert earliest.plain() == {**PLAIN, **NONE, "from": "earliest"}
    assert StandingCube.parse(earliest.plain()) == earliest != found
    assert earliest.summary() == f"{found.summary()}, from the earliest record"
    budget = StandingCube.parse({**PLAIN, "cuboids": 0, "cells": 9})
    assert budget.plain() == {**PLAIN, **NONE, "cuboids": 0, "cells": 9}
    assert StandingCube.parse(budget.plain()) == budget != found
    # Neither windows nor late records nor the first record nor the budget begin another cube.
    assert {each.cube.generation("s", "true") for each in (windows, apart, earliest, budget, found)} == {
        found.cube.generation("s", "true")
    }
    least = StandingCube.parse({"name": "cube", "measures": ["count(*)"], "grain_s": 60})
    assert (least.plain()["time"], least.plain()["dimensions"]) == ("_timestamp", [])


def test_its_expressions_are_the_time_and_each_value_once() -> None:
    plain = {**PLAIN, "dimensions": [["origin", "time_hour"], ["delay"]]}
    assert StandingCube.parse(plain).expressions() == (
        Expression("time", "time_hour", "time"),
        Expression("dimension", "delay", "value"),
        Expression("measure", "CASE WHEN (late) THEN delay END", "value"),
        Expression("dimension", "origin", "value"),
    )
    pair = StandingCube.parse({**PLAIN, "dimensions": [], "measures": ["corr(delay, worst + 1) FILTER (WHERE late)"]})
    assert [own.sql for own in pair.expressions()[1:]] == [
        "CASE WHEN (late) THEN delay END",
        "CASE WHEN (late) THEN worst + 1 END",
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"late": "drop"}, "operator.late 'drop': is not known: give merge or apart"),
        ({"late": True}, "operator.late 'True': is not known: give merge or apart"),
        ({"late": ["apart"]}, "operator.late '['apart']': is not known"),
        ({"late": None}, "operator.late: give merge or apart, or leave it out"),
        ({"late": "apart", "keep": ["1h:1d", "1d:2d"]}, "operator.keep '1h:1d, 1d:2d': has several bands"),
        (
            {"materialise": [["dest"], {"by": ["dest"], "grain_s": 3600}]},
            "operator.materialise 'origin, dest at 1h': is ",
        ),
        ({"window_s": 3600}, "operator.window_s '3600': belongs to windows, and the cube has no output"),
        ({"emit": "changes"}, "operator.emit 'changes': belongs to windows, and the cube has no output"),
        ({**WINDOWS, "output": [["tailnum"]]}, "operator.output 'tailnum': is no dimension: name some of origin"),
        ({**WINDOWS, "output": [["dest"], ["origin", "dest"]]}, "operator.output 'origin, dest': is there twice"),
        ({**WINDOWS, "window_s": None}, "operator.window_s: is missing: an output needs window_s and slide_s"),
        ({**WINDOWS, "slide_s": None}, "operator.slide_s: is missing"),
        ({**WINDOWS, "window_s": 5400}, "operator.window_s '5400': is off the grain of 1h: give a multiple"),
        ({**WINDOWS, "slide_s": 60}, "operator.slide_s '60': is off the grain of 1h"),
        ({**WINDOWS, "slide_s": 90_000}, "operator.slide_s '90000': is longer than the window of 1d"),
        ({**WINDOWS, "emit": "some"}, "operator.emit 'some': is not known: give all or changes"),
        ({**WINDOWS, "output": "dest"}, "operator.output 'dest': give a list of cuboids"),
        ({**WINDOWS, "output": ["dest"]}, "operator.output '['dest']': give a list of cuboids"),
        ({**WINDOWS, "output": [[]] * 65}, "operator.output '65': a cube has at most 64 output cuboids"),
        ({**WINDOWS, "window_s": 3600 * 100_001}, "operator.window_s '360003600': is over 100,000 panes"),
        ({**WINDOWS, "window_s": 3600 * 1_441}, "operator.slide_s '3600': has a record in over 1,440 windows"),
        ({"from": "2013"}, "operator.from '2013': is not known: give now or earliest"),
        ({"from": None}, "operator.from: give now or earliest, or leave it out"),
        ({"cells": CHOSEN_CELLS_MAX + 1}, "operator.cells '1000000001': give a whole number up to 1,000,000,000, or 0"),
        ({"cuboids": CHOSEN_VIEWS_MAX + 1}, "operator.cuboids '65': give a whole number up to 64, or 0"),
        ({"cuboids": 1.0}, "operator.cuboids '1.0': give a whole number"),
        ({"cuboids": None}, "operator.cuboids: give the most views to store, 0 for none, or leave it out"),
        ({"dimension": []}, "field operator 'dimension': is not known: known are name, dimensions"),
        ({"time": None}, "operator.time: give an expression over the record"),
        ({"grain_s": 7}, "operator.grain_s '7': give seconds that divide an hour"),
        ({"grain_s": None}, "operator.grain_s: is missing, the length of a pane (--grain): give seconds"),
        ({"measures": []}, "operator.measures"),
        ({"measures": ["median(x)"]}, "operator.measure 'median(x)': has the function 'median'"),
        ({"dimensions": [["a"], ["A"]]}, "operator."),
    ],
)
def test_a_refusal_is_one_line(change: dict[str, Any], said: str) -> None:
    with pytest.raises(QueryError) as refused:
        StandingCube.parse({**PLAIN, **change})
    assert str(refused.value).replace('"', "'").startswith(said), refused.value
    assert "\n" not in str(refused.value)
