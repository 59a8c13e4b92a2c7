"""The panes of a backfill batch: which cubes are committed together, and how many offsets they read."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from broker.operators.backfill import SourceOffsets
from broker.operators.cube import backfill, folder, partial
from broker.operators.cube.folder import cube_of
from broker.operators.fold_destination import FoldDestination
from broker.operators.folder import FoldBatch
from tests.broker.operators.cube.kept_stream import MINUTE_US, Record, definition
from tests.broker.operators.cube.test_backfilling import closed_bytes
from tests.broker.operators.cube.test_folder_standing import Run, query


class Backfilled(Run):
    """A folder that takes the records before the offset ``seam`` by a backfill, and the others by live batches."""

    def __init__(self, path: Path, records: Sequence[Record], seam: int, *queries: FoldDestination) -> None:
        super().__init__(path)
        self.topic.partitions[0] = [*records]
        self.offset = self.seam = seam
        self.queries = [replace(own, definition={**own.definition, "from": "earliest"}) for own in queries]
        self.set_registered(*self.queries, version=4)
        assert self.live() == {}

    def live(self) -> Mapping[str, str]:
        return self.commit(*self.queries, version=4)

    def backfill(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the offsets and the queries of each batch after its commit, which parks no cube."""
        source = SourceOffsets("T", {0: self.seam}, {0: 0}, is_settled=True)
        while batch := self.folder.next_backfill(source):
            ((first, end),) = batch.intervals.values()
            records = self.topic.partitions[0][first:end]
            found = {name: self._partial(own, records) for name, own in batch.queries.items()}
            newest = {"unix_micros(t)": {0: self.topic_time(records)}}
            folded = FoldBatch(-1, 4, "T", {0: first}, {0: end}, frozenset(), batch.queries, found, {}, newest)
            assert self.folder.commit_backfill(batch, folded) == {}
            yield end - first, sorted(batch.queries)

    def states(self) -> list[tuple[object, ...]]:
        """Return for each cube the bytes of its closed panes, its offsets, records and gaps."""
        keeper = self.folder.keeper
        states = [keeper.snapshot.cube(cube_of(own)) for own in self.queries]
        return [
            (closed_bytes(keeper, own.id), own.coverage, own.counters, [*keeper.snapshot.all_gaps(own)])
            for own in states
        ]


def every(minutes: float, count: int) -> list[Record]:
    return [("B6", "JFK", each, round(each * minutes * MINUTE_US)) for each in range(count)]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial, "BATCH_PANES_MAX", 50)
    monkeypatch.setattr(backfill, "BATCH_RECORDS", 200)


def test_cubes_with_too_many_panes_together_are_committed_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records, own = every(0.2, 410), [query(name=f"q{each}") for each in range(3)]
    run = Backfilled(tmp_path / "many", records, 400, *own)
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        # A live batch does not wait until all cubes are committed.
        pauses.append(seconds)
        assert run.live() == {}

    monkeypatch.setattr(folder, "time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
    assert [*run.backfill()] == [(200, ["q0", "q1", "q2"])] * 2
    # Each cube has 40 panes of the 50 that one transaction writes.
    assert len(pauses) == 4
    assert [run.count(each) for each in own] == [405] * 3
    alone = Backfilled(tmp_path / "alone", records, 400, own[2])
    assert [*alone.backfill()] == [(200, ["q2"])] * 2
    for _ in pauses:
        alone.live()
    assert run.states()[2] == alone.states()[0]


def test_a_cube_whose_records_are_in_too_many_panes_reads_fewer_offsets_at_once(tmp_path: Path) -> None:
    records = every(3, 501)
    hourly, wide, late = query(own=definition(grain_s=3_600), name="hourly"), query(name="wide"), query(name="late")
    run = Backfilled(tmp_path / "small", records, 500, hourly, wide)
    # The wide cube catches up with the hourly one, and then they read together.
    alone, both = ["wide"], ["hourly", "wide"]
    assert [*run.backfill()] == [(200, both), (100, alone), *[(50, alone)] * 4, *[(50, both)] * 6]
    assert [run.count(each) for each in (hourly, wide)] == [501] * 2
    # A cube that comes later begins with whole batches again.
    run.queries.append(replace(late, definition={**late.definition, "from": "earliest"}))
    run.set_registered(*run.queries, version=5)
    assert next(run.backfill()) == (200, ["late"])
    known = Backfilled(tmp_path / "large", records, 500, hourly, wide)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partial, "BATCH_PANES_MAX", 50_000)
        assert [size for size, _ in known.backfill()] == [200, 200, 100]
    assert run.states()[:2] == known.states()


def test_what_is_left_when_one_transaction_fails_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records, own = every(0.2, 201), [query(name=f"q{each}") for each in range(2)]
    run = Backfilled(tmp_path, records, 200, *own)

    def stopped(_seconds: float) -> None:
        raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(folder, "time", SimpleNamespace(sleep=stopped, monotonic=time.monotonic))
        with pytest.raises(InterruptedError):
            next(run.backfill())
    assert [run.count(each) for each in own] == [201, 1]
    run.start_again()
    run.set_registered(*run.queries, version=4)
    assert [*run.backfill()] == [(200, ["q1"])]
    assert [run.count(each) for each in own] == [201, 201]
    assert run.folder.keeper.snapshot.is_whole(run.folder.keeper.snapshot.cube(cube_of(own[1])))
