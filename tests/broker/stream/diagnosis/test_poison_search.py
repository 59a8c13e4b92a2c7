"""Bisection over expressions, and the process in which they may fail or die."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.keys.attribute import PAttribute
from broker.config.streams import StreamConfig
from broker.kafka.batch_sender import BatchSender
from broker.kafka.client import KafkaClient
from broker.stream.diagnosis.poison_search import ChildTrial, DiagnosisError, SuspectBatch, guilty, slow

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka

COUNTS = st.integers(0, 40)


def counted(fails: Callable[[Sequence[int]], bool]) -> tuple[Callable[[Sequence[int]], str | None], list[list[int]]]:
    """A trial by a rule, and the rows it was asked for."""
    asked: list[list[int]] = []

    def trial(slots: Sequence[int], /) -> str | None:
        asked.append(list(slots))
        return f"fails with {slots[-1]}" if fails(slots) else None

    return trial, asked


@given(COUNTS.flatmap(lambda count: st.tuples(st.just(count), st.sets(st.integers(0, max(0, count - 1))))))
def test_each_that_fails_alone_is_found_and_no_other(case: tuple[int, set[int]]) -> None:
    count, bad = case
    bad = {slot for slot in bad if slot < count}
    trial, asked = counted(lambda slots: bool(bad & set(slots)))
    found = guilty(trial, count)
    assert found == {slot: f"fails with {slot}" for slot in bad}
    # Bisection: the logarithm of the row for each that is found.
    assert len(asked) <= 2 + len(bad) * (max(1, count).bit_length() + 2)


@given(st.lists(st.integers(0, 10), max_size=30), st.integers(0, 60))
def test_where_they_fail_together_alone_what_is_left_has_passed(weights: list[int], bearable: int) -> None:
    trial, asked = counted(lambda slots: sum(weights[slot] for slot in slots) > bearable)
    found = guilty(trial, len(weights))
    kept = [slot for slot in range(len(weights)) if slot not in found]
    assert kept in asked
    assert trial(kept) is None


def test_what_does_not_fail_again_is_not_found() -> None:
    failures = iter([False, True, True, False])
    trial, _ = counted(lambda slots: next(failures))
    assert guilty(trial, 2) == {}


def test_where_the_records_themselves_fail_no_expression_is_asked() -> None:
    asked: list[Sequence[int]] = []

    def trial(slots: Sequence[int], /) -> str | None:
        asked.append(slots)
        return "no JSON"

    with pytest.raises(DiagnosisError, match="without any expression': cannot be decoded: no JSON"):
        guilty(trial, 5)
    assert asked == [[]]


# So many take 47 trials at most, fewer than a search is allowed.
@given(st.lists(st.integers(0, 10), max_size=24), st.integers(0, 60))
def test_the_slow_ones_are_those_that_are_slow_alone(weights: list[int], bearable: int) -> None:
    trial, asked = counted(lambda slots: sum(weights[slot] for slot in slots) > bearable)
    assert set(slow(trial, len(weights))) == {slot for slot, weight in enumerate(weights) if weight > bearable}
    assert [] in asked


def test_a_search_for_slow_ones_ends_where_nearly_all_are_slow_together() -> None:
    trial, asked = counted(lambda slots: len(slots) > 1 or list(slots) == [0])
    assert slow(trial, 10_000) == {0: "fails with 0"}
    assert len(asked) < 60


def test_records_that_are_slow_themselves_are_no_expressions_fault() -> None:
    with pytest.raises(DiagnosisError, match="without any expression"):
        slow(lambda slots: "it does not end in 4 s", 3)


FINE = PAttribute("length(s) > 1", pa.bool_())
THROWS = PAttribute("if(n = 13, CAST(raise_error('unlucky') AS BOOLEAN), TRUE)", pa.bool_())
OVERFLOWS = PAttribute("s RLIKE '^(?:[0-9]|x)*$'", pa.bool_())
# One that ends the process, which takes a start of Spark for each trial, is in the test of the inquiry.
COMPUTED = (FINE, THROWS, PAttribute("n + 1", pa.int32()), OVERFLOWS)


@pytest.fixture
def batch(kafka: EmbeddedKafka) -> SuspectBatch:
    topic = f"source-{uuid.uuid4().hex}"
    client = KafkaClient(kafka.bootstrap_servers, {}, 15)
    stream = StreamConfig.model_validate({"topic": topic, "format": "json", "schema": "n INT, s STRING"})
    admin = client.admin()
    admin.create_topics({topic: {"num_partitions": 1, "replication_factor": 1}})
    admin.close()
    unlucky = f'{{"n": 13, "s": "{"x" * 20_000}"}}'.encode()
    with BatchSender(client, topic) as sender:
        sender.send([b'{"n": 1, "s": "ab"}', b"no record", unlucky])
        sender.flush()
    return SuspectBatch(
        topic=topic,
        first={0: 0},
        end={0: 3},
        options=client.spark_options(),
        decoder=stream.decoder(stream.fields(), "UTC"),
        attributes=COMPUTED,
        master="local[1]",
        driver_memory="512m",
    )


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.kafka
def test_what_throws_or_overflows_is_found(batch: SuspectBatch) -> None:
    with ChildTrial(batch, lambda: True) as trial:
        found = guilty(trial, len(COMPUTED))
        assert {COMPUTED[slot] for slot in found} == {THROWS, OVERFLOWS}
        reasons = {COMPUTED[slot]: reason for slot, reason in found.items()}
        assert "unlucky" in reasons[THROWS]
        assert reasons[OVERFLOWS].startswith("java.lang.StackOverflowError")
    expired = replace(batch, first={0: 7}, end={0: 9})
    with ChildTrial(expired, lambda: True) as trial, pytest.raises(DiagnosisError, match="cannot be read again"):
        guilty(trial, len(COMPUTED))


@pytest.mark.kafka
def test_a_child_is_given_up_when_nobody_wants_its_answer(batch: SuspectBatch) -> None:
    with ChildTrial(batch, lambda: False) as trial:
        with pytest.raises(DiagnosisError, match="the daemon stops"):
            trial([0])
        assert trial._child is not None
        child = trial._child[0].pid
        assert child is not None
    deadline = time.monotonic() + 120
    while _runs(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
