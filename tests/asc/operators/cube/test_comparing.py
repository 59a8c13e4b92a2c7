"""Groups of two sets of cells compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.frozen import frozen
from asc.operators.cube.cells import Cells, joined
from asc.operators.cube.comparing import changed, is_within, matched, rolled_up
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition

DEFINITION = CubeDefinition.parse(
    {"dimensions": [["a"], ["b"]], "measures": ["max(x) AS most", "avg(x) AS mean"], "time": "t", "grain_s": 60}
)
SCHEMA = "a STRING, b DOUBLE, x DOUBLE, t TIMESTAMP"
LAYOUT = Cube(DEFINITION, SCHEMA).layout
Row = tuple[str | None, float | None, float | None]
rows = st.lists(
    st.tuples(
        st.sampled_from(["p", "q", None]),
        st.sampled_from([0.0, -0.0, float("nan"), None]),
        st.sampled_from([1.0, 2.0, float("nan"), None]),
    ),
    max_size=6,
)


def cells_of(own: list[Row]) -> Cells:
    cube = Cube(DEFINITION, SCHEMA)
    columns = list(zip(*own, strict=True)) if own else [[], [], []]
    times = pa.array([0] * len(own), pa.timestamp("us", "UTC"))
    types = (pa.string(), pa.float64(), pa.float64())
    table = {name: pa.array(c, kind) for name, c, kind in zip("abx", columns, types, strict=True)}
    cube.fold(pa.table({**table, "t": times}))
    return rolled_up(LAYOUT, [cube.cells], (0, 1))


def groups(cells: Cells) -> list[Any]:
    return list(zip(*(map(repr, key.array().to_pylist()) for key in cells.keys), strict=True))


def measures(cells: Cells) -> dict[Any, str]:
    found = [own.of(cells.states).to_pylist() for own in LAYOUT.measures]
    return {group: repr(own) for group, own in zip(groups(cells), zip(*found, strict=True), strict=True)}


@settings(max_examples=30, deadline=None)
@given(before=rows, after=rows)
def test_groups_and_measures_are_compared_by_value(before: list[Row], after: list[Row]) -> None:
    former, now = cells_of(before), cells_of(after)
    old, new = measures(former), measures(now)
    found = matched(LAYOUT, former, now)
    assert groups(former.take(found.before)) == groups(now.take(found.after))
    assert set(groups(now.take(found.after))) == old.keys() & new.keys()
    assert groups(former.take(found.gone)) == [group for group in old if group not in new]
    assert groups(now.take(found.new)) == [group for group in new if group not in old]
    differs = [group for group in new if new[group] != old.get(group)]
    assert groups(now.take(changed(LAYOUT, former, now))) == differs
    assert is_within(LAYOUT, now, former).tolist() == [group in old for group in new]


def test_an_average_that_is_equal_is_no_change() -> None:
    once, twice = cells_of([("p", 1.0, 2.0)]), cells_of([("p", 1.0, 2.0), ("p", 1.0, 2.0)])
    assert changed(LAYOUT, once, twice).tolist() == []


def test_cells_are_compared_by_their_panes_where_that_is_wanted() -> None:
    own = cells_of([("p", 1.0, 2.0), ("q", 1.0, 2.0)])
    later = replace(own, panes=frozen(own.panes + 7))
    assert is_within(LAYOUT, later, own).tolist() == [True, True]
    assert is_within(LAYOUT, later, own, by_pane=True).tolist() == [False, False]
    assert is_within(LAYOUT, later, joined(LAYOUT, [own, later]), by_pane=True).tolist() == [True, True]
    assert matched(LAYOUT, own, later, by_pane=True).gone.tolist() == [0, 1]
