"""``asc demo aircraft``: its oracle, its path through a daemon, and how it says what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from click.testing import Result

from asc import Matcher
from asc.errors import ShapeError
from asc.layer_file import file_rows
from asc.spatial.layer import Layer
from asc.spatial.reading import Rules
from broker.client.client import Client
from broker.config.config import parse_config
from cli.demo import aircraft
from cli.demo.aircraft import LAYER, STREAM, fences, flown_through
from workloads.aircraft import SCHEMA, simulated
from workloads.natural_earth import countries_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from broker.kafka.embedded import EmbeddedKafka

Run = Callable[..., Result]


def test_the_oracle_is_what_the_engine_accepts_and_every_fence_has_some() -> None:
    rows = file_rows(countries_path(), Rules(), "ADM0_A3")
    countries = Layer({one.id: one.row for one in rows if not isinstance(one.row, ShapeError)})
    _, reports = simulated(aircraft.AIRCRAFT, duration_s=aircraft.HOURS * 3_600)
    schema = "longitude DOUBLE, latitude DOUBLE, altitude INT"
    wanted = fences()
    matcher = Matcher(schema, {name: one.where for name, one in wanted.items()}, layers={LAYER: countries})
    altitude = pa.array(reports.altitude_ft, pa.int32())
    table = pa.table({"longitude": reports.longitude, "latitude": reports.latitude, "altitude": altitude})
    shapes = {name: one.shape for name, one in countries.features.items() if one.shape is not None}
    for found in matcher.match(table, by="query").to_pylist():
        expected = wanted[found["query"]].oracle(shapes, reports).nonzero()[0].tolist()
        assert found["rows"] == expected
        assert len(expected) > 50


@pytest.fixture
def client(spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path) -> Iterator[Client]:
    from broker.daemon.daemon import Daemon

    config = {
        "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": "aircraft.queries"},
        "api": {"port": 0},
        "spark": {"checkpoint_dir": str(tmp_path), "warm_up_s": 0},
        "streams": {
            STREAM: {"topic": "demo-aircraft", "format": "json", "schema": SCHEMA, "starting_offsets": "earliest"}
        },
        "layers": {LAYER: {"topic": "demo-countries"}},
    }
    daemon = Daemon(parse_config(config), spark=spark)
    daemon.start()
    client = Client(daemon.url)
    yield client
    client.close()
    daemon.stop()


@pytest.mark.nightly
@pytest.mark.kafka
@pytest.mark.spark
def test_every_topic_has_the_reports_that_shapely_accepts(client: Client) -> None:
    report = flown_through(client, *simulated(150, duration_s=1_800))
    differing = [topic for topic in report["topics"] if not topic["agrees"]]
    assert report["agrees"], (differing, report["events"], report["pairs"], report["crowds"])
    assert report["countries"]["shapes"] == 176
    assert set(report["countries"]["refused"]) == {"SDN"}
    assert sum(topic["received"] for topic in report["topics"]) == report["deliveries"] > 1_000
    assert report["events"]["received"] == report["events"]["expected"] > 20
    assert report["pairs"]["received"] == report["pairs"]["expected"] > 0
    assert report["crowds"]["received"] == report["crowds"]["expected"] > 500
    assert report["crowds"]["windows"] > 50
    assert len(report["last_events"]) > 5


@pytest.mark.parametrize("agrees", [True, False])
def test_what_differs_is_told_and_ends_it_with_1(run: Run, monkeypatch: pytest.MonkeyPatch, agrees: bool) -> None:
    topic = {"query": "over-che", "where": "true", "topic": "asc.over-che", "received": 1, "expected": 2 - agrees}
    report: dict[str, Any] = {
        "agrees": agrees,
        "countries": {"shapes": 176, "refused": {"SDN": "Self-intersection at 33.963393 9.4642852"}},
        "topics": [{**topic, "agrees": agrees}],
        "events": {"query": "crossings", "topic": "asc.crossings", "received": 2, "expected": 2, "agrees": True},
        "pairs": {"query": "close", "topic": "asc.close", "received": 4, "expected": 5, "agrees": False},
        "crowds": {"topic": "asc.crowds", "windows": 3, "received": 40, "expected": 41, "agrees": False},
        "last_events": ["15:20:10  3c0001 ALP12    entered countries/CHE FL380  438 kt"],
        "reports": 3,
        "aircraft": 2,
        "deliveries": 1,
        "until_last_delivery_s": 0.5,
    }
    monkeypatch.setattr(aircraft, "run_aircraft", lambda picture: {**report, "picture": picture and str(picture)})
    result = run("demo", "aircraft", "--picture", "map")
    assert result.exit_code == (0 if agrees else 1)
    assert "176 shapes, 1 refused: SDN Self-intersection at 33.963393 9.4642852 (--repair mends it)" in result.stdout
    assert "3c0001 ALP12    entered countries/CHE FL380  438 kt\n" in result.stdout
    assert "2 events in asc.crossings, 2 by shapely and a loop; 4 in asc.close, 5 by loops." in result.stdout
    assert "40 labels of 3 windows in asc.crowds, 41 by the definition of DBSCAN over all pairs." in result.stdout
    assert "A map of it: map.png and .svg" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("OK: " if agrees else "FAILED: not every topic")


def test_a_picture_is_of_aircraft(run: Run) -> None:
    result = run("demo", "--picture", "map")
    assert result.exit_code == 2
    assert "--picture goes with 'asc demo aircraft'" in result.stderr
