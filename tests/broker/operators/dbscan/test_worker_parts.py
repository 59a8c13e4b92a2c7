"""The parts that a worker keeps: a part is taken for the bytes that it wrote, and nothing depends on that."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Sequence

import pytest

from asc.operators.dbscan.clusters import Clusters
from asc.operators.feed import Message, Watermarks
from broker.operators.dbscan.worker_parts import WorkerParts
from broker.operators.feed_part import PARTS
from tests.asc.operators.dbscan.model import MS, Record, query, run, settings, texts

QUERIES = (query("one", members="changes"), query("two", eps=3.0, is_timed=False, window=12, slide=4))


def batches() -> list[list[Message]]:
    found: list[list[Message]] = [[settings(*QUERIES)]]
    for batch in range(8):
        records = [Record(MS * (batch * 9 + n % 5), (n % 3, batch % 4), offset=batch * 20 + n) for n in range(20)]
        found.append([*(own.message() for own in records), Watermarks({"ts": MS * 9 * batch})])
    return found


def passed(worker: WorkerParts, state: bytes | None, messages: Sequence[Message]) -> tuple[list[object], bytes, int]:
    part = worker.taken(state)
    outputs: list[object] = list(part.read(texts(messages)))
    assert part.held == part.part.held
    return outputs, part.to_bytes(), part.counts.observations


@pytest.mark.parametrize("capacity_bytes", [0, 1 << 30])
def test_a_kept_part_gives_the_bytes_of_one_that_is_read(capacity_bytes: int) -> None:
    worker, state, found = WorkerParts(capacity_bytes), None, list[object]()
    alone = Clusters()
    wanted = [output for messages in batches() for output in run(texts(messages), alone)]
    for messages in batches():
        outputs, after, observations = passed(worker, state, messages)
        # Spark runs a batch again with the state that it began with.
        assert passed(worker, state, messages)[:2] == (outputs, after)
        assert observations == len(messages) - 1
        found, state = found + outputs, after
    assert (found, state) == (wanted, alone.to_bytes())
    assert len(wanted) > 20


def test_it_keeps_a_part_that_was_written_and_drops_the_oldest() -> None:
    worker = WorkerParts()
    _, first, _ = passed(worker, None, batches()[0])
    kept = worker.taken(first)
    # It is not there while it is computed: what fails then leaves nothing behind.
    assert worker.taken(first).part is not kept.part
    assert kept.to_bytes() == first
    assert worker.taken(first).part is kept.part
    states = [passed(worker, None, [settings(query(f"q{n}"))])[1] for n in range(PARTS + 1)]
    parts = [worker.taken(state).part for state in states[1:]]
    assert [own.to_bytes() for own in parts] == states[1:]
    assert len(set(map(id, parts))) == PARTS


def test_collections_of_garbage_pass_over_what_was_there_before() -> None:
    gc.unfreeze()
    try:
        passed(WorkerParts(), None, batches()[0])
        assert gc.get_freeze_count() > 1_000
    finally:
        gc.unfreeze()


def test_it_travels_to_a_worker_empty() -> None:
    worker: WorkerParts = pickle.loads(pickle.dumps(WorkerParts()))
    assert passed(worker, None, batches()[0])[2] == 0
