"""Windows that a commit leaves: all are written though no further batch comes, and a parked cube gets smaller."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from asc.operators.cube.revisions import RevisionLimits
from broker.config.sections import KafkaConfig
from broker.errors import KafkaError
from broker.kafka.cluster import KafkaCluster
from broker.kafka.embedded import EmbeddedKafka
from broker.operators.cube.first_limits import FirstLimits
from broker.operators.cube.folder import CubeFolder
from broker.operators.cube.merging import CubeLimits
from broker.operators.cube.window_writer import WindowWriter
from broker.operators.fold_destination import FoldDestination
from tests.broker.operators.cube.kept_stream import batch, cube_id, opened
from tests.broker.operators.cube.test_folder_windows import batch_of, folder_of, query_of, rows_of
from tests.broker.operators.cube.window_rig import Rig, at, check, minute, output


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    own = Rig.of(
        *(tmp_path, output(2, 1, cuboids=[["carrier"]])),
        limits=RevisionLimits(rows=2, windows=1),
        first_limits=FirstLimits(windows=3),
    )
    yield own
    own.keeper.close()


def test_the_windows_that_a_commit_leaves_are_written_without_another_one(rig: Rig) -> None:
    rig.commit(*(at(number + 0.5) for number in range(20)))
    assert rig.windows.is_behind
    for call in range(2, 7):
        assert rig.writer.write_left([rig.id]) == {}
        assert [row.kind for row in rig.sent.rows].count("window") == 3 * call
    assert rig.writer.write_left([rig.id]) == {}
    assert not rig.windows.is_behind
    check(rig)
    count = len(rig.sent.rows)
    assert rig.writer.write_left([rig.id]) == {}
    assert len(rig.sent.rows) == count


def test_revisions_that_a_commit_leaves_are_written_without_another_one(rig: Rig) -> None:
    rig.commit(*(at(number + 0.5) for number in range(4)))
    rig.commit(at(0.6), at(1.6), at(2.6))
    assert rig.windows.changes
    for _ in range(10):
        assert rig.writer.write_left([rig.id]) == {}
    assert rig.windows.changes == ()
    check(rig)


@pytest.mark.parametrize("fails_after", range(4))
def test_a_fault_repeats_the_rows_of_the_commit_that_left_them(rig: Rig, fails_after: int) -> None:
    rig.commit(*(at(number + 0.5) for number in range(12)))
    rig.sent.fails_after = fails_after
    if fails_after < 3:
        with pytest.raises(KafkaError):
            rig.writer.write_left([rig.id])
    else:
        rig.writer.write_left([rig.id])
    rig.sent.fails_after = None
    rig.start_again()
    # Late for windows that were sent already: had they been sent from this commit, they would have it.
    rig.commit(at(4.6), at(5.6), at(12.5))
    for _ in range(30):
        rig.writer.write_left([rig.id])
    check(rig)
    rows: dict[tuple[str, bytes], bytes | None] = {}
    for row in rig.sent.rows:
        assert rows.setdefault((row.identity, row.key), row.value) == row.value


def test_a_cube_that_is_parked_for_its_backlog_of_revisions_drains_it_and_goes_on(rig: Rig, tmp_path: Path) -> None:
    rig.commit(*(at(number + 0.5) for number in range(12)))
    for _ in range(9):
        rig.writer.write_left([rig.id])
    rig.commit(*(at(number + 0.6, f"C{part}") for number in range(10) for part in range(20)))
    state = rig.keeper.snapshot.cube(rig.id)
    assert state.windows is not None
    backlog_bytes = state.windows.size_bytes
    assert backlog_bytes > 5_000
    rig.keeper.close()
    limits = CubeLimits(size_bytes=state.size_bytes)
    rig.keeper = opened(tmp_path, limits=limits)
    rig.writer = rig.new_writer()
    rig.commit(*(at(3.5, f"D{part}") for part in range(20)))
    parked = rig.keeper.snapshot.cube(rig.id).parked
    assert parked is not None
    assert "for revisions of its windows, and limits.cube_bytes is" in parked
    # Another cube makes windows final: of these the parked one has not the records.
    other, written, places = cube_id("other", rig.cube), rig.windows.written, len(rig.topic.partitions[0])
    rig.keeper.define(other, rig.cube)
    rig.topic.partitions[0].append(at(40.5))
    rig.topic.commit(rig.keeper, batch(places, places + 1), {other: rig.cube})
    for _ in range(1_000):
        if not rig.windows.changes:
            break
        assert rig.writer.write_left([rig.id]) == {}
    assert rig.windows.changes == ()
    assert rig.windows.written == written
    assert rig.windows.size_bytes < backlog_bytes
    rig.keeper.resume(rig.id)
    rig.commit(at(41.5))
    assert rig.keeper.snapshot.cube(rig.id).parked is None
    assert rig.windows.written != written


# -- over a real Kafka


@pytest.fixture
def cluster(kafka: EmbeddedKafka) -> Iterator[KafkaCluster]:
    own = KafkaCluster(kafka.bootstrap_servers, KafkaConfig())
    yield own
    own.close()


def slow_folder(path: Path, cluster: KafkaCluster, *queries: FoldDestination) -> CubeFolder:
    """Return a folder that writes a window for each commit."""
    folder = folder_of(path, cluster)
    folder.set_registered({query.id: query.since for query in queries}, {query.id: query for query in queries}, 1, {})
    limits = RevisionLimits(), FirstLimits(windows=1)
    folder._writer = WindowWriter(folder.keeper, folder._sender, folder._outputs, *limits)
    return folder


@pytest.mark.kafka
def test_a_stream_without_records_writes_what_its_last_batch_has_left(cluster: KafkaCluster, tmp_path: Path) -> None:
    query = query_of(f"asc.{uuid.uuid4().hex}")
    folder = slow_folder(tmp_path, cluster, query)
    assert folder.write_left() == {}
    assert folder.commit(batch_of(0, *(at(number + 0.5) for number in range(5)), queries=[query])) == {}
    # Between the batches of a busy stream the next one goes on.
    assert folder.write_left() == {}
    assert folder.outputs == {"window": 1}
    for _ in range(5):
        assert folder.write_left() == {}
    assert folder.outputs == {"window": 4}
    assert rows_of(cluster, query.topic) == [(f"{minute(number)}#0", "B6", 1) for number in range(1, 5)]
    # A paused query writes nothing.
    assert folder.commit(batch_of(5, *(at(number + 0.5) for number in range(5, 9)), queries=[query])) == {}
    folder.set_registered({query.id: query.since}, {}, 2, {})
    before = dict(folder.outputs)
    for _ in range(3):
        assert folder.write_left() == {}
    assert folder.outputs == before
    folder.close()


@pytest.mark.kafka
def test_a_row_that_the_topic_does_not_take_is_told_once_until_the_next_batch(
    cluster: KafkaCluster, tmp_path: Path
) -> None:
    topic = f"asc.{uuid.uuid4().hex}"
    cluster.ensure_topics([topic], {"cleanup.policy": "compact", "max.message.bytes": "2000"})
    query = query_of(topic)
    folder = slow_folder(tmp_path, cluster, query)
    long = os.urandom(4_000).hex()
    assert folder.commit(batch_of(0, at(0.5), at(1.5, dest=long), at(2.5), queries=[query])) == {}
    assert folder.write_left() == {}
    refused = folder.write_left()
    assert set(refused) == {"late"}
    assert refused["late"].startswith(f"topic '{topic}': takes no row so large")
    assert folder.write_left() == {}
    # It is named again by the batch that comes, which has it parked as well.
    assert set(folder.commit(batch_of(3, at(3.5), queries=[query]))) == {"late"}
    folder.close()
