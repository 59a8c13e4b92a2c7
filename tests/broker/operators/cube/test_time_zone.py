"""Cubes of a Spark session that is not of UTC: one zone for records, WHERE, expressions, workers and questions."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest

from asc.operators.cube.task_fold import CubeFold
from asc.predicate import normalise
from asc.schema import Schema
from broker.config.sections import KafkaConfig
from broker.errors import QueryError
from broker.formats.record_attributes import attributes_of
from broker.kafka.cluster import KafkaCluster
from broker.operators.cube.definition import StandingCube
from broker.operators.cube.folder import CubeFolder, cube_of
from broker.operators.cube.kind import CUBE
from broker.operators.fold_destination import FoldDestination
from broker.operators.folder import FoldContext, Folder
from broker.operators.kind import FoldedQuery
from broker.operators.schema_analyser import SchemaAnalyser
from tests.broker.fold_rig import FoldRig

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from broker.kafka.embedded import EmbeddedKafka

ZONE = "America/New_York"
DDL = "t TIMESTAMP, n INT"
ATTRIBUTES = attributes_of(Schema.from_ddl(DDL))
WHERE = "t >= TIMESTAMP '2026-03-07 22:00:00'"
DAY = "date_trunc('DAY', t)"
PLAIN = {
    "name": "cube",
    "dimensions": [[DAY, "hour(t)"]],
    "measures": [
        "count(*) AS n",
        "count(*) FILTER (WHERE t < TIMESTAMP '2026-03-08 12:00:00') AS early",
        "max(t) AS last",
    ],
    "time": "t",
    "grain_s": 3600,
}


def destination(time_zone: str, **changed: object) -> FoldDestination:
    definition, analyser = StandingCube.parse({**PLAIN, **changed}), SchemaAnalyser(ATTRIBUTES, time_zone)
    asked = FoldedQuery("zoned", "folded", WHERE, "asc.zoned")
    where = normalise(WHERE, ATTRIBUTES, time_zone=time_zone)
    return CUBE.destination(definition, asked, where, CUBE.read(definition, analyser))


def test_workers_and_registration_read_in_the_zone_of_the_session() -> None:
    again = FoldDestination.of(destination(ZONE).in_plan())
    assert CubeFold().prepare(again.definition).time_zone == ZONE
    with pytest.raises(QueryError, match=r"operator\.grain_s '3600': does not divide the offset .* Asia/Kolkata"):
        destination("Asia/Kolkata")
    destination("Asia/Kolkata", grain_s=1800)


@pytest.mark.spark
@pytest.mark.kafka
def test_a_cube_is_that_of_duckdb_in_the_zone_of_the_session(
    spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    # The clocks skip the hour from two to three.
    times = [datetime(2026, 3, 7, 20) + timedelta(minutes=17 * place) for place in range(120)]
    cluster = KafkaCluster(kafka.bootstrap_servers, KafkaConfig())
    folders: dict[str, Folder] = {}
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", ZONE)
    rig = FoldRig.made(session, kafka, tmp_path, folders, schema=DDL, limits={}, time_zone=ZONE)
    folder = CubeFolder(FoldContext("folded", tmp_path, ATTRIBUTES, rig.config.limits, 0, ZONE, cluster))
    folders["cube"], query = folder, destination(ZONE)
    try:
        rig.run(rig.plan(("zoned", WHERE, query)), *({"t": str(time), "n": 1} for time in times))
        by = {"by": [DAY, "hour(t)"], "live": True}
        rows = folder.keeper.questions.query(cube_of(query), by)["rows"]
        where = f"`{DAY}` = TIMESTAMP '2026-03-08 00:00:00'"
        of_day = folder.keeper.questions.query(cube_of(query), {**by, "where": where})["rows"]
    finally:
        folder.close()
        rig.close()
        cluster.close()
    expected = by_duckdb(times)
    assert [
        (row["group"][DAY], row["group"]["hour(t)"], row["n"], row["early"], row["last"]) for row in rows
    ] == expected
    assert len(expected) > 24
    assert of_day == [row for row in rows if row["group"][DAY] == "2026-03-08T05:00:00Z"] != []


def by_duckdb(times: list[datetime]) -> list[tuple[str, int, int, int, str]]:
    with duckdb.connect() as connection:
        connection.execute(f"SET TimeZone = '{ZONE}'")
        connection.register("given", pa.table({"local": pa.array(map(str, times))}))
        return connection.execute(
            """WITH records AS (SELECT local::TIMESTAMPTZ AS t FROM given)
            SELECT strftime(date_trunc('day', t) AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ'), hour(t), count(*),
                count(*) FILTER (WHERE t < '2026-03-08 12:00:00'::TIMESTAMPTZ),
                strftime(max(t) AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ')
            FROM records WHERE t >= '2026-03-07 22:00:00'::TIMESTAMPTZ
            GROUP BY date_trunc('day', t), hour(t) ORDER BY 1, 2"""
        ).fetchall()
