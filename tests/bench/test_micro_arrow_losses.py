"""Micro-arrows followed or kept in other ways, against walking with plain arrows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.micro_arrow_losses import by_dropping_ratio, cost_at_own_level
from bench.recorded_stream import RecordedStream
from monitor.hybrid import HybridSequence, hybrid_sequence
from monitor.macro import macro_sequence
from monitor.statistics import walked

Make = Callable[..., RecordedStream]


@pytest.fixture
def stream(small_stream: Make) -> RecordedStream:
    return small_stream(8, queries=20, tuples=3_000)


@pytest.fixture
def found(stream: RecordedStream) -> HybridSequence:
    return hybrid_sequence(stream.block, stream.whole, macro_sequence(stream.block, stream.whole).sequence)


def test_without_micro_arrows_it_is_the_macro_sequence(stream: RecordedStream, found: HybridSequence) -> None:
    bare = HybridSequence.of(stream.block, found.order.sequence.tolist(), ())
    expected = walked(stream.block, stream.whole, found.order.macro).cost
    assert cost_at_own_level(stream.block, stream.whole, bare) == pytest.approx(expected)


def test_arrows_of_the_first_level_are_followed_as_ever(stream: RecordedStream, found: HybridSequence) -> None:
    first = tuple(arrow for arrow in found.micro_arrows if arrow.level == 1)
    assert first
    own = HybridSequence.of(stream.block, found.order.sequence.tolist(), first)
    expected = walked(stream.block, stream.whole, own.order).cost
    assert cost_at_own_level(stream.block, stream.whole, own) == pytest.approx(expected)


def test_arrows_of_later_levels_are_not_followed_by_all(stream: RecordedStream, found: HybridSequence) -> None:
    plain = walked(stream.block, stream.whole, found.order).cost
    assert cost_at_own_level(stream.block, stream.whole, found) != pytest.approx(plain)


def test_those_chosen_by_dropping_ratio_are_a_part(stream: RecordedStream, found: HybridSequence) -> None:
    # What was chosen beats the macro successor: by more for a dropping ratio, by less for a selectivity.
    more = [arrow for arrow in found.micro_arrows if arrow.value > arrow.macro_value]
    kept = by_dropping_ratio(stream.block, found)
    assert list(kept.micro_arrows) == more
    assert 0 < kept.order.arrow_count < found.order.arrow_count
