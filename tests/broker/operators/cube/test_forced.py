"""Questions that name the view to read: it is read, or the refusal says why it answers no part of the question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from asc.errors import CubeError
from asc.operators.cube.view import View
from broker.operators.cube.keeper import Keeper
from tests.broker.operators.cube.kept_stream import minute
from tests.broker.operators.cube.test_ageing import aged
from tests.broker.operators.cube.view_rig import CUBE, answer, filled, view_body

HOURS = View((1, 0), 60)


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return filled(tmp_path, HOURS, minutes=241)[0]


def refusal(keeper: Keeper, view: View = HOURS, **body: Any) -> str:
    with pytest.raises(CubeError) as refused:
        answer(keeper, answer_from=view_body(view), **body)
    assert refused.value.subject == "answer_from"
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_view_that_answers_a_part_is_read_beside_the_base(keeper: Keeper) -> None:
    body = {"by": ["carrier"], "from": minute(30), "to": minute(130)}
    forced = answer(keeper, answer_from=view_body(HOURS), **body)
    assert [own["grain_s"] for own in forced["answered_by"]] == [60, 3_600]
    assert forced["rows"] == answer(keeper, **body)["rows"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"by": ["dest"]}, "is no ancestor of the question, as it has no dest: name one with all dimensions"),
        ({"by": [], "where": "dest = 'JFK'"}, "is no ancestor of the question, as it has no dest: name one"),
        ({"by": [], "grain_s": 600}, "is no ancestor of the question, as rows of 10min do not consist of its panes"),
        (
            {"by": [], "from": minute(10), "to": minute(70)},
            "has no whole pane of 1h from 2013-07-10T00:10:00Z to 2013-07-10T01:10:00Z: give a longer",
        ),
    ],
)
def test_a_view_that_answers_nothing_is_refused_with_the_reason(
    keeper: Keeper, body: dict[str, Any], said: str
) -> None:
    assert f"answer_from 'carrier at 1h': {said}" in refusal(keeper, **body)


def test_hours_and_days_of_a_zone_that_are_no_whole_panes_are_named(tmp_path: Path) -> None:
    days = View((1, 0), 1_440)
    keeper, _ = filled(tmp_path, days, minutes=2 * 1_440 + 1)
    said = "does not answer hours 14-16, which do not consist of panes of 1d: leave hours out, or leave answer_from out"
    assert said in refusal(keeper, days, by=["carrier"], hours="14-16")
    assert answer(keeper, by=[], grain="1d", answer_from=view_body(days))["answered_by"][0]["grain_s"] == 86_400


def test_a_view_of_which_bands_have_the_interval_is_refused(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:60min", "60min:1d carrier:0")
    keeper.views.choose(CUBE, [View((1, 0), 5)])
    keeper.views.fill(10)
    assert "bands have the only copy" in refusal(keeper, View((1, 0), 5), by=[], **{"to": minute(120)})
    later = answer(keeper, by=[], answer_from=view_body(View((1, 0), 5)))
    assert 300 in [own["grain_s"] for own in later["answered_by"]]


def test_names_and_forms_are_refused_as_answer_from(keeper: Keeper) -> None:
    for refused, said in (
        ({"by": ["carier"]}, "'carier': is no dimension: name some of carrier, dest"),
        ({"by": ["carrier"], "grain_s": 7}, "7: give seconds that divide an hour"),
        (["carrier"], "['carrier']: give a stored view as an object, as"),
    ):
        with pytest.raises(CubeError) as error:
            answer(keeper, by=[], answer_from=refused)
        assert str(error.value).startswith(f"answer_from {said}")


def test_a_band_of_several_days_is_named_as_a_band(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:60min", "1d:3d", "2d:9d", minutes=5)
    with pytest.raises(CubeError, match="'carrier, dest at 2d': is a band, which is read in any case"):
        answer(keeper, by=[], answer_from={"by": ["carrier", "dest"], "grain_s": 2 * 86_400})
