"""``asc query add --bboxdb-plan``: a plan registered through a daemon, and wrong use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Asc

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


@pytest.mark.nightly
def test_a_plan_is_registered_as_the_predicate_that_is_printed(asc: Asc, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    plan = {
        "type": "query-plan",
        "query-type": "range-query",
        "stream-table": "dgroup_nowhere",
        "query-range": "[[0.0,20.0]:[0.0,20.0]]",
        "compare-rectangle": "[[5.0,9.0]:[5.0,9.0]]",
        "report-positive": False,
        "stream-transformations": [{"name": "bbox-enlarge-by-amount", "value": "2.0"}],
    }
    path.write_text(json.dumps(plan), "utf-8")
    position = ("--position", "ST_Point(delay, flight)")
    refused = asc("query", "add", "plan", "--bboxdb-plan", path, *position)
    assert refused.exit_code == 1
    assert "nowhere" in refused.stderr
    added = asc("query", "add", "plan", "--bboxdb-plan", path, *position, "--stream", "flights")
    assert added.exit_code == 0, added.stderr
    assert "NOT (ST_Intersects(ST_PolygonFromEnvelope(5.0, 5.0, 9.0, 9.0)" in added.stderr
    assert asc.json("query", "show", "plan")["where"] == added.stderr.strip()
    records = tmp_path / "rows.ndjson"
    rows = [{"flight": n, "delay": n, "dest": "PLAN"} for n in (3, 4, 9, 10, 11, 25)]
    records.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert asc("publish", "--stream", "flights", records).exit_code == 0
    # Within a degree of the box, its edges among it, is no match; nor is what is out of range.
    assert [json.loads(one["value"])["flight"] for one in asc.received("asc.plan", 2)] == [3, 11]
    assert asc("query", "remove", "plan").exit_code == 0


def test_a_shape_needs_a_layer_and_a_layer_a_predicate(asc: Asc, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text("{}", "utf-8")
    for given, said in (
        (("--where", "true", "--per-shape"), "--per-shape goes with --layer: without a layer there are no shapes"),
        (("--bboxdb-plan", path, "--layer", "zones"), "--layer and --per-shape go with --where: a plan names its"),
        (("--bboxdb-plan", path, "--per-shape"), "--layer and --per-shape go with --where: a plan names its"),
    ):
        result = asc("query", "add", "x", *given)
        assert result.exit_code == 2
        assert said in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    "arguments", [(), ("--where", "true", "--bboxdb-plan"), ("--where", "true", "--as-bboxdb")], ids=str
)
def test_either_a_predicate_or_a_plan(asc: Asc, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    path = tmp_path / "plan.json"
    path.write_text("{}", "utf-8")
    given = [*arguments, path] if arguments[-1:] == ("--bboxdb-plan",) else arguments
    result = asc("query", "add", "x", *given)
    assert result.exit_code == 2
    assert "--bboxdb-plan" in result.stderr
