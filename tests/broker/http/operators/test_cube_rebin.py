"""A cube with bins from its registration to new edges: over HTTP, in Python and on the command line."""

from __future__ import annotations

import json
import math
import random
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from asc.operators.cube.computed.bins import BinDimension
from asc.operators.cube.computed.table import computed_dimension
from broker.client.client import Client
from broker.config.config import Config, parse_config
from cli.main import main

if TYPE_CHECKING:
    from conftest import Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

BEGIN = datetime(2026, 6, 1, tzinfo=timezone.utc)
OPERATOR: dict[str, Any] = {
    "name": "cube",
    "dimensions": [["bins(temp, 8)"], ["city"]],
    "measures": ["count(*) AS n"],
    "time": "ts",
    "grain_s": 3_600,
}


def records_of(seed: int, count: int, mean: float) -> list[dict[str, Any]]:
    """Return records with temperatures around a mean, some of them NULL."""
    drawn = random.Random(seed)
    return [
        {
            "temp": None if drawn.random() < 0.05 else round(drawn.gauss(mean, 5), 1),
            "city": drawn.choice(["Oslo", "Rome"]),
            "ts": (BEGIN + timedelta(seconds=drawn.randrange(7_200))).isoformat(),
        }
        for _ in range(count)
    ]


FIRST, LATER = records_of(1, 400, 10), records_of(2, 300, 60)


@pytest.fixture(scope="module")
def site(site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder, own = tmp_path_factory.mktemp("bins"), uuid.uuid4().hex[:12]
    stream = {"topic": f"weather-{own}", "format": "json", "schema": "temp DOUBLE, city STRING, ts TIMESTAMP"}
    return site_of(
        parse_config(
            {
                "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
                "api": {"port": 0},
                "spark": {"checkpoint_dir": str(folder / "checkpoint"), "master": "local[2]", "warm_up_s": 0},
                "streams": {f"json-{own}": stream},
            }
        )
    )


@pytest.fixture(scope="module")
def client(site: Site) -> Iterator[Client]:
    assert site.daemon is not None
    with Client(site.daemon.url) as own:
        yield own


def publish(site: Site, records: list[dict[str, Any]]) -> None:
    site.publish([json.dumps(record).encode() for record in records])
    site.drain()


def edges_of(query: Any) -> list[float]:
    """Return the edges of the first dimension of a registered cube."""
    dimension = computed_dimension(query["operator"]["dimensions"][0][0])
    assert isinstance(dimension, BinDimension)
    return dimension.checked_edges.plain()


def sampled_edges(records: list[dict[str, Any]], count: int = 8) -> list[float]:
    """Return the edges that the temperatures of records decide."""
    values = pa.array([record["temp"] for record in records], pa.float64())
    return BinDimension("temp", count, "temp").with_edges_of(values).checked_edges.plain()


def direct(records: list[dict[str, Any]], edges: list[float]) -> dict[Any, int]:
    """Return the records of each bin."""
    counts: dict[Any, int] = {}
    for record in records:
        low = None if record["temp"] is None else max((e for e in edges if e <= record["temp"]), default="-Infinity")
        counts[low] = counts.get(low, 0) + 1
    return counts


def bins_of(client: Client, level: str) -> dict[Any, int]:
    """Return the records that a cube has counted, by the bins of a level."""
    rows = client.cubes.query("air", {"by": [level], "live": True})["rows"]
    found: dict[Any, int] = {}
    for row in rows:
        low = row["group"][level]
        found[low] = found.get(low, 0) + row["n"]
    return found


def await_backfill(client: Client) -> None:
    """Wait until the cube has counted all records of its topic."""
    deadline = time.monotonic() + 120
    while (progress := client.cubes.backfill_progress("air"))["phase"] != "done":
        assert time.monotonic() < deadline, progress
        time.sleep(0.05)


def test_without_records_a_registration_names_both_remedies(site: Site) -> None:
    body = {"id": "air", "where": "true", "operator": OPERATOR, "topic": site.topic("air")}
    for path, own in (("/v1/queries", body), ("/v1/check", {"where": "true", "operator": OPERATOR})):
        answer = site.client.post(path, json=own)
        assert answer.status_code == 400
        assert "has no finite number in the sample: publish records that have some, or give a file" in answer.text
        assert "--calibrate FILE" in answer.text


@pytest.mark.parametrize(
    ("dimension", "error"),
    [
        ("bins(temp, 12)", "is no number of bins: give a power of two from 2 to 256"),
        ("bins(temp, 512)", "is no number of bins"),
        ("bins(city, 8)", "takes a number, and city is STRING: CAST it to DOUBLE"),
        ("bins(nothing, 8)", "unknown column"),
    ],
)
def test_other_bins_are_refused_in_one_line(site: Site, dimension: str, error: str) -> None:
    body = {"id": "air", "where": "true", "operator": {**OPERATOR, "dimensions": [[dimension]]}}
    answer = site.client.post("/v1/queries", json=body)
    assert (answer.status_code, error in answer.text) == (400, True), answer.text


def test_a_registration_takes_the_edges_of_the_last_records(site: Site, client: Client) -> None:
    publish(site, FIRST)
    body = {
        "id": "air",
        "where": "true",
        "operator": {**OPERATOR, "from": "earliest"},
        "topic": site.topic("air"),
    }
    assert site.client.post("/v1/check", json={"where": "true", "operator": OPERATOR}).status_code == 200
    answer = site.client.post("/v1/queries", json=body)
    assert answer.status_code == 201, answer.text
    registered = answer.json()["query"]
    assert edges_of(registered) == sampled_edges(FIRST)
    assert registered["operator"]["summary"].startswith("n by bins(temp, 8) AS temp, city")
    again = site.client.post("/v1/queries", json=body).json()
    assert (again["change"], again["query"]) == ("unchanged", registered)
    publish(site, LATER)
    again = site.client.post("/v1/queries", json=body).json()
    assert (again["change"], edges_of(again["query"])) == ("unchanged", sampled_edges(FIRST))


def test_coarse_levels_equal_direct_bins(client: Client) -> None:
    await_backfill(client)
    edges = sampled_edges(FIRST)
    for count in (2, 4, 8):
        assert bins_of(client, f"temp:{count}") == direct([*FIRST, *LATER], edges[8 // count - 1 :: 8 // count])


def test_the_errors_of_counted_records_are_beside_those_of_the_sample(client: Client) -> None:
    (found,) = client.cubes.bins("air")["bins"]
    assert (found["edges"], found["levels"]) == (sampled_edges(FIRST), ["temp:2", "temp:4", "temp:8"])
    sample, counted = found["sample"], found["counted"]
    assert sample is not None
    assert counted is not None
    assert counted["errors"] is not None
    for records, part in ((FIRST, sample), ([*FIRST, *LATER], counted)):
        values = np.array([record["temp"] for record in records if record["temp"] is not None])
        bins = np.searchsorted(found["edges"], values, side="right")
        within = sum(((values[bins == own] - values[bins == own].mean()) ** 2).sum() for own in set(bins.tolist()))
        rmse = math.sqrt(within / len(values))
        errors = part["errors"]  # type: ignore[index]
        assert part["values"] == len(values)  # type: ignore[index]
        assert errors["rmse"] == pytest.approx(rmse, rel=1e-9)
        assert errors["rmse_sd"] == pytest.approx(rmse / values.std(), rel=1e-9)
        assert errors["nrmse"] == pytest.approx(rmse / (sample["greatest"] - sample["least"]), rel=1e-9)


def command(site: Site, *arguments: str, answer: str | None = None) -> Any:
    assert site.daemon is not None
    return CliRunner().invoke(main, ["cube", *arguments, "--server", site.daemon.url], input=answer)


def test_the_commands_show_and_ask_before_they_delete(site: Site, client: Client) -> None:
    shown = command(site, "bins", "air")
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.splitlines()[0].split()[:2] == ["dimension", "bins"]
    assert "bins(temp, 8) AS temp" in shown.stdout
    cells = client.show("air")["kept"]["cells"]  # type: ignore[index]
    dry = command(site, "rebin", "air", "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert dry.stdout.splitlines()[0].startswith("temp: 8 bins become 8, error ")
    assert dry.stdout.splitlines()[1:] == [
        f"deletes {cells:,} cells in 2 panes: the cube begins empty",
        "nothing is changed: leave --dry-run out",
    ]
    refused = command(site, "rebin", "air", answer="n\n")
    assert refused.exit_code == 1
    assert edges_of(client.show("air")) == sampled_edges(FIRST)
    unknown = command(site, "rebin", "air", "--dimension", "city", "--yes")
    assert "is none of the cube's bins: name some of temp" in unknown.output


def test_new_edges_begin_an_empty_cube(site: Site, client: Client) -> None:
    done = command(site, "rebin", "air", answer="y\n")
    assert done.exit_code == 0, done.output
    edges = sampled_edges([*FIRST, *LATER])
    assert edges_of(client.show("air")) == edges != sampled_edges(FIRST)
    await_backfill(client)
    assert bins_of(client, "temp:8") == direct([*FIRST, *LATER], edges)
    again = client.cubes.rebin("air", dry_run=True)
    assert (again["bins"], again["applied"], again["deleted_cells"]) == ([], False, 0)


def test_a_file_decides_the_edges_of_a_command(site: Site, client: Client, tmp_path: Path) -> None:
    file = tmp_path / "past.ndjson"
    file.write_text("\n".join(json.dumps(record) for record in LATER), "utf-8")
    done = command(site, "rebin", "air", "--calibrate", str(file), "--yes")
    assert done.exit_code == 0, done.output
    assert edges_of(client.show("air")) == sampled_edges(LATER)
    options = ["--measures", "count(*)", "--time", "ts", "--grain", "1h", "--calibrate", str(file)]
    done = command(site, "add", "other", "--dimensions", "bins(temp, 16)", *options)
    assert done.exit_code == 0, done.output
    assert edges_of(client.show("other")) == sampled_edges(LATER, 16)


def test_after_a_restart_the_edges_are_the_same(site: Site) -> None:
    edges = edges_of(site.client.get("/v1/queries/air").json())
    site.stop_before_its_commit()
    site.daemon = site.start()
    publish(site, FIRST[:10])
    assert edges_of(site.client.get("/v1/queries/air").json()) == edges == sampled_edges(LATER)


def test_only_who_may_change_queries_gets_new_edges(site: Site) -> None:
    assert site.client.post("/v1/queries/none/cube/rebin", json={}).status_code == 404
    answer = site.client.post("/v1/queries/air/cube/rebin", json={"calibrated": ["bins(city, 2, [1]) AS temp"]})
    assert (answer.status_code, "is none of the bins to replace" in answer.text) == (400, True)
