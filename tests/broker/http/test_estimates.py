"""Estimates of what a cube would hold, by the last records of its stream."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest
from fastapi.testclient import TestClient

from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from broker.access.scope import Scope
from broker.errors import CancelledError
from broker.http import estimates
from broker.http.views import checked
from broker.operators.cube.definition import StandingCube
from broker.stream import recent_records

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

BEGIN = datetime(2026, 6, 1, tzinfo=timezone.utc)
WHERE = "n >= 0"
Estimate = dict[str, Any]
NOTHING = dict.fromkeys(("panes", "cells", "bytes", "cells_a_pane", "bytes_a_cell", "records_a_cell"))


def operator(*names: str, grain_s: int = 3_600, time: str = "t") -> dict[str, Any]:
    measures = ["count(*) AS n_of", "sum(d) AS total", "max(length(s)) AS longest"]
    return {
        "name": "cube",
        "dimensions": [[name] for name in names],
        "measures": measures,
        "time": time,
        "grain_s": grain_s,
    }


def record(place: int) -> dict[str, Any]:
    at = BEGIN + timedelta(minutes=place)
    return {"n": place % 7, "s": f"s{place % 50}", "d": place / 2, "t": at.isoformat()}


RECORDS = [record(place) for place in range(300)]
OTHERS = [
    *({**RECORDS[0], "n": -1}, {**RECORDS[1], "t": None}, {**RECORDS[2], "t": "2999-01-01T00:00:00Z"}),
    {**RECORDS[3], "s": "x" * 5_000},
]
"""One that WHERE does not accept, one without a time, one in the future, and one whose group is too large."""


@pytest.fixture(scope="module")
def estimate(resting: Resting, send_to: Callable[..., str]) -> Callable[..., tuple[Estimate, list[str]]]:
    """Asks for the estimate of a cube over the records, and returns it with the warnings."""
    name = resting.stream("json")
    stream = resting.streams()[name]
    stream.recent._held = None
    for each in (*RECORDS, *OTHERS):
        send_to(resting.config.streams[name].topic, json.dumps(each).encode())
    send_to(resting.config.streams[name].topic, b"{")

    def found(plain: dict[str, Any], where: str = WHERE, **scope: Any) -> tuple[Estimate, list[str]]:
        permitted = resting.within(Scope("some", **scope))
        answer = checked(permitted, stream, where, None, [StandingCube.parse(plain)])
        return answer["estimate"], answer["warnings"]

    return found


def test_an_estimate_is_the_cube_of_the_last_records(estimate: Callable[..., tuple[Estimate, list[str]]]) -> None:
    plain = operator("n", "s")
    found, warnings = estimate(plain)
    with duckdb.connect() as connection:
        connection.register("records", pa.Table.from_pylist(RECORDS))
        cells, panes = connection.execute(
            "SELECT count(DISTINCT (n, s, t[:13])), count(DISTINCT t[:13]) FROM records"
        ).fetchone() or (0, 0)
    assert (found["cuboids"], found["panes"], found["cells"]) == (4, panes, cells)
    assert (found["records"], found["undecodable"], found["counted"]) == (305, 1, 300)
    assert found["bytes"] == size_bytes(plain)
    assert found["reason"] is None
    assert found["cells_a_pane"] == round(cells / panes, 2)
    assert found["bytes_a_cell"] == round(found["bytes"] / cells, 2)
    assert found["records_a_cell"] == round(300 / cells, 2)
    assert warnings == [f"{cells} cells of 300 records: group by less, or round"]
    found, warnings = estimate(operator("n"))
    assert (found["cuboids"], found["cells"], warnings) == (2, 35, [])


def test_expressions_of_every_type_are_folded_as_workers_fold_them(
    estimate: Callable[..., tuple[Estimate, list[str]]],
) -> None:
    dimensions = ("t", "CAST(t AS DATE)", "(n > 1)", "CAST(n AS DECIMAL(9, 2))", "CAST(s AS BINARY)", "place.city", "d")
    measures = [
        *("count(place) AS places", "min(t) AS first", "max(CAST(t AS DATE)) AS day", "min((n > 1)) AS few"),
        *("sum(CAST(d AS DECIMAL(10, 2))) AS exact", "avg(d) FILTER (WHERE n > 1) AS mean", "max(s) AS last"),
    ]
    found, _ = estimate({**operator(*dimensions), "measures": measures})
    assert (found["reason"], found["counted"], found["cells"]) == (None, 300, 300)


def unknown(cuboids: int, reason: str, **counts: int) -> Estimate:
    """Return the estimate of a cube whose size no record tells."""
    plural = "" if cuboids == 1 else "s"
    text = f"it has {cuboids} cuboid{plural}; cells and bytes are not known: {reason}"
    figures = dict.fromkeys(("records", "undecodable", "counted"))
    return {"name": "cube", "text": text, "cuboids": cuboids, **figures, **NOTHING, "reason": reason, **counts}


def size_bytes(plain: dict[str, Any]) -> int:
    """Return the bytes of the pieces that the library makes of the records."""
    cube = Cube(CubeDefinition.parse(plain), "n INT, s STRING, d DOUBLE, t TIMESTAMP")
    table = pa.Table.from_pylist(RECORDS)
    times = pa.array([datetime.fromisoformat(each["t"]) for each in RECORDS], pa.timestamp("us", "UTC"))
    table = table.set_column(0, "n", table["n"].cast(pa.int32())).set_column(3, "t", times)
    cube.fold(table.append_column("length(s)", pa.array([len(each["s"]) for each in RECORDS], pa.int32())))
    return sum(len(piece.to_bytes()) for piece in cube.pieces())


def test_what_no_record_tells_is_null(resting: Resting, estimate: Callable[..., tuple[Estimate, list[str]]]) -> None:
    found, warnings = estimate(operator("n"), "n > 100")
    assert found == unknown(2, "none of the last 305 records is counted", records=305, undecodable=1, counted=0)
    assert warnings == []
    empty = resting.streams()[resting.stream("csv")]
    definition = StandingCube.parse({**operator(time="_timestamp"), "measures": ["count(*)"]})
    answer = checked(resting.permitted, empty, "true", None, [definition])
    assert answer["estimate"] == unknown(1, "the stream has no records", records=0, undecodable=0, counted=0)


def test_who_may_not_run_predicates_gets_none_and_nobody_waits_for_ever(
    resting: Resting, estimate: Callable[..., tuple[Estimate, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = estimate(operator("n"), read_only=True)
    assert found == unknown(2, "token 'some': may only read: use one that may write")
    recent = resting.streams()[resting.stream("json")].recent
    monkeypatch.setattr(recent_records, "_ANSWERED_WITHIN_S", 0.1)
    monkeypatch.setattr(recent, "_is_busy", True)
    found, _ = estimate(operator("n"))
    assert found["reason"].endswith("are busy with what others ask: try again")
    assert found == unknown(2, found["reason"])
    permitted = resting.permitted
    permitted.cancellation.cancel("the test")
    stream = resting.streams()[resting.stream("json")]
    with pytest.raises(CancelledError):
        checked(permitted, stream, WHERE, None, [StandingCube.parse(operator("n"))])


def test_no_more_records_are_read_than_may_be(
    resting: Resting, estimate: Callable[..., tuple[Estimate, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimates, "RECORDS_MAX", 100)
    found, _ = estimate(operator("n"), "true")
    assert (found["records"], found["undecodable"], found["counted"]) == (100, 1, 97)


def test_the_address_has_it_for_cubes_alone(
    api: TestClient, resting: Resting, estimate: Callable[..., tuple[Estimate, list[str]]]
) -> None:
    body = {"stream": resting.stream("json"), "where": WHERE}
    answer = api.post("/v1/check", json={**body, "operator": operator("s", "n")}).json()
    assert answer["estimate"]["counted"] == 300
    assert answer["warnings"] == ["300 cells of 300 records: group by less, or round"]
    assert answer["text"].endswith("warning: 300 cells of 300 records: group by less, or round")
    assert answer["expressions"][0]["sql"] == "unix_micros(t)"
    events = {"name": "events", "key": "s", "time": "t"}
    assert "estimate" not in api.post("/v1/check", json={**body, "operator": events}).json()
    assert "estimate" not in api.post("/v1/check", json=body).json()
    unknown = api.post("/v1/check", json={**body, "operator": operator("dely")})
    assert (unknown.status_code, "unknown column 'dely'" in unknown.text) == (400, True)
