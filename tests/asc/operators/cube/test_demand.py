"""The demand for views: counted, halved daily, forgotten, bounded, and stored as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube import demand as module
from asc.operators.cube.cuboid import Dimensions
from asc.operators.cube.demand import HALVED_S, Demand, Frequency
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.view import View

LATTICE = Lattice(Dimensions((("a", "b"), ("c",))), 3_600)
ONE, OTHER = View((1, 0), 24), View((2, 1), 1)
DAY = HALVED_S


def test_questions_are_counted_and_halved_once_a_day() -> None:
    demand = Demand.begin(100).plus(ONE, 24, at_s=200).plus(ONE, 48, at_s=300).plus(OTHER, 1, at_s=300, questions=4)
    assert demand.asked == {ONE: Frequency(2, 72), OTHER: Frequency(4, 4)}
    assert demand.at(100 + DAY - 1) is demand
    assert demand.at(100 + DAY).asked == {ONE: Frequency(1, 36), OTHER: Frequency(2, 2)}
    assert demand.at(100 + 2 * DAY).asked == {ONE: Frequency(0.5, 18), OTHER: Frequency(1, 1)}
    # The value itself stays.
    assert demand.asked[ONE] == Frequency(2, 72)
    with pytest.raises(TypeError):
        demand.asked[ONE] = Frequency(1, 1)  # type: ignore[index]


def test_a_view_that_was_asked_for_once_is_forgotten_after_seven_days() -> None:
    demand = Demand.begin(0).plus(ONE, 1, at_s=0).plus(OTHER, 1, at_s=0, questions=2)
    assert set(demand.at(7 * DAY - 1).asked) == {ONE, OTHER}
    assert set(demand.at(7 * DAY).asked) == {OTHER}
    assert not demand.at(8 * DAY).asked
    assert not demand.at(1e15).asked


@pytest.mark.parametrize("offset_h", [0, 1, 23])
def test_a_steady_rate_is_the_same_at_any_time_of_the_day_and_from_the_first_day_on(offset_h: int) -> None:
    demand = Demand.begin(0)
    for hour in range(24 * 9 + offset_h):
        demand = demand.plus(ONE, 6, at_s=hour * 3_600 + 1_800, questions=2)
        rates = demand.panes_an_hour(at_s=(hour + 1) * 3_600)
        assert rates[ONE] == pytest.approx(12)


def test_the_first_hour_is_not_extrapolated() -> None:
    assert Demand.begin(0).plus(ONE, 6, at_s=5).panes_an_hour(at_s=10) == {ONE: 6}


def test_a_clock_that_was_set_back_stops_no_halving() -> None:
    demand = Demand.begin(50 * DAY).plus(ONE, 1, at_s=50 * DAY).plus(ONE, 1, at_s=DAY)
    assert demand.asked[ONE].questions == 2
    assert demand.at(2 * DAY).asked[ONE].questions == 1


@given(st.lists(st.tuples(st.integers(0, 10 * DAY), st.sampled_from([ONE, OTHER])), max_size=30), st.randoms())
def test_within_a_day_no_order_of_questions_and_no_reading_between_them_changes_the_counts(
    asked: list[tuple[int, View]], random: Any
) -> None:
    demand = Demand.begin(0)
    for at_s, view in sorted(asked, key=lambda own: own[0]):
        demand = demand.plus(view, 3, at_s=at_s)
        if random.random() < 0.5:
            demand = Demand.parse(json.loads(json.dumps(demand.plain())), LATTICE)
    expected = Demand.begin(0)
    for at_s, view in sorted(asked, key=lambda own: (own[0] // DAY, random.random())):
        expected = expected.plus(view, 3, at_s=at_s)
    assert demand.at(11 * DAY) == expected.at(11 * DAY)


def test_the_view_that_is_asked_for_least_is_forgotten_if_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "VIEWS_MOST", 3)
    views = [View((0, 0), own) for own in (1, 2, 3, 4)]
    demand = Demand.begin(0)
    for view, questions in zip(views, (3, 1, 2, 1), strict=True):
        demand = demand.plus(view, 1, at_s=0, questions=questions)
    assert set(demand.asked) == {views[0], views[2], views[3]}
    # A view that is known forgets none.
    assert set(demand.plus(views[0], 1, at_s=0).asked) == set(demand.asked)


def test_views_of_another_lattice_are_forgotten() -> None:
    demand = Demand.begin(0).plus(ONE, 1, at_s=0).plus(View((0, 0, 1), 1), 1, at_s=0).plus(View((0, 0), 5), 1, at_s=0)
    assert set(Demand.parse(demand.plain(), LATTICE).asked) == {ONE}


@pytest.mark.parametrize(
    "change",
    [
        *(
            {"asked": None},
            {"asked": [[1]]},
            {"asked": [[[0, 0], 1, float("nan"), 1]]},
            {"asked": [[[0, 0], 1, -1, 1]]},
        ),
        *({"halved_at_s": "x"}, {"observed_s": float("inf")}, {"asked": [[["x", 0], 1, 1, 1]]}),
    ],
)
def test_another_form_is_refused_in_one_line(change: dict[str, Any]) -> None:
    plain = {**Demand.begin(0).plain(), **change}
    with pytest.raises(CubeError, match=r"^demand: has another form .*: remove it, and it is counted anew$"):
        Demand.parse(plain, LATTICE)
