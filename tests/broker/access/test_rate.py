"""How often callers may ask: as often as it is said, after a burst, each on his own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.access import rate
from broker.access.rate import RequestRate, network_of


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def test_a_burst_passes_then_one_at_a_time() -> None:
    clock = Clock()
    requests = RequestRate(10, clock)
    assert [requests.wait_s("a") for _ in range(40)] == [0.0] * 40
    assert requests.wait_s("a") == pytest.approx(0.1)
    assert requests.wait_s("b") == 0
    clock.now_s += 0.1
    assert requests.wait_s("a") == 0
    assert requests.wait_s("a") == pytest.approx(0.1)


def test_less_than_one_a_second_is_a_rate_as_well() -> None:
    clock = Clock()
    requests = RequestRate(0.01, clock)
    assert requests.wait_s("a") == 0
    assert requests.wait_s("a") == pytest.approx(100)
    clock.now_s += 100
    assert requests.wait_s("a") == 0


@given(st.lists(st.floats(0, 5), max_size=200), st.floats(0.1, 50))
def test_in_no_time_pass_more_than_the_burst_and_the_rate(pauses_s: list[float], per_s: float) -> None:
    clock = Clock()
    requests, passed = RequestRate(per_s, clock), 0
    start_s = clock.now_s
    for pause_s in pauses_s:
        clock.now_s += pause_s
        passed += requests.wait_s("a") == 0
    assert passed <= max(1, 4 * per_s) + (clock.now_s - start_s) * per_s + 1e-6


def test_callers_are_forgotten_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate, "_CALLERS_MAX", 3)
    requests = RequestRate(0.25, Clock())
    for caller in "abcd":
        assert requests.wait_s(caller) == 0
    assert requests.wait_s("d") > 0
    assert requests.wait_s("a") == 0
    assert len(requests._buckets) == 3


def test_hosts_of_one_network_of_ipv6_are_one() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:2%eth0") != network_of("2001:db8:0:1::1")
    assert network_of("10.0.0.1") != network_of("10.0.0.2")


def test_hosts_that_come_by_ipv4_to_a_listener_on_ipv6_are_not_one() -> None:
    assert network_of("::ffff:10.0.0.1") == network_of("10.0.0.1")
    assert len({network_of(host) for host in ("::ffff:10.0.0.1", "::ffff:10.0.0.2", "::1")}) == 3
