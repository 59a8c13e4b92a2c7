"""Questions about places over HTTP and by the command, to a daemon that counts recorded positions by geohashes."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

from broker.config.config import Config, parse_config
from cli.main import main

if TYPE_CHECKING:
    from conftest import Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

BEGIN = datetime(2026, 6, 1, tzinfo=timezone.utc)
SCOPE = [6.5, 46.25, 8.75, 47.5]
COUNT = 600


def positions() -> list[dict[str, Any]]:
    random = np.random.default_rng(2)
    return [
        {
            "lat": None if row % 50 == 0 else round(float(random.normal(47, 1)), 4),
            "lon": round(float(random.normal(8, 2)), 4),
            "ts": (BEGIN + timedelta(seconds=10 * row)).isoformat(),
        }
        for row in range(COUNT)
    ]


@pytest.fixture(scope="module")
def site(site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder, own = tmp_path_factory.mktemp("places"), uuid.uuid4().hex[:12]
    stream = {"topic": f"air-{own}", "format": "json", "schema": "lat DECIMAL(9,4), lon DOUBLE, ts TIMESTAMP"}
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


def run(site: Site, *arguments: str) -> str:
    assert site.daemon is not None
    done = CliRunner().invoke(main, [*arguments, "--server", site.daemon.url])
    assert done.exit_code == 0, done.output
    return done.stdout


def warned(site: Site, *arguments: str) -> bool:
    """Return whether the output of a check has the warning of exchanged coordinates."""
    assert site.daemon is not None
    done = CliRunner().invoke(main, ["cube", "check", "x", *arguments, "--server", site.daemon.url])
    assert done.exit_code == 0, done.output
    return "out of range" in done.output


def test_a_cube_of_positions(site: Site) -> None:
    dimensions = "geohash(lat, lon, 10 > 15 > 20) AS geo"
    options = ["--measures", "count(*) AS n", "--time", "ts", "--grain", "10min", "--keep", "10min:1d, 1h:2d geo:10"]
    storage = ["--materialise", "geo:15 at 1h", "--topic", site.topic("air")]
    stream = ["--stream", site.stream("json")]
    run(site, "cube", "add", "air", "--dimensions", dimensions, *options, *storage, *stream)
    records = positions()
    site.publish([json.dumps(record).encode() for record in records])
    site.drain()

    found = json.loads(run(site, "cube", "query", "air", "--by", "geo:20", "--live", "--json"))
    assert sum(row["n"] for row in found["rows"]) == COUNT
    assert [row["n"] for row in found["rows"] if row["group"]["geo:10"] is None] == [COUNT // 50]
    assert {row["group"]["geo:15"][:2] for row in found["rows"] if row["group"]["geo:15"]} == {
        row["group"]["geo:10"] for row in found["rows"] if row["group"]["geo:10"]
    }

    checked = ["--measures", "count(*)", "--time", "ts", "--grain", "1h", *stream]
    assert not warned(site, *checked, "--dimensions", "geohash(lat, lon, 10)")
    assert warned(site, *checked, "--dimensions", "geohash(lon + 90, lat, 10)")

    west, south, east, north = SCOPE
    placed = [record for record in records if record["lat"] is not None]
    is_in = [west <= record["lon"] <= east and south <= record["lat"] <= north for record in placed]
    text = ",".join(map(str, SCOPE))
    (row,) = json.loads(run(site, "cube", "query", "air", "--within", text, "--live", "--json"))["rows"]
    assert 0 < row["inside"] <= sum(is_in) <= row["n"] == row["inside"] + row["touched"]
    table = run(site, "cube", "query", "air", "--by", "geo:15", "--within", text, "--live", "--order", "inside DESC")
    assert table.splitlines()[0].split() == ["geo:10", "geo:15", "n", "inside", "touched"]

    def asked(body: dict[str, Any]) -> Any:
        return site.client.post("/v1/queries/air/cube/query", json={"live": True, **body})

    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    polygon = {"type": "Polygon", "coordinates": [ring]}
    for scope in (SCOPE, polygon, {"dimension": "geo", "scope": SCOPE}):
        assert asked({"within": scope}).json()["rows"] == [row]
    linked = asked({"by": ["geo:10"], "within": polygon}).json()["drill_down"][0]
    assert asked(linked).status_code == 200
    refused = asked({"within": {"type": "Polygon", "coordinates": [[ring[0], ring[2], ring[1], ring[3], ring[0]]]}})
    assert (refused.status_code, "Self-intersection" in refused.text) == (400, True)
    assert site.client.get("/console/cubes/air?by=geo:15").status_code == 200
    site.client.delete("/v1/queries/air")
