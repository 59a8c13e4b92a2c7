"""The rate of a warm stream: how much is sent for it, and that what is missing or surplus is not measured away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from broker.files.records import RecordBatch
from cli.demo.rate import Rate, awaited, measured_rate, settled_rate

if TYPE_CHECKING:
    from conftest import Asc

ROWS = 20_000


class Stream:
    """A stream of so many records a second, in each round another number; the copies it was asked for."""

    def __init__(self, *rates: float, agrees: bool = True) -> None:
        self.rates, self.agrees, self.asked = list(rates), agrees, list[int]()

    def measured(self, copies: int) -> Rate:
        self.asked.append(copies)
        return Rate(copies * ROWS, copies, copies * ROWS / self.rates.pop(0), self.agrees)


@pytest.mark.parametrize(
    ("rates", "asked", "elapsed_s"),
    [
        ([10_000, 50_000], [2, 2, 10], 4.0),
        ([50_000, 50_000], [2, 10], 4.0),
        ([50_000, 20_000], [2, 10], 10.0),
        ([1e9, 1e9, 1e9], [2, 25, 25], 0.0005),
        ([100, 100], [2, 1], 200.0),
    ],
    ids=["warming", "steady", "slower", "fast", "slow"],
)
def test_as_much_is_sent_as_takes_some_seconds(rates: list[float], asked: list[int], elapsed_s: float) -> None:
    stream = Stream(*rates, rates[-1])
    assert settled_rate(stream.measured, ROWS).elapsed_s == pytest.approx(elapsed_s)
    assert stream.asked == asked


def test_a_round_that_does_not_agree_is_the_last_one() -> None:
    stream = Stream(50_000, agrees=False)
    assert not settled_rate(stream.measured, ROWS).agrees
    assert stream.asked == [2]


def test_what_is_missing_is_waited_for_while_something_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.demo.rate._LOOK_S", 0.001)
    monkeypatch.setattr("cli.demo.rate.PATIENCE_S", 0.2)
    seen = iter([{"a": 0}, {"a": 1}, {"a": 1}, {"a": 3}, {"a": 9}])
    assert awaited(lambda: next(seen), 3)[0] == {"a": 3}
    assert awaited(lambda: {"a": 2}, 3)[0] == {"a": 2}


@pytest.mark.nightly
@pytest.mark.kafka
@pytest.mark.spark
def test_each_delivery_of_a_stream_is_counted(asc: Asc) -> None:
    assert asc("query", "add", "rate", "--where", "delay > 60", "--stream", "flights").exit_code == 0
    from broker.client.client import Client
    from cli.client import kafka_of

    client = Client(asc.server)
    try:
        sample = [RecordBatch([b'{"delay": 75}', b'{"delay": 5}'] * 50, None), RecordBatch([b'{"delay": 90}'], [b"k"])]
        kafka = kafka_of(client, None)
        rate = measured_rate(kafka, "cli-flights", sample, {"asc.rate": 51})
        assert (rate.agrees, rate.deliveries / rate.records) == (True, pytest.approx(51 / 101))
        surplus = measured_rate(kafka, "cli-flights", sample, {"asc.rate": 20})
        assert not surplus.agrees
    finally:
        client.close()
        assert asc("query", "remove", "rate").exit_code == 0
