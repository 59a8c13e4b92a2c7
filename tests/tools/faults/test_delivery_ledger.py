"""The ledger finds each thing that can be wrong, and nothing where all is right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from tools.faults.delivery_ledger import Arrived, DeliveryLedger, Life, Published, duckdb_oracle

RECORDS = [Published(n % 2, n // 2, b"k%d" % (n % 3), b'{"n": %d}' % n, (("h", b"1"),)) for n in range(20)]


def numbers(where: str) -> npt.NDArray[np.bool_]:
    """``< 7``: the records with a number below 7."""
    return np.arange(20) < int(where.removeprefix("< "))


def ledger(*lives: Life) -> DeliveryLedger:
    return DeliveryLedger("in", RECORDS, lives, numbers)


def copy(number: int, *queries: str, topic: str = "out") -> Arrived:
    record = RECORDS[number]
    source = f"in-{record.partition}-{record.offset}"
    return Arrived(topic, source, queries, record.key, record.value, record.headers)


ALL = Life("all", "< 20", "out", must_from={}, may_from={})
FEW = Life("few", "< 6", "out", must_from={0: 1, 1: 0}, may_from={0: 1, 1: 0}, must_until={0: 2}, may_until={0: 2})
"""Records 2 of partition 0; partition 1 was not there when it ended."""

RIGHT = [copy(n, "all", "few") if n == 2 else copy(n, "all") for n in range(20)]


def test_what_is_right_is_sound() -> None:
    found = ledger(ALL, FEW).audit(RIGHT)
    assert found.sound
    assert (found.pairs, found.deliveries, found.duplicates) == (21, 20, 0)
    assert str(found) == "21 records of queries, 20 delivered, 0 of them again; nothing lost, unwanted or changed"


def test_a_copy_that_comes_again_is_counted() -> None:
    found = ledger(ALL, FEW).audit([*RIGHT, RIGHT[2]], calm_until={0: 1, 1: 5})
    assert found.sound
    assert found.duplicates == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (RIGHT[1:], "missing"),
        ([*RIGHT[:2], copy(2, "all"), *RIGHT[3:]], "missing"),
        ([*RIGHT[:2], copy(2, "few"), *RIGHT[3:]], "missing"),
        ([copy(0, "all", "few"), *RIGHT[1:]], "unwanted"),
        ([*RIGHT, copy(0, "all", topic="other")], "unwanted"),
        ([*RIGHT, replace(RIGHT[0], source="in-7-0")], "unwanted"),
        ([replace(RIGHT[0], value=b"{}"), *RIGHT[1:]], "changed"),
        ([replace(RIGHT[0], key=None), *RIGHT[1:]], "changed"),
        ([replace(RIGHT[0], headers=()), *RIGHT[1:]], "changed"),
        ([*RIGHT, replace(RIGHT[2], queries=("all",))], "changed"),
        ([*RIGHT[:2], replace(RIGHT[2], queries=("few", "all")), *RIGHT[3:]], "changed"),
        ([RIGHT[6], *RIGHT[:6], *RIGHT[7:]], "out of order"),
        ([*RIGHT[:4], RIGHT[0], *RIGHT[4:]], "out of order"),
    ],
)
def test_what_is_wrong_is_found(wrong: list[Arrived], said: str) -> None:
    found = ledger(ALL, FEW).audit(wrong, {0: 5, 1: 5} if said != "out of order" else None)
    assert not found.sound
    assert f"1 {said} (first: " in str(found)


def test_where_a_change_was_not_answered_both_are_right() -> None:
    old = Life("q", "< 20", "out", {}, {}, must_until={0: 3, 1: 3}, may_until={0: 5, 1: 5})
    new = Life("q", "< 20", "gone", {0: 5, 1: 5}, {0: 3, 1: 3})
    for changed_at in (3, 4, 5):
        arrived = [copy(n, "q", topic="out" if n // 2 < changed_at else "gone") for n in range(20)]
        assert ledger(old, new).audit(arrived).sound
    for changed_at in (2, 6):
        arrived = [copy(n, "q", topic="out" if n // 2 < changed_at else "gone") for n in range(20)]
        assert not ledger(old, new).audit(arrived).sound


def test_a_dead_letter_is_one_of_nobody() -> None:
    kept = ledger(ALL)
    kept.add_dead_letters("dead", [4])
    assert kept.outstanding(copy(n, "all") for n in range(20)) == 1
    arrived = [*(copy(n, "all") for n in range(20)), copy(4, topic="dead")]
    assert kept.outstanding(arrived) == 0
    assert kept.audit(arrived).sound


def test_the_oracle_reads_as_spark_does() -> None:
    values = [b'{"n": 4, "d": 0.0}', b"{", b'{"n": 4, "d": 2.0}', b'{"n": null, "d": 1.0}', b'{"d": 1.0}']
    records = [Published(0, offset, None, value) for offset, value in enumerate(values)]
    oracle, undecodable = duckdb_oracle(records, {"n": "BIGINT", "d": "DOUBLE"})
    assert undecodable == [1]
    assert oracle("n / d > 1").tolist() == [False, False, True, False, False]
    assert oracle("n IS NULL").tolist() == [False, False, False, True, True]
