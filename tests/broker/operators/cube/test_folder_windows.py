"""The folder of cubes and the windows that it writes, over a real Kafka: what fails, and what comes after it."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from asc.operators.cube.task_fold import CubeFold, CubePartial
from asc.predicate import normalise
from broker.config.sections import KafkaConfig, LimitsConfig
from broker.errors import KafkaError
from broker.formats.record_attributes import attributes_of
from broker.kafka.cluster import KafkaCluster
from broker.kafka.embedded import EmbeddedKafka
from broker.matching.fold_task import FoldCounts, FoldPartial
from broker.operators.cube.definition import StandingCube
from broker.operators.cube.folder import CubeFolder
from broker.operators.cube.kind import CUBE
from broker.operators.fold_destination import FoldDestination
from broker.operators.folder import FoldBatch, FoldContext
from broker.operators.kind import FoldedQuery
from broker.operators.schema_analyser import SchemaAnalyser
from tests.broker.operators.cube.kept_stream import BASE_US, SCHEMA, Record, fold
from tests.broker.operators.cube.window_rig import at, minute

pytestmark = pytest.mark.kafka

ATTRIBUTES = attributes_of(SCHEMA)
PLAIN = {
    "name": "cube",
    "dimensions": [["carrier"]],
    "measures": ["count(*) AS n", "max(dest) AS last"],
    "time": "t",
    "grain_s": 60,
    "output": [["carrier"]],
    "window_s": 60,
    "slide_s": 60,
}


@pytest.fixture
def cluster(kafka: EmbeddedKafka) -> Iterator[KafkaCluster]:
    own = KafkaCluster(kafka.bootstrap_servers, KafkaConfig())
    yield own
    own.close()


def folder_of(path: Path, cluster: KafkaCluster) -> CubeFolder:
    return CubeFolder(FoldContext("s", path, ATTRIBUTES, LimitsConfig(), 0, "UTC", cluster))


def query_of(topic: str, name: str = "late", **changed: object) -> FoldDestination:
    definition = StandingCube.parse({**PLAIN, **changed})
    analyser = SchemaAnalyser(ATTRIBUTES)
    asked = FoldedQuery(name, "s", "true", topic)
    where = normalise("true", ATTRIBUTES)
    return CUBE.destination(definition, asked, where, CUBE.read(definition, analyser))


def batch_of(first: int, *records: Record, queries: list[FoldDestination]) -> FoldBatch:
    """A batch of the records from an offset on, as workers fold it."""
    partials = {}
    for query in queries:
        layout = CubeFold().prepare(query.definition)
        found = fold(layout.definition, records)
        state = CubePartial(found.cells, found.by_pane).to_bytes(layout)
        partials[query.id] = FoldPartial(state, FoldCounts(found.counted))
    newest = {0: BASE_US + max(record[3] or 0 for record in records)}
    return FoldBatch(
        *(first, 1, "T", {0: first}, {0: first + len(records)}, frozenset(), {query.id: query for query in queries}),
        partials=partials,
        failed={},
        newest_us={"unix_micros(t)": newest},
    )


def rows_of(cluster: KafkaCluster, topic: str) -> list[tuple[str, str, int | None]]:
    """End, carrier and count of each row of a topic, and of tombstones none."""
    with cluster.client.reading([topic], from_beginning=True, to_end=True) as messages:
        found = [(dict(one.headers)["asc-event"].decode(), json.loads(one.key), one.value) for one in messages]
    return [
        (event.partition("@")[2].replace("/carrier", ""), key["group"]["carrier"], value and json.loads(value)["n"])
        for event, key, value in found
    ]


def test_what_a_failure_leaves_is_written_before_the_next_commit_changes_it(
    cluster: KafkaCluster, tmp_path: Path
) -> None:
    topic = f"asc.{uuid.uuid4().hex}"
    query = query_of(topic)
    broken = KafkaCluster("127.0.0.1:1", KafkaConfig(timeout_s=1))
    folder = folder_of(tmp_path, broken)
    first = batch_of(0, at(0.5), at(0.6), at(1.5), queries=[query])
    with pytest.raises(KafkaError, match="does not answer"):
        folder.commit(first)
    assert folder.outputs == {}
    # The records are committed: the batch is covered when it is run again, and counted once.
    with pytest.raises(KafkaError, match="does not answer"):
        folder.commit(first)
    assert folder.totals.counted == 3
    folder.close()
    broken.close()
    # Another batch than the one that failed, as after a binding that is lost: one of its records is late.
    folder = folder_of(tmp_path, cluster)
    assert folder.commit(batch_of(3, at(0.7), at(1.6), queries=[query])) == {}
    assert rows_of(cluster, topic) == [(f"{minute(1)}#0", "B6", 2), (f"{minute(1)}#1", "B6", 3)]
    # The batch that failed comes again all the same, and is covered.
    assert folder.commit(first) == {}
    assert folder.outputs == {"window": 1, "revision": 1}
    assert len(rows_of(cluster, topic)) == 2
    folder.close()


def test_a_row_that_its_topic_does_not_take_parks_its_cube_and_others_go_on(
    cluster: KafkaCluster, tmp_path: Path
) -> None:
    small, other = f"asc.{uuid.uuid4().hex}", f"asc.{uuid.uuid4().hex}"
    cluster.ensure_topics([small], {"cleanup.policy": "compact", "max.message.bytes": "2000"})
    queries = [query_of(small, "small"), query_of(other, "other")]
    folder = folder_of(tmp_path, cluster)
    long = os.urandom(4_000).hex()
    (parked,) = folder.commit(batch_of(0, at(0.5, dest=long), at(1.5), queries=queries)).items()
    assert parked[0] == "small"
    assert parked[1].startswith(f"topic '{small}': takes no row so large")
    assert rows_of(cluster, other) == [(f"{minute(1)}#0", "B6", 1)]
    folder.close()


def test_a_removed_output_and_a_removed_cube_write_no_more(cluster: KafkaCluster, tmp_path: Path) -> None:
    topic = f"asc.{uuid.uuid4().hex}"
    folder = folder_of(tmp_path, cluster)
    folder.commit(batch_of(0, at(0.5), at(1.5), queries=[query_of(topic)]))
    none = {"output": [], "window_s": None, "slide_s": None}
    folder.commit(batch_of(2, at(2.5), queries=[query_of(topic, **none)]))
    assert rows_of(cluster, topic) == [(f"{minute(1)}#0", "B6", 1)]
    assert folder.keeper._store.execute("SELECT * FROM windows") == []
    assert folder.keeper.snapshot.status(next(iter(folder.keeper.snapshot.cubes)))["counted"] == 3
    folder.close()
