"""The monitor over a recorded stream: what a run says is what walking along its sequences finds."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from asc.plan.block import static_sequence
from asc.plan.order import Order
from bench.adaptive import HYBRID, MACRO, REFINED, Kind, adaptive_run, figures, found_on, warm_runs
from bench.recorded_stream import RecordedStream
from monitor.adaptation import Thresholds
from monitor.statistics import walked

Make = Callable[..., RecordedStream]
KINDS: tuple[Kind, ...] = (MACRO, HYBRID, REFINED)
ALWAYS = Thresholds(700, 0.0)


def plain(order: Order) -> tuple[list[int], list[int]]:
    return order.sequence.tolist(), order.arrows.tolist()


@pytest.fixture
def stream(small_stream: Make) -> RecordedStream:
    return small_stream(8, queries=20, tuples=3_000)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_what_walking_finds(stream: RecordedStream, kind: Kind) -> None:
    run = adaptive_run(stream, ALWAYS, kind=kind, sample_tuples=700)
    assert [(start, stop) for start, stop, _ in run.orders] == [(s, min(s + 700, 3_000)) for s in range(0, 3_000, 700)]
    walks = [walked(stream.block, stream.part(*places), o) for *places, o in run.orders]
    assert [int(run.costs[start:stop].sum()) for start, stop, _ in run.orders] == [walk.evaluated for walk in walks]
    assert run.cost == pytest.approx(sum(walk.evaluated for walk in walks) / 3_000)
    assert run.dropped == sum(walk.dropped for walk in walks)
    assert (run.micro_arrows, run.macro_arrows) == (
        sum(walk.micro_arrows for walk in walks),
        sum(walk.macro_arrows for walk in walks),
    )
    assert run.micro_ratio == run.micro_arrows / (run.micro_arrows + run.macro_arrows)
    assert (run.micro_arrows > 0) == (kind != MACRO)


def test_at_mu_0_every_period_but_the_last_is_followed_by_a_new_sequence(stream: RecordedStream) -> None:
    run = adaptive_run(stream, ALWAYS, kind=HYBRID, sample_tuples=700)
    assert run.orders[0][2].sequence.tolist() == list(static_sequence(stream.block))
    assert [own.place for own in run.rearrangements] == [700, 1_400, 2_100, 2_800]
    assert run.search_s == sum(own.seconds for own in run.rearrangements)
    plain_runs = [own.as_json() for own in run.rearrangements]
    assert json.loads(json.dumps(plain_runs)) == plain_runs
    assert (plain_runs[0]["initial"], plain_runs[0]["place"]) == (None, 700)
    assert plain_runs[1]["initial"] == plain_runs[0]["after"]


def test_without_a_trigger_the_first_order_stays(stream: RecordedStream) -> None:
    first = stream.block.order_of(static_sequence(stream.block)[::-1])
    never = Thresholds(700, 0.0, dropping_trigger=False, cost_trigger=False)
    run = adaptive_run(stream, never, kind=MACRO, sample_tuples=700, first=first)
    assert run.rearrangements == ()
    assert {id(order) for _, _, order in run.orders} == {id(first)}
    assert run.cost == figures(stream, stream.whole, first).cost


def test_the_same_seed_draws_the_same_samples(stream: RecordedStream) -> None:
    runs = [adaptive_run(stream, ALWAYS, kind=HYBRID, sample_tuples=50, seed=seed) for seed in (1, 1, 2)]
    orders = [[(start, stop, plain(order)) for start, stop, order in run.orders] for run in runs]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]


def test_warm_runs_begin_with_what_the_period_ahead_taught(stream: RecordedStream) -> None:
    rest, runs = warm_runs(stream, ALWAYS, KINDS, sample_tuples=700, seed=1)
    assert len(rest) == 2_300
    initial = stream.part(0, 700)
    for kind in KINDS:
        assert plain(runs[kind].orders[0][2]) == plain(found_on(stream, initial, kind))
        assert runs[kind].orders[0][:2] == (0, 700)
        assert len(runs[kind].costs) == len(rest)
    walk = walked(stream.block, stream.part(700, 3_000), stream.block.order)
    assert {run.dropped for run in runs.values()} == {walk.dropped}


def test_refining_keeps_the_sequence_and_what_lowers_its_cost(stream: RecordedStream) -> None:
    macro, hybrid, refined = (found_on(stream, stream.whole, kind) for kind in KINDS)
    assert macro.arrow_count == 0
    assert plain(macro)[0] == plain(hybrid)[0] == plain(refined)[0]
    kept = refined.arrows >= 0
    assert 0 < refined.arrow_count < hybrid.arrow_count
    assert (refined.arrows[kept] == hybrid.arrows[kept]).all()
    costs = [figures(stream, stream.whole, order).cost for order in (macro, hybrid, refined)]
    assert costs[2] <= min(costs)
    # The order does not matter to how many are dropped.
    dropped = adaptive_run(stream, ALWAYS, kind=MACRO, sample_tuples=10).dropped
    assert figures(stream, stream.whole, macro).dropping_ratio == pytest.approx(dropped / len(stream))
