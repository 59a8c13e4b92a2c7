"""Questions about what a cube keeps no more."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube.json_values import instant_text
from asc.operators.cube.keep import bands_of
from broker.operators.cube.keeper import Keeper
from tests.broker.operators.cube.kept_stream import (
    BASE_US,
    at,
    batch,
    cube_id,
    definition,
    minute,
    opened,
    partial,
    topic_of,
)
from tests.broker.operators.cube.test_ageing import aged
from tests.broker.operators.cube.view_rig import answer


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (
            {"by": [], "from": minute(60)},
            f"from '{minute(60)}': is not kept any more: give {minute(120)} or a",
        ),
        ({"by": ["carrier"]}, f"by 'carrier': is not kept before {minute(180)}: ask from then on"),
        ({"by": [], "where": "carrier = 'B6'"}, "needs carrier, which is not kept before"),
        (
            {"by": [], "grain_s": 300},
            f"grain_s 300: is no multiple of the panes of 10min that are kept before {minute(180)}: give 600",
        ),
        ({"by": [], "from": minute(124)}, f"from '{minute(124)}': is within a pane of 10min, .* give {minute(120)}"),
        ({"by": [], "from": minute(136), "to": minute(138)}, f"from '{minute(136)}': .* give {minute(130)}$"),
        ({"by": [], "to": minute(137)}, f"to '{minute(137)}': is within a pane of 10min, .* give {minute(140)}"),
    ],
)
def test_what_is_not_kept_is_refused_with_the_nearest_that_is(tmp_path: Path, body: dict[str, Any], error: str) -> None:
    keeper, _ = aged(tmp_path, "1min:60min", "10min:120min carrier:0")
    with pytest.raises(CubeError, match=error):
        answer(keeper, **body)
    assert answer(keeper, by=["carrier"], **{"from": minute(180)})["rows"][0]["n"] == 60


HOURLY = definition(grain_s=3_600)
DAYS = 40


@pytest.fixture
def daily(tmp_path: Path) -> Keeper:
    """Return a cube with 40 days of hours, which keeps 3 days of hours, then 9 days, then weeks of 15 days."""
    cube, own = cube_id("q", HOURLY), topic_of(*(at(60 * each) for each in range(24 * DAYS + 1)))
    keeper = opened(tmp_path)
    keeper.define(cube, HOURLY)
    keeper.bands.define(cube, bands_of(["1h:3d", "1d:12d dest:0", "7d:30d dest:0"], HOURLY))
    keeper.commit(batch(0, 1), {cube: partial(HOURLY, [own.partitions[0]])}, own.newest(batch(0, 24 * DAYS + 1)))
    keeper.bands.age(10)
    return keeper


def ask(keeper: Keeper, body: dict[str, Any]) -> CubeError | None:
    """Ask a question. Return the error if it is refused."""
    try:
        keeper.questions.query(next(iter(keeper.snapshot.cubes)), body)
    except CubeError as error:
        return error
    return None


TIME = r"([0-9-]+T[0-9:.]+Z)"


def remedied(body: dict[str, Any], error: CubeError) -> list[dict[str, Any]]:
    """Return the bodies that an error proposes."""
    text, found = error.remedy, []
    to = {"to": None} if ", with a later to" in text else {}
    from_then = re.search(f"before {TIME}.* from then on", text)
    from_time = re.search(f"(?:ask from|give from,) {TIME}", text)
    if time := from_then or from_time:
        found.append({**body, "last_s": None, "from": time[1], **to})
    if seconds := re.search(r"give last_s (\d+)", text):
        found.append({**body, "last_s": int(seconds[1])})
    if error.subject in ("grain_s", "last_s") and (seconds := re.search(r": give (\d+)", text)):
        found.append({**body, error.subject: int(seconds[1])})
    if error.subject in ("from", "to") and (given_time := re.search(f": give {TIME}", text)):
        found.append({**body, error.subject: given_time[1], **to})
    if "or leave it out" in text:
        left = [own for own in body["by"] if own != error.value] if error.subject == "by" else None
        found.append({**body, error.subject: left})
    assert found, text
    return found


def check_remedies(keeper: Keeper, body: dict[str, Any]) -> None:
    error = ask(keeper, body)
    if error is None:
        return
    for proposed in remedied(body, error):
        second = ask(keeper, proposed)
        if second is not None and error.subject != "to" and second.subject == "to":
            # A second error may concern the end of the interval.
            (both,) = remedied(proposed, second)
            second = ask(keeper, both)
        assert second is None, (body, str(error), str(second))


def bodies(grain_s: int, end: int, grains_s: list[int | None], lengths: list[int]) -> st.SearchStrategy[dict[str, Any]]:
    """Return questions that no check of a question alone refuses. ``end``: the number of panes."""

    def body(by: list[str], step_s: int | None, bounds: tuple[int | None, ...], last: int | None) -> dict[str, Any]:
        step = (step_s or grain_s) // grain_s
        first, stop = (None if own is None else own // step * step for own in sorted(bounds, key=lambda own: own or 0))
        if first is not None and stop is not None and first >= stop:
            stop = None
        found: dict[str, Any] = {"by": by, "grain_s": step_s}
        if last is not None:
            return {**found, "last_s": last * step * grain_s}
        texts = (None if own is None else instant_text(BASE_US + own * grain_s * 1_000_000) for own in (first, stop))
        return {**found, **dict(zip(("from", "to"), texts, strict=True))}

    bound = st.none() | st.integers(0, end)
    by = st.sampled_from([[], ["carrier"], ["dest"], ["carrier", "dest"]])
    return st.builds(body, by, st.sampled_from(grains_s), st.tuples(bound, bound), st.none() | st.sampled_from(lengths))


@pytest.mark.parametrize(
    "keep",
    [
        ["1min:97min"],
        ["1min:60min", "10min:120min carrier:0"],
        ["1min:30min", "6min:90min", "18min:190min dest:0", "90min:200min dest:0 carrier:0"],
    ],
)
def test_what_an_error_proposes_is_answered(tmp_path: Path, keep: list[str]) -> None:
    keeper, _ = aged(tmp_path, *keep)

    @settings(max_examples=60, deadline=None)
    @given(bodies(60, 241, [None, 60, 120, 300, 360, 600, 900, 1_800], [1, 2, 7, 30, 100, 200]))
    def check(body: dict[str, Any]) -> None:
        check_remedies(keeper, body)

    check()


def test_what_an_error_proposes_is_answered_with_days_weeks_and_hours(daily: Keeper) -> None:
    @settings(max_examples=60, deadline=None)
    @given(
        bodies(3_600, 24 * DAYS, [None, 3_600, 7_200, 86_400], [1, 24, 100, 500]),
        st.sampled_from([None, "1d", "1M"]),
        st.sampled_from([None, "14-16"]),
    )
    def check(body: dict[str, Any], grain: str | None, hours: str | None) -> None:
        if grain is not None:
            body = {**body, "grain_s": None, "grain": grain, "from": None, "to": None}
            body["last_s"] = None if grain == "1M" or not body.get("last_s") else -(-body["last_s"] // 86_400) * 86_400
        check_remedies(keeper=daily, body={**body, "hours": hours})

    check()


def test_the_grain_of_a_band_is_a_grain_of_questions(daily: Keeper) -> None:
    cube = next(iter(daily.snapshot.cubes))
    found = daily.questions.query(cube, {"by": [], "grain_s": 7 * 86_400})
    assert [row["n"] for row in found["rows"]] == [168] * len(found["rows"])
    assert len(found["rows"]) > 2
    found = daily.questions.query(cube, {"by": [], "grain_s": 7 * 86_400, "last_s": 14 * 86_400})
    assert len(found["rows"]) == 2
    error = ask(daily, {"by": [], "grain_s": 3 * 86_400})
    assert error is not None
    assert "whole hours that divide 24" in str(error)


def test_an_interval_of_the_last_seconds_is_refused_with_the_most_seconds(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:97min")
    for body, most_s in (({}, 97 * 60), ({"grain_s": 600}, 5_400)):
        error = ask(keeper, {"by": [], **body, "last_s": 12_000})
        assert error is not None
        assert str(error).endswith(f"which is not kept any more: give {most_s}")
        assert (error.subject, error.value) == ("last_s", 12_000)
        assert ask(keeper, {"by": [], **body, "last_s": most_s}) is None


def test_a_bound_off_the_grain_is_refused_with_one_that_is_kept(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:97min")
    body = {"by": [], "grain_s": 600, "from": minute(144)}
    error = ask(keeper, body)
    assert str(error).endswith(f"is off the grain of 10min: give a multiple, as {minute(150)}")
    assert ask(keeper, {**body, "from": minute(150)}) is None
