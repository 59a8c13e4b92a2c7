"""A plan as it is broadcast: parts in files, mapped where they are used, read once."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.core.broadcast import Broadcast

from asc.plan.compiler import change_plan, compile_plan
from asc.plan.parts import Part, parts_of
from broker.matching.plan_parts import PartBroadcast, PlanParts, broadcasts_of
from workloads.synthetic import d1_workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

QUERIES = d1_workload(40).standing_queries()
PLAN = compile_plan(QUERIES[:20])


@pytest.fixture
def known(spark: SparkSession) -> Iterator[Mapping[Part, Broadcast[bytes]]]:
    found = broadcasts_of(spark.sparkContext, parts_of(PLAN), {})
    yield found
    for broadcast in found.values():
        broadcast.destroy()


def arrived(broadcast: Broadcast[bytes]) -> Broadcast[bytes]:
    """As Spark makes it in a worker."""
    return Broadcast(path=broadcast._path)


@pytest.mark.parametrize("size_bytes", [0, 1, 1_000, 100_000])
def test_the_file_of_a_broadcast_is_a_pickle_whose_bytes_are_aligned(spark: SparkSession, size_bytes: int) -> None:
    content = bytes(i % 251 for i in range(size_bytes))
    broadcast = PartBroadcast(spark.sparkContext, content)
    written = Path(broadcast._path).read_bytes()
    assert pickle.load(io.BytesIO(written)) == content == broadcast.value
    assert written[64 : 64 + size_bytes] == content
    broadcast.destroy()


def test_a_process_reads_a_plan_once_and_a_part_once(known: Mapping[Part, Broadcast[bytes]]) -> None:
    here = [arrived(broadcast) for broadcast in known.values()]
    plan = PlanParts.of(here).plan
    assert plan.query_ids == PLAN.query_ids
    assert PlanParts.of(here).plan is plan
    other = PlanParts.of((arrived(next(iter(known.values()))), *here[1:])).plan
    assert other is not plan
    assert other.blocks[0].matrix is plan.blocks[0].matrix


def test_the_executors_of_a_host_map_one_file(
    known: Mapping[Part, Broadcast[bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names = tuple(f"part-{number}" for number in range(len(known)))
    plans = []
    for executor in ("one", "two"):
        (tmp_path / executor).mkdir()
        own = []
        for number, broadcast in enumerate(known.values()):
            path = tmp_path / executor / str(number)
            path.write_bytes(Path(broadcast._path).read_bytes())
            own.append(Broadcast[bytes](path=str(path)))
        plans.append(PlanParts(tuple(own), names).plan)
    assert plans[0].query_ids == plans[1].query_ids == PLAN.query_ids
    mapped = Path("/proc/self/maps").read_text("utf-8")
    assert str(tmp_path / "one") in mapped
    assert str(tmp_path / "two") not in mapped


def test_what_is_mapped_is_aligned_and_not_copied(known: Mapping[Part, Broadcast[bytes]]) -> None:
    matrix = PlanParts.of(arrived(broadcast) for broadcast in known.values()).plan.blocks[0].matrix
    assert matrix.ctypes.data % 64 == 0
    with pytest.raises(ValueError, match="read-only"):
        matrix[0] = 0


def test_parts_that_are_known_are_not_broadcast_again(
    spark: SparkSession, known: Mapping[Part, Broadcast[bytes]]
) -> None:
    ordered = PLAN.with_orders({0: PLAN.blocks[0].order_of(range(len(PLAN.blocks[0].slots))[::-1])})
    again = broadcasts_of(spark.sparkContext, parts_of(ordered, tuple(known)), known)
    fresh = [part.kind for part in again if part not in known]
    assert fresh == ["head"]
    assert PlanParts.of(again.values()).plan.blocks[0].sequence.tolist() == ordered.blocks[0].sequence.tolist()
    changed = change_plan(PLAN, add=QUERIES[20:])
    assert PlanParts.of(broadcasts_of(spark.sparkContext, parts_of(changed), {}).values()).plan.query_ids.equals(
        changed.query_ids
    )
    next(iter(again.values())).destroy()
