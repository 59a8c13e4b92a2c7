"""The binding of batches to versions, and what a torn or foreign file does to it."""

from __future__ import annotations

import resource
import shutil
from pathlib import Path

import pytest

from broker.errors import BrokerError
from broker.plans.binding import BatchBindings, Binding, binding_text, write_durably


@pytest.fixture
def bindings(tmp_path: Path) -> BatchBindings:
    return BatchBindings(tmp_path / "bindings", tmp_path / "spark")


def plan_batch(tmp_path: Path, batch_id: int, end: int) -> None:
    """The offset log as Spark writes it before it runs a batch."""
    log = tmp_path / "spark" / "offsets"
    log.mkdir(parents=True, exist_ok=True)
    (log / str(batch_id)).write_text(f'v1\n{{"batchWatermarkMs":0}}\n{{"t":{{"0":{end},"1":7}}}}', "utf-8")


def begin_source(tmp_path: Path, offsets: str) -> None:
    """The note of where the first batch begins, as Spark writes it before it plans that one."""
    path = tmp_path / "spark" / "sources" / "0" / "0"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'\0v1\n{{"t":{offsets}}}', "utf-8")


def test_a_batch_keeps_its_first_version(tmp_path: Path, bindings: BatchBindings) -> None:
    plan_batch(tmp_path, 0, 5)
    assert bindings.last() is None
    first = bindings.bind(0, 41)
    assert first == Binding(0, 41, {0: 5, 1: 7}, {})
    assert bindings.bind(0, 99) == first
    assert BatchBindings(tmp_path / "bindings", tmp_path / "spark").last() == first


def test_a_full_disk_is_told_with_the_file(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        with pytest.raises(OSError, match=f"File too large: '{tmp_path}/.noted.new'"):
            write_durably(tmp_path / "noted", "x")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_the_last_two_are_kept(tmp_path: Path, bindings: BatchBindings) -> None:
    for batch_id in range(12):
        plan_batch(tmp_path, batch_id, batch_id)
        bindings.bind(batch_id, batch_id)
    last = bindings.last()
    assert last is not None
    assert last.batch_id == 11
    assert sorted(path.name for path in (tmp_path / "bindings").iterdir()) == ["10", "10.copy", "11", "11.copy"]


def test_a_file_that_a_crash_left_aside_means_nothing(tmp_path: Path, bindings: BatchBindings) -> None:
    (tmp_path / "bindings" / ".3.new").write_text('{"vers', "utf-8")
    assert bindings.last() is None


def test_a_batch_is_committed_when_spark_has_noted_it(tmp_path: Path, bindings: BatchBindings) -> None:
    plan_batch(tmp_path, 3, 5)
    bindings.bind(3, 41)
    assert not bindings.is_committed(3)
    commits = tmp_path / "spark" / "commits"
    commits.mkdir()
    (commits / "3").write_text("v1\n{}", "utf-8")
    assert bindings.is_committed(3)


def test_bindings_that_outlive_the_log_are_dropped(tmp_path: Path, bindings: BatchBindings) -> None:
    for batch_id in (4, 5):
        plan_batch(tmp_path, batch_id, batch_id)
        bindings.bind(batch_id, 41)
    (tmp_path / "spark" / "offsets" / "5").unlink()
    kept = BatchBindings(tmp_path / "bindings", tmp_path / "spark").last()
    assert kept is not None
    assert kept.batch_id == 4
    assert BatchBindings(tmp_path / "bindings", tmp_path / "removed").last() is None
    plan_batch(tmp_path, 4, 9)
    assert bindings.bind(4, 77) == Binding(4, 77, {0: 9, 1: 7}, {})


@pytest.mark.parametrize("text", ["", "v1\n{}", "v1\n{}\n-", "v1\n{}\n[]"])
def test_an_offset_log_that_cannot_be_read_is_named(tmp_path: Path, bindings: BatchBindings, text: str) -> None:
    (tmp_path / "0").write_text(text, "utf-8")
    with pytest.raises(BrokerError, match="offset log of Spark"):
        bindings.bind(0, 1)


def test_how_often_a_batch_was_begun_outlives_the_process(tmp_path: Path, bindings: BatchBindings) -> None:
    plan_batch(tmp_path, 0, 5)
    assert bindings.start_count(0) == 0
    for times in (1, 2, 3):
        bindings.bind(0, 41)
        started = BatchBindings(tmp_path / "bindings", tmp_path / "spark")
        assert (bindings.start_count(0), started.start_count(0)) == (times, times)
    bindings.excuse(0)
    assert started.start_count(0) == 2
    bindings.excuse(0, 7)
    assert started.start_count(0) == 0
    bindings.bind(0, 41)
    assert started.start_count(0) == 1
    # The next batch begins with a count of its own, and a first attempt is excused as any.
    plan_batch(tmp_path, 1, 9)
    bindings.bind(1, 41)
    assert bindings.start_count(1) == 1
    bindings.excuse(1)
    assert bindings.start_count(1) == 0
    kept = ["0", "0.copy", "1", "1.copy", "begun-again"]
    assert sorted(path.name for path in (tmp_path / "bindings").iterdir()) == kept


@pytest.mark.parametrize("text", ["", "{", "[]", '{"batch": 0}', '{"batch": 0, "times": "x"}'])
def test_a_count_that_cannot_be_read_is_one(text: str, tmp_path: Path, bindings: BatchBindings) -> None:
    plan_batch(tmp_path, 0, 5)
    bindings.bind(0, 41)
    (tmp_path / "bindings" / "begun-again").write_text(text, "utf-8")
    assert bindings.start_count(0) == 1
    bindings.bind(0, 41)
    assert bindings.start_count(0) == 2


def test_a_checkpoint_that_was_removed_takes_the_count_along(tmp_path: Path, bindings: BatchBindings) -> None:
    plan_batch(tmp_path, 0, 5)
    for _ in range(3):
        bindings.bind(0, 41)
    shutil.rmtree(tmp_path / "spark")
    anew = BatchBindings(tmp_path / "bindings", tmp_path / "spark")
    plan_batch(tmp_path, 0, 7)
    anew.bind(0, 41)
    assert anew.start_count(0) == 1


def test_a_batch_begins_where_the_one_before_ended_and_the_first_one_where_spark_began(
    tmp_path: Path, bindings: BatchBindings
) -> None:
    begin_source(tmp_path, '{"0":3}')
    plan_batch(tmp_path, 0, 5)
    assert bindings.bind(0, 41).first_offsets == {0: 3}
    plan_batch(tmp_path, 1, 9)
    assert bindings.bind(1, 41).first_offsets == {0: 5, 1: 7}
    # Run again, whatever has become of what Spark noted.
    shutil.rmtree(tmp_path / "spark" / "sources")
    (tmp_path / "spark" / "offsets" / "0").unlink()
    again = BatchBindings(tmp_path / "bindings", tmp_path / "spark")
    for batch_id, first in ((0, {0: 3}), (1, {0: 5, 1: 7})):
        bound = again.bind(batch_id, 99)
        assert (bound.version, bound.first_offsets, again.first_offsets(bound)) == (41, first, first)


def test_the_end_of_the_batch_before_is_known_without_spark_s_entry_or_without_its_binding(
    tmp_path: Path, bindings: BatchBindings
) -> None:
    plan_batch(tmp_path, 6, 5)
    plan_batch(tmp_path, 7, 9)
    assert bindings.bind(7, 41).first_offsets == {0: 5, 1: 7}
    (tmp_path / "spark" / "offsets" / "7").write_text("damaged", "utf-8")
    plan_batch(tmp_path, 8, 11)
    assert bindings.bind(8, 41).first_offsets == {0: 9, 1: 7}
    (tmp_path / "spark" / "offsets" / "8").write_text("damaged", "utf-8")
    for path in (tmp_path / "bindings").iterdir():
        path.unlink()
    plan_batch(tmp_path, 9, 12)
    with pytest.raises(BrokerError, match="offset log of Spark"):
        bindings.bind(9, 41)


def test_a_binding_of_the_version_before_is_read_and_spark_s_log_says_where_it_begins(
    tmp_path: Path, bindings: BatchBindings
) -> None:
    plan_batch(tmp_path, 0, 5)
    plan_batch(tmp_path, 1, 9)
    written = '{"version": 41, "end_offsets": {"0": 9, "1": 7}, "crc32": 3330095729}'
    (tmp_path / "bindings" / "1").write_text(written, "utf-8")
    bound = bindings.bind(1, 99)
    assert bound == Binding(1, 41, {0: 9, 1: 7}, None)
    assert bindings.first_offsets(bound) == {0: 5, 1: 7}
    assert binding_text(bound) == written
