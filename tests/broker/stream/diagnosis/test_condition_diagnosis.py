"""A condition of a near query that ends its batches, or never returns, is parked; the pairs of others go on."""

from __future__ import annotations

import json
import os
import re
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from asc.predicate import normalise
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.schema import Schema
from broker.config.config import Config, parse_config
from broker.errors import KafkaError
from broker.operators.near.condition import NearCondition, pair_schema
from broker.operators.near.suspect_pairs import JudgedPairs
from broker.plans.stream_folder import stream_folder
from broker.stream.analyser import StreamAnalyser
from broker.stream.diagnosis.condition_diagnosis import ConditionDiagnosis

if TYPE_CHECKING:
    from conftest import Site
    from pyspark.sql import DataFrame, SparkSession

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(900)]

BEGIN = datetime(2026, 1, 1, tzinfo=timezone.utc)
RIGGED = {
    "4731": "if(a.altitude = 31, CAST(raise_error('unlucky') AS INT), 1)",
    "4732": "if(a.altitude = 32, length(reflect('java.lang.Thread', 'sleep', 600000L)), 1)",
}
"""By what a condition has in it: what it means instead."""


def config_of(kafka: EmbeddedKafka, folder: Path) -> Config:
    own = uuid.uuid4().hex[:12]
    stream = {
        "topic": f"source-{own}",
        "format": "json",
        "schema": "icao24 STRING, ts TIMESTAMP, longitude DOUBLE, latitude DOUBLE, altitude INT",
        "max_future_s": 2_592_000,
        "lateness_s": 5,
    }
    spark = {"checkpoint_dir": str(folder), "master": "local[2]", "warm_up_s": 0, "expression_timeout_s": 20}
    return parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
            "api": {"port": 0},
            "spark": spark,
            "streams": {f"near-{own}": stream},
        }
    )


@pytest.fixture
def rigged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the conditions of RIGGED mean what no condition can."""
    honest = StreamAnalyser.normalise

    def normalise(self: StreamAnalyser, where: str, *given: Any, **more: Any) -> Predicate:
        found = honest(self, where, *given, **more)
        for marked, sql in RIGGED.items():
            if marked in where:
                conjuncts = tuple(
                    tuple((replace(attribute, sql=sql), constraint) for attribute, constraint in conjunct)
                    for conjunct in found.conjuncts
                )
                return replace(found, conjuncts=conjuncts)
        return found

    monkeypatch.setattr(StreamAnalyser, "normalise", normalise)


@pytest.fixture(scope="module")
def sky(site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Site:
    return site_of(config_of(kafka, tmp_path_factory.mktemp("conditions")))


def near(site: Site, query_id: str, on: str | None) -> Any:
    operator = {"name": "near", "key": "icao24", "time": "ts", "distance_m": 2_000, "window_s": 10, "every_s": 10}
    return site.register(query_id, "altitude >= 0", operator={**operator, "on": on})["query"]["topic"]


def publish(site: Site, second: float, altitude: int, *keys: str) -> None:
    at = (BEGIN + timedelta(seconds=second)).isoformat()
    rows = [{"icao24": key, "ts": at, "longitude": 7.5, "latitude": 46.5, "altitude": altitude} for key in keys]
    site.publish([json.dumps(row).encode() for row in rows])
    # A record in the same batch would say nothing of time: what a batch says holds from the next one on.
    site.drain()
    site.pass_batch()


def await_pairs(site: Site, topic: str, count: int) -> list[Any]:
    deadline = time.monotonic() + 300
    while len(found := sorted({record.key for record in site.read(topic)}, key=str)) < count:
        assert time.monotonic() < deadline, site.daemon and site.daemon.readiness()
        time.sleep(0.2)
    return found


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(
    ("marked", "altitude", "fault"),
    [
        ("4731", 31, "ends a batch ([USER_RAISED_EXCEPTION] unlucky"),
        ("4732", 32, "it does not end in 20 s"),
    ],
    ids=["fails", "never returns"],
)
def test_the_query_of_a_condition_that_pairs_cannot_go_on_with_is_parked(
    sky: Site, rigged: None, marked: str, altitude: int, fault: str
) -> None:
    guilty_on = f"a.altitude + b.altitude < {marked}"
    plain, fine = near(sky, f"plain-{marked}", None), near(sky, f"fine-{marked}", "a.altitude = b.altitude")
    guilty = near(sky, f"guilty-{marked}", guilty_on)
    begin = altitude * 1_000
    publish(sky, begin + 1, altitude, f"{marked}-a", f"{marked}-b")
    publish(sky, begin + 40, 5, "z")
    pair = json.dumps([f"{marked}-a", f"{marked}-b"], separators=(",", ":")).encode()
    assert await_pairs(sky, fine, 1) == await_pairs(sky, plain, 1) == [pair]
    deadline = time.monotonic() + 400
    while (found := sky.client.get(f"/v1/queries/guilty-{marked}").json())["served"]:
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    assert f"is parked, for its condition '{guilty_on}'" in found["reason"]
    assert fault in found["reason"]
    assert [sky.client.get(f"/v1/queries/{name}-{marked}").json()["served"] for name in ("plain", "fine")] == [True] * 2
    # What comes later is told at once, and of the one that is parked nothing.
    publish(sky, begin + 51, altitude, f"{marked}-c", f"{marked}-d")
    publish(sky, begin + 90, 5, "z")
    await_pairs(sky, fine, 2)
    assert sky.daemon is not None
    assert sky.daemon.readiness() is None
    assert sky.read(guilty) == []
    # Registered anew with another condition, it is served again.
    near(sky, f"guilty-{marked}", "a.altitude <= b.altitude")
    publish(sky, begin + 101, altitude, f"{marked}-e", f"{marked}-f")
    publish(sky, begin + 140, 5, "z")
    await_pairs(sky, guilty, 1)
    for name in ("plain", "fine", "guilty"):
        assert sky.client.delete(f"/v1/queries/{name}-{marked}").status_code == 200


EXITS = "if(a.altitude = 13, CAST(reflect('java.lang.System', 'exit', 3) AS INT), 1)"
LOW, HIGH = "a.altitude < b.altitude", "a.altitude > b.altitude"
SCHEMA = Schema.from_ddl("altitude INT")
VERSION = 41
"""The version of the plan that runs when a condition is found."""


def condition(text: str, sql: str | None = None) -> NearCondition:
    """A condition; ``sql``: what it means instead."""
    pairs = pair_schema(SCHEMA)
    found = NearCondition.of(text, SCHEMA, lambda where: normalise(where, pairs))
    if sql is None:
        return found
    conjuncts = tuple(
        tuple((replace(attribute, sql=sql), constraint) for attribute, constraint in conjunct)
        for conjunct in found.predicate.conjuncts
    )
    return replace(found, predicate=replace(found.predicate, conjuncts=conjuncts))


@pytest.fixture
def pairs(spark: SparkSession) -> DataFrame:
    """Of a batch: a pair of each condition, and of none."""
    low, high = '{"`altitude`":12}', '{"`altitude`":13}'
    rows = [(LOW, low, high, None, None), (HIGH, high, low, low, low), (None, None, None, None, None)]
    return spark.createDataFrame(rows, "condition STRING, own_a STRING, own_b STRING, other_a STRING, other_b STRING")


@pytest.fixture
def anew(kafka: EmbeddedKafka, tmp_path: Path) -> Callable[[], ConditionDiagnosis]:
    """As a daemon has it that starts."""
    config = config_of(kafka, tmp_path)
    (name,) = config.streams
    return lambda: ConditionDiagnosis("near", name, config, tmp_path / name, lambda: VERSION)


def begin_in_vain(
    diagnosis: ConditionDiagnosis,
    pairs: DataFrame,
    conditions: dict[str, NearCondition],
    error: Exception | None = None,
) -> None:
    error = error or ValueError("in vain")

    def begin() -> None:
        with diagnosis.judging(7, JudgedPairs(pairs, conditions)) as judged:
            assert list(judged) == list(conditions)
            raise error

    with pytest.raises(type(error), match=re.escape(str(error))):
        begin()


@pytest.mark.nightly
@pytest.mark.slow
def test_a_condition_that_ends_the_process_is_found_after_the_second_time_by_whoever_starts_then(
    pairs: DataFrame, anew: Callable[[], ConditionDiagnosis]
) -> None:
    conditions = {LOW: condition(LOW), HIGH: condition(HIGH, EXITS)}
    for _ in range(2):
        # The note is there before anything is judged, so it does not matter how the process ends.
        begin_in_vain(anew(), pairs, conditions)
    diagnosis = anew()
    with diagnosis.judging(7, JudgedPairs(pairs, conditions)) as judged:
        assert list(judged) == [LOW]
    assert diagnosis.finding is not None
    (faulty,) = diagnosis.finding.conditions.values()
    assert list(diagnosis.finding.conditions) == [HIGH]
    assert f"its condition '{HIGH}' ends a batch (the process that computes it ends)" in faulty.reason
    assert faulty.version == VERSION
    found_anew = anew().finding
    assert found_anew is not None
    assert found_anew.conditions == diagnosis.finding.conditions
    assert not list(diagnosis._path.parent.glob("*.parquet"))
    # No batch judges it, after a restart neither, until a plan has it again.
    for one in (diagnosis, anew()):
        with one.judging(8, JudgedPairs(pairs, conditions)) as judged:
            assert list(judged) == [LOW]
    diagnosis.allow({LOW, HIGH})
    with diagnosis.judging(9, JudgedPairs(pairs, conditions)) as judged:
        assert list(judged) == [LOW], "its query is not parked yet"
    diagnosis.go_on(diagnosis.finding)
    diagnosis.allow({LOW})
    diagnosis.allow({HIGH})
    for one in (diagnosis, anew()):
        with one.judging(10, JudgedPairs(pairs, conditions)) as judged:
            assert list(judged) == list(conditions)


def test_what_was_none_of_the_conditions_fault_is_not_held_against_them(
    pairs: DataFrame, anew: Callable[[], ConditionDiagnosis]
) -> None:
    conditions = {HIGH: condition(HIGH, "CAST(raise_error('unlucky') AS INT)")}
    for _ in range(4):
        begin_in_vain(anew(), pairs, conditions, KafkaError("topic", "out", "is not there"))
    stopping = anew()
    for _ in range(4):
        stopping.ask_to_stop()
        begin_in_vain(stopping, pairs, conditions)
    # Another batch has a count of its own.
    begin_in_vain(anew(), pairs, conditions)
    with anew().judging(8, JudgedPairs(pairs, conditions)) as judged:
        assert list(judged) == list(conditions)


def test_the_first_python_worker_of_a_batch_that_dies_is_not_held_against_conditions(
    pairs: DataFrame, anew: Callable[[], ConditionDiagnosis]
) -> None:
    def died(batches: Any) -> Any:
        yield from batches
        os._exit(1)

    with pytest.raises(Exception, match="exited unexpectedly") as caught:
        pairs.sparkSession.range(1, numPartitions=1).mapInArrow(died, "id LONG").collect()
    conditions = {LOW: condition(LOW)}
    diagnosis = anew()
    for times in (0, 1, 2):
        begin_in_vain(diagnosis, pairs, conditions, caught.value)
        assert diagnosis._noted.times == times


def test_a_batch_without_conditions_notes_nothing(pairs: DataFrame, anew: Callable[[], ConditionDiagnosis]) -> None:
    diagnosis = anew()
    with diagnosis.judging(7, JudgedPairs(pairs, {})) as judged:
        assert list(judged) == []
    assert not diagnosis._path.exists()


def test_a_note_without_versions_parks_nothing_and_excludes_until_a_plan_has_the_condition(
    pairs: DataFrame, anew: Callable[[], ConditionDiagnosis]
) -> None:
    """The version of the software before wrote such notes."""
    path = anew()._path
    path.parent.mkdir(parents=True, exist_ok=True)
    note = {"batch": 6, "times": 1, "slow": False, "excluded": {HIGH: "is parked"}}
    path.write_text(json.dumps(note), "utf-8")
    conditions = {LOW: condition(LOW), HIGH: condition(HIGH)}
    diagnosis = anew()
    assert diagnosis.finding is not None
    assert diagnosis.finding.conditions[HIGH].version < 0
    with diagnosis.judging(7, JudgedPairs(pairs, conditions)) as judged:
        assert list(judged) == [LOW]
    diagnosis.go_on(diagnosis.finding)
    diagnosis.allow({HIGH})
    with diagnosis.judging(8, JudgedPairs(pairs, conditions)) as judged:
        assert list(judged) == list(conditions)


def test_a_query_registered_anew_after_the_finding_is_not_parked_by_a_restart(site: Site) -> None:
    def registered(query_id: str, on: str) -> int:
        operator = {"name": "near", "key": "s", "distance_m": 2_000, "window_s": 10, "every_s": 10, "on": on}
        operator["position"] = "ST_Point(d, d)"
        found = site.register(query_id, "n > 0", operator=operator)["query"]
        assert found["served"]
        return int(found["version"])

    again, left = "a.n < b.n", "a.n > b.n"
    versions = {again: registered("again", again), left: registered("left", left)}
    assert site.client.delete("/v1/queries/again").status_code == 200
    assert registered("again", again) > versions[again]
    assert site.daemon is not None
    site.daemon.stop()
    # Both were found before; a query of one is registered anew, and no batch has evaluated its condition.
    note = stream_folder(site.config.spark.checkpoint_dir, site.stream("json")) / "near-conditions.json"
    plain = {"batch": 0, "times": 1, "slow": False, "excluded": dict.fromkeys(versions, "is parked, for a test")}
    note.write_text(json.dumps({**plain, "versions": versions}), "utf-8")
    site.daemon = site.start()
    found = {query["id"]: query for query in site.client.get("/v1/queries").json()["queries"]}
    assert (found["left"]["served"], found["left"]["reason"]) == (False, "is parked, for a test")
    assert found["again"]["served"], found["again"]["reason"]


@pytest.mark.parametrize("text", ["", "[]", '{"batch": 1}', '{"batch": 1, "times": 1, "slow": false, "excluded": []}'])
def test_a_note_that_cannot_be_read_is_said_and_left(
    text: str, pairs: DataFrame, anew: Callable[[], ConditionDiagnosis], caplog: pytest.LogCaptureFixture
) -> None:
    path = anew()._path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    diagnosis = anew()
    assert "cannot be read, and what it said is found anew" in caplog.text
    with diagnosis.judging(1, JudgedPairs(pairs, {LOW: condition(LOW)})) as judged:
        assert list(judged) == [LOW]
