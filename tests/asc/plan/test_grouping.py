"""Groups: queries stand where one construct rules them out, and the same matches are found however they stand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from asc.evaluation.executor import match
from asc.evaluation.regions import region_ids
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.keys.grid import Grid
from asc.plan import compiler
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.conjuncts import ConjunctTable, encoded
from asc.plan.grouping import NOWHERE, Homes, grouped, nowhere
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate.normal_form.disjunctive_form import Predicate
from workloads.synthetic import alerts_workload, hem_workload, uniform_tuples

A, B = PAttribute("a", pa.int32(), ("a",)), PAttribute("b", pa.int32(), ("b",))
GRIDS = (Grid.of_cuts(np.arange(0, 1_000, 10), 101), Grid.of_cuts(np.arange(0, 1_000, 10), 101))
BLOCKS = CompileOptions(exact_bytes=0, block_conjuncts=1_024)


def between(attribute: PAttribute, low: int, high: int) -> tuple[PAttribute, Constraint]:
    return attribute, Constraint((((low, 0), (high, 1)),))


def table_of(*queries: tuple[tuple[tuple[PAttribute, Constraint], ...], ...]) -> ConjunctTable:
    return encoded(((number, own) for number, query in enumerate(queries) for own in query), {A: 0, B: 1}, {})


def test_a_conjunct_is_at_home_where_it_admits_the_least() -> None:
    homes = Homes.of(
        table_of(
            ((between(A, 100, 190), between(B, 0, 500)),),
            ((between(A, 0, 500), between(B, 300, 300)),),
            ((between(A, 0, 700), between(B, 0, 600)),),
            ((between(A, 5, 5),), (between(B, 900, 910),)),
            (((A, Constraint((), null=True)),),),
        ),
        GRIDS,
    )
    assert homes.slots.tolist() == [0, 1, NOWHERE, 0, 1, 0]
    assert homes.keys[[0, 1, 3, 4]].tolist() == [100, 300, 5, 900]


def test_of_what_admits_as_little_the_most_frequent_is_home() -> None:
    both = ((between(A, 100, 390), between(B, 100, 440)),)
    homes = Homes.of(table_of(both, both, ((between(B, 0, 90),),)), GRIDS)
    assert homes.slots.tolist() == [1, 1, 1]
    assert Homes.of(table_of(), GRIDS).slots.tolist() == []


def test_queries_stand_by_their_homes() -> None:
    rng = np.random.default_rng(3)
    low = rng.integers(0, 990, 4_000).tolist()
    at_a = [((between(A, value, value + 9), between(B, 0, 900)), (between(B, 7, 7),)) for value in low]
    at_b = [((between(B, value, value + 9), between(A, 0, 900)),) for value in low[:1_100]]
    wide = [((between(A, 0, 800), between(B, 0, 900)),)] * 10
    table = table_of(*at_b, *wide, *at_a)
    blocks = list(grouped(table, GRIDS, 2_048, 512))
    assert [len(own) <= 2_049 for own, _ in blocks] == [True] * 5
    bits = np.concatenate([np.pad(own.owner, (0, -len(own) % 2_048), constant_values=-1) for own, _ in blocks[:-1]])
    bits = np.append(bits, blocks[-1][0].owner)
    assert sorted(bits[bits >= 0].tolist()) == sorted(table.owner.tolist())
    # What is nowhere comes first, in its order; each of the others begins with a line.
    assert bits[:11].tolist() == [*range(1_100, 1_110), -1]
    assert bits[512] >= 1_110
    (begin,) = np.flatnonzero((bits >= 0) & (bits < 1_100))[:1]
    assert begin % 512 == 0
    assert (np.diff(np.array(low)[bits[begin : begin + 1_100]]) >= 0).all()
    own = bits[512:begin]
    own = own[own >= 0]
    # The conjuncts of a query stay together, at the home of the first.
    assert (own[::2] == own[1::2]).all()
    assert (np.diff(np.array(low)[own[::2] - 1_110]) >= 0).all()
    homes = np.concatenate([own.slots for _, own in blocks])
    assert homes[:512].tolist() == [NOWHERE] * 512
    assert set(homes[512:].tolist()) == {0, 1}


def test_small_homes_share_lines() -> None:
    few = [((between(A, 5, 5),),)] * 100
    others = [((between(B, 10 * (number % 100), 10 * (number % 100)),),) for number in range(1_000)]
    ((own, homes),) = grouped(table_of(*few, *others), GRIDS, 2_048, 512)
    assert own.owner.tolist()[:100] == list(range(100))
    assert homes.slots.tolist() == [0] * 100 + [1] * 1_000
    # Where blocks are smaller than a line nothing stays free.
    small = [own for own, _ in grouped(table_of(*few, *others), GRIDS, 256, 512)]
    assert [len(own) for own in small] == [220] * 5
    assert not any((own.owner < 0).any() for own in small)


def test_one_that_comes_later_is_at_home_where_lines_are() -> None:
    both = ((between(A, 100, 390), between(B, 100, 390)),)
    for popular in ([5, 1], [1, 5]):
        homes = Homes.of(table_of(both), GRIDS, np.array(popular))
        assert homes.slots.tolist() == [int(np.argmax(popular))]


def found(plan: Plan, tuples: pa.Table) -> list[tuple[int, str]]:
    columns = [tuples[attribute.sql].combine_chunks() for attribute in plan.p_attributes]
    matches = match(plan, columns, tuples.num_rows)
    ids = plan.query_ids.take(pa.array(matches.queries)).to_pylist()
    return list(zip(matches.rows.tolist(), ids, strict=True))


def ungrouped(table: ConjunctTable, grids: object, limit: int, line: int) -> Iterator[tuple[ConjunctTable, Homes]]:
    for low in range(0, len(table), limit):
        which = np.arange(low, min(low + limit, len(table)))
        yield table.take(which), nowhere(len(which))


@pytest.mark.parametrize("name", ["alerts", "HEM-like"])
def test_groups_find_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    workload = alerts_workload(14_000) if name == "alerts" else hem_workload(3_000)
    queries = workload.standing_queries()
    tuples = uniform_tuples(400, attributes=workload.attributes, domain=workload.domain)
    plan = compile_plan(queries, BLOCKS)
    assert any((block.homes.slots != NOWHERE).all() for block in plan.blocks)
    changed = change_plan(plan, add=[Query("new", queries[0].predicate)], remove=[query.id for query in queries[:50]])
    monkeypatch.setattr(compiler, "grouped", ungrouped)
    flat = compile_plan(queries, BLOCKS)
    assert all((block.homes.slots == NOWHERE).all() for block in flat.blocks)
    assert found(plan, tuples) == found(flat, tuples)
    others = [*queries[50:], Query("new", queries[0].predicate)]
    assert found(changed, tuples) == found(compile_plan(others, BLOCKS), tuples)


@pytest.mark.parametrize(("name", "most"), [("alerts", 0.06), ("HEM-like", 0.6)])
def test_tuples_read_few_of_the_lines(name: str, most: float) -> None:
    workload = alerts_workload(40_000) if name == "alerts" else hem_workload(20_000)
    plan = compile_plan(workload.standing_queries(), CompileOptions(exact_bytes=0, block_conjuncts=4_096))
    tuples = uniform_tuples(200, attributes=workload.attributes, domain=workload.domain)
    regions = region_ids(plan, [tuples[own.sql].combine_chunks() for own in plan.p_attributes], 200)
    read = total = 0
    for block in plan.blocks:
        left = np.full(200, ~np.uint64(0))
        for slot, base in zip(block.slots.tolist(), block.bases.tolist(), strict=True):
            left &= block.groups[base + 1 + regions[slot]]
        read += int(np.bitwise_count(left).sum())
        total += 200 * len(block.homes.slots)
    assert read < most * total


def test_an_empty_plan_has_no_groups() -> None:
    assert compile_plan([Query("none", Predicate("", ()))], BLOCKS).blocks == ()
