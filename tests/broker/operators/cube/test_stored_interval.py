"""The interval of an answer whose question omits a bound is that of the stored panes."""

from __future__ import annotations

from pathlib import Path

import pytest

from asc.errors import CubeError
from asc.operators.cube.keep import bands_of
from asc.operators.cube.view import View
from tests.broker.operators.cube.kept_stream import at, batch, minute, opened, topic_of
from tests.broker.operators.cube.test_ageing import aged
from tests.broker.operators.cube.view_rig import CUBE, OWN, answer


def test_an_end_before_all_that_is_kept_is_refused(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:60min", "10min:120min carrier:0")
    for end in (60, 120):
        said = f"to '{minute(end)}': is not kept any more: give a time after {minute(120)}, or leave it out"
        with pytest.raises(CubeError, match=said):
            answer(keeper, by=[], to=minute(end))
    said = f"to '{minute(60)}': is not kept any more: ask from {minute(180)} on, with a later to"
    with pytest.raises(CubeError, match=said):
        answer(keeper, by=["carrier"], to=minute(60))
    assert answer(keeper, by=[], to=minute(130))["interval"] == [minute(120), minute(130)]
    assert answer(keeper, by=[])["interval"] == [minute(120), minute(240)]
    assert answer(keeper, by=[], grain_s=7_200)["interval"] == [minute(120), minute(240)]
    assert answer(keeper, by=[], live=True)["interval"] == [minute(120), minute(241)]


def test_a_question_without_an_end_is_answered_if_no_interval_of_its_grain_is_kept(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:15min", minutes=231)
    assert answer(keeper, by=[], grain_s=3_600)["rows"] == []


def test_the_interval_does_not_depend_on_the_view_that_is_read(tmp_path: Path) -> None:
    topic = topic_of(*(at(each) for each in range(7, 182)))
    keeper = opened(tmp_path)
    keeper.define(CUBE, OWN, pins=[View((0, 0), 60)])
    topic.commit(keeper, batch(0, len(topic.partitions[0])), {CUBE: OWN})
    keeper.views.fill(10)
    found = answer(keeper, by=[])
    assert 3_600 in [own["grain_s"] for own in found["answered_by"]]
    base = answer(keeper, by=[], answer_from={"by": ["carrier", "dest"], "grain_s": 60})
    assert found["interval"] == base["interval"] == [minute(7), minute(181)]
    assert answer(keeper, by=[], live=True)["interval"] == [minute(7), minute(182)]
    assert answer(keeper, by=[], hours="1-2")["interval"] == [minute(7), minute(181)]
    assert answer(keeper, by=[], hours="1-2", live=True)["interval"] == [minute(7), minute(182)]
    assert answer(keeper, by=[], **{"from": minute(60)})["interval"] == [minute(60), minute(181)]
    assert answer(keeper, by=[], to=minute(7))["interval"] is None


@pytest.mark.parametrize("steps", [{}, {"grain_s": 3_600}, {"grain": "1d"}], ids=["one row", "hours", "days"])
@pytest.mark.parametrize("is_live", [False, True], ids=["closed", "live"])
def test_rows_do_not_depend_on_the_view_that_is_read(tmp_path: Path, steps: dict[str, object], is_live: bool) -> None:
    topic = topic_of(*(at(each) for each in range(3, 131)))
    keeper = opened(tmp_path)
    keeper.define(CUBE, OWN, pins=[View((0, 0), 60)])
    topic.commit(keeper, batch(0, len(topic.partitions[0])), {CUBE: OWN})
    keeper.views.fill(10)
    body = {"by": [], "live": is_live, **steps}
    answered = answer(keeper, **body)
    base = answer(keeper, **body, answer_from={"by": ["carrier", "dest"], "grain_s": 60})
    assert answered["rows"] == base["rows"]
    assert sum(row["n"] for row in answered["rows"]) == (
        128 if is_live else {"grain_s": 117, "grain": 0}.get(next(iter(steps), ""), 127)
    )


def test_a_pane_of_a_band_that_is_deleted_in_part_is_answered(tmp_path: Path) -> None:
    topic = topic_of(*(at(each) for each in range(400)))
    keeper = opened(tmp_path)
    keeper.define(CUBE, OWN)
    keeper.bands.define(CUBE, bands_of(["1min:15min"], OWN))
    topic.commit(keeper, batch(0, 50), {CUBE: OWN})
    keeper.bands.age(5)
    assert keeper.snapshot.status(CUBE)["kept_from"] == minute(34)
    keeper.bands.define(CUBE, bands_of(["1min:15min", "60min:2880min"], OWN))
    topic.commit(keeper, batch(50, 400), {CUBE: OWN})
    keeper.bands.age(5)
    for begin in ({}, {"from": minute(34)}):
        assert [row["n"] for row in answer(keeper, by=[], **begin)["rows"]] == [365]
        assert [row["n"] for row in answer(keeper, by=[], live=True, **begin)["rows"]] == [366]
    assert [row["n"] for row in answer(keeper, by=[], grain_s=3_600)["rows"]] == [60] * 5


def test_a_live_question_has_no_row_of_an_interval_that_is_deleted_in_part(tmp_path: Path) -> None:
    topic = topic_of(*(at(each) for each in range(41)))
    keeper = opened(tmp_path)
    keeper.define(CUBE, OWN)
    keeper.bands.define(CUBE, bands_of(["1min:15min"], OWN))
    topic.commit(keeper, batch(0, 41), {CUBE: OWN})
    keeper.bands.age(5)
    assert keeper.snapshot.status(CUBE)["kept_from"] == minute(25)
    for end in ({}, {"to": minute(60)}):
        assert answer(keeper, by=[], grain_s=3_600, live=True, **end)["rows"] == []
    assert [row["n"] for row in answer(keeper, by=[], live=True)["rows"]] == [16]
