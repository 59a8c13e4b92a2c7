"""The monitor over a recorded stream: what a run says is what walking along its sequences finds."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from asc.plan.block import static_sequence
from bench.adaptive import HYBRID, MACRO, REFINED, Kind, Order, adaptive_run, figures, found_on
from bench.stream import Stream
from monitor.adaptation import Thresholds
from monitor.statistics import walked

Make = Callable[..., Stream]
KINDS: tuple[Kind, ...] = (MACRO, HYBRID, REFINED)
ALWAYS = Thresholds(700, 0.0)


@pytest.fixture
def stream(small_stream: Make) -> Stream:
    return small_stream(8, queries=20, tuples=3_000)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_what_walking_finds(stream: Stream, kind: Kind) -> None:
    run = adaptive_run(stream, ALWAYS, kind=kind, sample_tuples=700)
    assert [(start, stop) for start, stop, _ in run.orders] == [(s, min(s + 700, 3_000)) for s in range(0, 3_000, 700)]
    walks = [walked(stream.block, stream.part(*places), o.sequence, o.arrows) for *places, o in run.orders]
    assert [int(run.costs[start:stop].sum()) for start, stop, _ in run.orders] == [walk.evaluated for walk in walks]
    assert run.cost == pytest.approx(sum(walk.evaluated for walk in walks) / 3_000)
    assert run.dropped == sum(walk.dropped for walk in walks)
    assert (run.micro_arrows, run.macro_arrows) == (
        sum(walk.micro_arrows for walk in walks),
        sum(walk.macro_arrows for walk in walks),
    )
    assert run.micro_ratio == run.micro_arrows / (run.micro_arrows + run.macro_arrows)
    assert (run.micro_arrows > 0) == (kind != MACRO)


def test_at_mu_0_every_period_but_the_last_is_followed_by_a_new_sequence(stream: Stream) -> None:
    run = adaptive_run(stream, ALWAYS, kind=HYBRID, sample_tuples=700)
    assert run.orders[0][2] == Order(tuple(static_sequence(stream.block)))
    assert [own.place for own in run.rearrangements] == [700, 1_400, 2_100, 2_800]
    assert run.search_s == sum(own.seconds for own in run.rearrangements)
    told = [own.as_json() for own in run.rearrangements]
    assert json.loads(json.dumps(told)) == told
    assert (told[0]["initial"], told[0]["place"]) == (None, 700)
    assert told[1]["initial"] == told[0]["after"]


def test_without_a_trigger_the_first_order_stays(stream: Stream) -> None:
    first = Order(tuple(reversed(static_sequence(stream.block))))
    never = Thresholds(700, 0.0, dropping_trigger=False, cost_trigger=False)
    run = adaptive_run(stream, never, kind=MACRO, sample_tuples=700, first=first)
    assert run.rearrangements == ()
    assert {order.sequence for _, _, order in run.orders} == {first.sequence}
    assert run.cost == figures(stream, stream.whole, first).cost


def test_the_same_seed_draws_the_same_samples(stream: Stream) -> None:
    runs = [adaptive_run(stream, ALWAYS, kind=HYBRID, sample_tuples=50, seed=seed) for seed in (1, 1, 2)]
    assert runs[0].orders == runs[1].orders
    assert runs[0].orders != runs[2].orders


def test_refining_keeps_the_sequence_and_what_lowers_its_cost(stream: Stream) -> None:
    macro, hybrid, refined = (found_on(stream, stream.whole, kind) for kind in KINDS)
    assert macro == Order(macro.sequence, {})
    assert macro.sequence == hybrid.sequence == refined.sequence
    assert refined.arrows.items() <= hybrid.arrows.items()
    costs = [figures(stream, stream.whole, order).cost for order in (macro, hybrid, refined)]
    assert costs[2] <= min(costs)
    # The order does not matter to how many are dropped.
    dropped = adaptive_run(stream, ALWAYS, kind=MACRO, sample_tuples=10).dropped
    assert figures(stream, stream.whole, macro).dropping_ratio == pytest.approx(dropped / len(stream))
