"""What is asked of pairs."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from asc.keys.attribute import PAttribute, position
from asc.operators.feed import NearQuery
from broker.errors import QueryError
from broker.operators.fed_destination import Track
from broker.operators.near.condition import CarriedColumn
from broker.operators.near.definition import NearOperator

PLAIN = {"name": "near", "key": "icao24", "distance_m": 9_260, "window_s": 30.0, "every_s": 10}


def test_an_operator_is_what_its_record_says() -> None:
    asked = NearOperator.of_plain(PLAIN)
    assert asked == NearOperator("icao24", 9_260, 30, 10)
    assert asked.plain() == {
        **PLAIN,
        "window_s": 30,
        "time": "_timestamp",
        "position": "ST_Point(longitude, latitude)",
        "on": None,
        "events": ["pair"],
    }
    whole = {**PLAIN, "time": "ts", "position": "ST_Point(x, y)", "on": "a.z < b.z", "events": ["apart", "near"]}
    assert NearOperator.of_plain(whole).kinds == ("near", "apart")
    assert NearOperator.of_plain(NearOperator.of_plain(whole).plain()) == NearOperator.of_plain(whole)


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": None},
        {"distance_m": None},
        {"distance_m": -1},
        {"distance_m": 2.1e7},
        {"window_s": 0},
        {"window_s": 86_401},
        {"every_s": True},
        {"window_s": 1_000.1},
        {"position": ""},
        {"on": ""},
        {"events": []},
        {"events": ["pair", "apart"]},
        {"dwell_s": 1},
    ],
    ids=str,
)
def test_what_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(QueryError):
        NearOperator.of_plain({**PLAIN, **wrong})


@pytest.mark.parametrize("every_s", [0.57, 0.29, 0.1, 7])
def test_a_window_is_of_a_hundred_ticks_and_no_more(every_s: float) -> None:
    window_s = round(100 * every_s, 6)
    assert NearOperator.of_plain({**PLAIN, "window_s": window_s, "every_s": every_s}).window_s == window_s
    with pytest.raises(QueryError, match="100 times every_s"):
        NearOperator.of_plain({**PLAIN, "window_s": window_s + 0.000001, "every_s": every_s})


def test_its_destination_says_all_that_ticks_need() -> None:
    number = PAttribute("n", pa.float64(), ("n",))
    own = [PAttribute("CAST(k AS STRING)", pa.string()), PAttribute("unix_micros(t)", pa.int64())]
    own.append(position((number, number), is_planar=False))
    asked = NearOperator.of_plain({**PLAIN, "on": "a.t < b.t"})
    carried = [CarriedColumn(("t",), pa.timestamp("us", "UTC"))]
    found = asked.destination("asc.feed.s", "q", "out", own=own, carried=carried)
    parts = ("CAST((n) AS DOUBLE)",) * 2
    assert found.track == Track("CAST(k AS STRING)", "unix_micros(t)", parts, (("`t`", "unix_micros(`t`)"),))
    assert found.query == NearQuery("q", "out", found.track.name, ("pair",), 9_260, 30_000_000, 10_000_000, "a.t < b.t")
