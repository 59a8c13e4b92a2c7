"""What is measured and found agrees with a plain implementation over the paper's constructs, tuple by tuple."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from bitarray import bitarray
from bitarray.util import zeros
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asc.evaluation.executor import match
from asc.evaluation.reference import accepted_by, evaluate
from asc.evaluation.regions import region_ids
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, Interval, Key, merged
from asc.plan.block import Block, static_sequence
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.construct import bits_of
from asc.plan.order import Order
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate.normal_form.disjunctive_form import Predicate
from monitor.errors import MonitorError
from monitor.hybrid import HybridSequence, hybrid_sequence
from monitor.macro import MacroSearch, macro_sequence
from monitor.sample import Sample
from monitor.statistics import conditional_selectivity, costs_of, dropping_ratio, walked

ATTRIBUTES = [PAttribute(name, pa.string() if name == "s" else pa.int32(), (name,)) for name in "abcdefs"]
TEXTS = ("", "a", "ab", "b", "東京")
BOUNDED = CompileOptions(
    exact_bytes=0, exact_regions=0, bounded_regions=3, bounded_rows=0, block_conjuncts=128, rebuild_share=1_000.0
)
Arrows = dict[tuple[int, int], int]
seeds = st.integers(0, 2**32)
quickly = settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])


def random_key(rng: random.Random, attribute: PAttribute) -> Key:
    return rng.choice(TEXTS).encode() if attribute.sql == "s" else rng.randrange(10)


def random_constraint(rng: random.Random, attribute: PAttribute) -> Constraint:
    form = rng.randrange(12)
    if form < 2:
        return Constraint((), null=True) if form else Constraint(((None, None),))
    cuts = sorted({(random_key(rng, attribute), rng.randrange(2)) for _ in range(rng.randint(1, 4))})
    ends = [None, *cuts] if rng.random() < 0.4 else list(cuts)
    intervals: list[Interval] = list(zip(ends[::2], [*ends[1::2], None][: len(ends[::2])], strict=True))
    return Constraint(merged(intervals), rng.random() < 0.25)


def random_queries(rng: random.Random, count: int, attributes: Sequence[PAttribute], prefix: str) -> list[Query]:
    queries = []
    for number in range(count):
        conjuncts = []
        for _ in range(rng.choice((1, 1, 2))):
            used = rng.sample(attributes, rng.randint(1, min(3, len(attributes))))
            conjuncts.append(tuple((attribute, random_constraint(rng, attribute)) for attribute in used))
        queries.append(Query(f"{prefix}{number:03d}", Predicate("", tuple(conjuncts))))
    return queries


def random_plan(rng: random.Random) -> Plan:
    """Exact or bounded regions, one block or several, words with free bits of queries that came and went."""
    attributes = rng.sample(ATTRIBUTES, rng.randint(1, len(ATTRIBUTES)))
    queries = random_queries(rng, rng.choice((1, 2, 4, 10, 80, 150)), attributes, "q")
    if rng.random() < 0.5:
        return compile_plan(queries)
    plan = compile_plan(queries, BOUNDED)
    plan = change_plan(plan, add=random_queries(rng, rng.randrange(4), ATTRIBUTES, "r"))
    gone = [query.id for query in queries if rng.random() < 0.2]
    return change_plan(plan, remove=gone) if len(gone) < len(queries) else plan


def random_table(rng: random.Random, rows: int) -> pa.Table:
    """Tuples with NULLs; some columns are constant, some all NULL."""
    columns = {}
    for attribute in ATTRIBUTES:
        pool = (*TEXTS, "zz") if attribute.sql == "s" else range(-1, 11)
        form = rng.randrange(8)
        values = [None if form == 0 or (form > 2 and rng.random() < 0.15) else rng.choice(pool) for _ in range(rows)]
        columns[attribute.sql] = pa.array([values[0]] * rows if form == 1 else values, attribute.type)
    return pa.table(columns)


def keys_of(plan: Plan, columns: Sequence[pa.ChunkedArray], row: int) -> list[Key | None]:
    return [attribute.key_of(column[row]) for attribute, column in zip(plan.p_attributes, columns, strict=True)]


def random_order(rng: random.Random, plan: Plan, number: int) -> tuple[list[int], Arrows]:
    block = plan.blocks[number]
    constructs = list(range(len(block.slots)))
    arrows = {}
    for _ in range(rng.randrange(3 * len(constructs) + 1)):
        construct = rng.choice(constructs)
        arrows[construct, rng.randint(0, block.region_count(construct))] = rng.choice(constructs)
    return rng.sample(constructs, len(constructs)), arrows


def order_of(block: Block, sequence: Sequence[int], arrows: Arrows) -> Order:
    return block.order_of(sequence, ((construct, region, target) for (construct, region), target in arrows.items()))


def arrows_of(found: HybridSequence) -> Arrows:
    return {(arrow.construct, arrow.region): arrow.target for arrow in found.micro_arrows}


def columns_of(plan: Plan, table: pa.Table) -> list[pa.ChunkedArray]:
    return [table[attribute.sql] for attribute in plan.p_attributes]


@dataclass
class Naive:
    """A block and a sample as bitarrays, and the search for its sequences as the paper words it."""

    plan: Plan
    number: int
    sample: Sample

    def __post_init__(self) -> None:
        block = self.plan.blocks[self.number]
        self.constructs = self.plan.constructs(self.number)
        self.live = bits_of(block.live)
        self.places = range(len(self.constructs))
        self.tuples = range(len(self.sample))
        self.slots = block.slots.tolist()

    def qrb(self, construct: int, row: int) -> bitarray:
        if construct not in self.sample.known:
            return ~zeros(len(self.live), endian="little")
        return self.constructs[construct].ra.qrb(int(self.sample.regions[construct, row]))

    def grb(self, sequence: Sequence[int], row: int) -> bitarray:
        grb = bitarray(self.live)
        for construct in sequence:
            grb &= self.qrb(construct, row)
        return grb

    def missing(self, sequence: Sequence[int]) -> bitarray:
        missing = bitarray(self.live)
        for construct in sequence:
            missing &= ~self.constructs[construct].qub
        return missing

    def gain(self, prefix: Sequence[int], candidate: int) -> int:
        return (self.missing(prefix) & self.constructs[candidate].qub).count()

    def selectivity(self, prefix: Sequence[int], candidate: int) -> Fraction:
        missing = self.missing(prefix)
        passed = sum((self.grb([*prefix, candidate], row) & missing).count() for row in self.tuples)
        return Fraction(passed, missing.count() * len(self.tuples))

    def dropping(self, sequence: Sequence[int]) -> Fraction:
        return Fraction(sum(not self.grb(sequence, row).any() for row in self.tuples), len(self.tuples))

    def macro(self) -> list[int]:
        known, found = list(self.sample.known), list[int]()
        while len(known) > 1:
            if any(self.gain(found, c) for c in known):
                keys = {c: (self.selectivity(found, c), Fraction(-self.gain(found, c))) for c in known}
            else:
                keys = {c: (-self.dropping([*found, c]), self.selectivity([], c)) for c in known}
            found.append(min(sorted(known, key=self.slots.__getitem__), key=keys.__getitem__))
            known.remove(found[-1])
        found += known
        return found + [c for c in static_sequence(self.plan.blocks[self.number]) if c not in found]

    def hybrid(self, sequence: Sequence[int], min_visitors: int) -> Arrows:
        arrows: Arrows = {}
        paths = {row: [sequence[0]] for row in self.tuples}
        while paths := {row: path for row, path in paths.items() if self.grb(path, row).any()}:
            groups = defaultdict(list)
            for row, path in paths.items():
                if path[-1] in self.sample.known:
                    groups[path[-1], int(self.sample.regions[path[-1], row])].append(row)
            for place, group in groups.items():
                if place not in arrows and len(group) >= min_visitors:
                    target = self.better(sequence, place, {row: paths[row] for row in group})
                    arrows |= {} if target is None else {place: target}
            onward = {}
            for row, path in paths.items():
                place = (path[-1], int(self.sample.regions[path[-1], row]))
                rest = [construct for construct in sequence if construct not in path]
                target = arrows.get(place) if path[-1] in self.sample.known else None
                if rest:
                    onward[row] = [*path, target if target in rest else rest[0]]
            paths = onward
        return arrows

    def better(self, sequence: Sequence[int], place: tuple[int, int], paths: Mapping[int, list[int]]) -> int | None:
        """The candidate that is strictly better for these tuples than their macro successors."""
        cab = self.constructs[place[0]].ra[place[1]].cab
        seen = {construct for path in paths.values() for construct in path}
        candidates = [c for c in sequence if cab[c] and c not in seen and c in self.sample.known]
        if not candidates:
            return None
        covered = all(not self.missing(path).any() for path in paths.values())

        def left(successors: Mapping[int, int]) -> int:
            grbs = [self.grb([*path, successors[row]], row) for row, path in paths.items()]
            return sum(grb.any() for grb in grbs) if covered else sum(grb.count() for grb in grbs)

        macro = left({row: next(c for c in sequence if c not in path) for row, path in paths.items()})
        values = [left(dict.fromkeys(paths, candidate)) for candidate in candidates]
        return candidates[values.index(min(values))] if min(values) < macro else None


def random_problem(rng: random.Random, *, partly_known: bool) -> Naive:
    while not (plan := random_plan(rng)).blocks:
        pass
    number = rng.randrange(len(plan.blocks))
    rows = rng.randint(1, 40)
    ids = region_ids(plan, columns_of(plan, random_table(rng, rows)), rows)
    slots = range(len(plan.p_attributes))
    known = [slot for slot in slots if rng.random() < 0.7] if partly_known and rng.random() < 0.5 else None
    return Naive(plan, number, Sample.of(plan.blocks[number], ids, known))


@quickly
@given(seeds)
def test_statistics(seed: int) -> None:
    rng = random.Random(seed)
    naive = random_problem(rng, partly_known=True)
    block, sample = naive.plan.blocks[naive.number], naive.sample
    order = rng.sample(naive.places, len(naive.places))
    for length in range(len(order) + 1):
        assert dropping_ratio(block, sample, order[:length]) == float(naive.dropping(order[:length]))
        if length == len(order) or order[length] not in sample.known:
            continue
        if naive.missing(order[:length]).any():
            found = conditional_selectivity(block, sample, order[:length], order[length])
            assert found == pytest.approx(float(naive.selectivity(order[:length], order[length])), rel=1e-12)
        else:
            with pytest.raises(MonitorError, match="covers every conjunct"):
                conditional_selectivity(block, sample, order[:length], order[length])


@quickly
@given(seeds)
def test_macro_sequence(seed: int) -> None:
    naive = random_problem(random.Random(seed), partly_known=True)
    found = macro_sequence(naive.plan.blocks[naive.number], naive.sample)
    assert list(found.sequence) == naive.macro()


@quickly
@given(seeds)
def test_macro_sequence_with_other_tuples_every_period(seed: int) -> None:
    """Each step is the first step of a sampled search that has come so far."""
    rng = random.Random(seed)
    naive = random_problem(rng, partly_known=False)
    search, found = MacroSearch(naive.plan.blocks[naive.number]), list[int]()
    first: Naive | None = None
    while not search.done:
        ids = region_ids(naive.plan, columns_of(naive.plan, random_table(rng, 5)), 5)
        period = replace(naive, sample=Sample.of(naive.plan.blocks[naive.number], ids))
        first = first or period
        search.step(period.sample)
        left = sorted(set(naive.places) - set(found), key=naive.slots.__getitem__)
        if naive.missing(found).any():
            best = min(left, key=lambda c: (period.selectivity(found, c), -naive.gain(found, c)))
        else:
            best = min(left, key=lambda c: (-period.dropping([*found, c]), first.selectivity([], c)))
        if len(left) > 1:
            found.append(best)
    assert list(search.result().sequence[: len(found)]) == found


@quickly
@given(seeds)
def test_hybrid_sequence(seed: int) -> None:
    rng = random.Random(seed)
    naive = random_problem(rng, partly_known=True)
    block, sample = naive.plan.blocks[naive.number], naive.sample
    sequence = rng.choice((naive.macro(), random_order(rng, naive.plan, naive.number)[0]))
    min_visitors = rng.choice((1, 1, 2, 5, 30))
    found = hybrid_sequence(block, sample, sequence, min_visitors)
    assert found.order.sequence.tolist() == sequence
    assert arrows_of(found) == naive.hybrid(sequence, min_visitors)
    assert found.order.arrow_count == len(found.micro_arrows)
    for arrow in found.micro_arrows:
        assert arrow.visitors >= min_visitors
        sign = 1 if arrow.measure.value == "conditional selectivity" else -1
        assert sign * arrow.value < sign * arrow.macro_value


@settings(quickly, max_examples=25)
@given(seeds)
def test_hybrid_sequence_where_tuples_of_many_ways_meet(seed: int) -> None:
    """Few regions and many tuples: a region is reached after other constructs by one tuple than by another."""
    rng = random.Random(seed)
    plan = compile_plan(random_queries(rng, 12, ATTRIBUTES, "q"))
    block, rows = plan.blocks[0], 150
    sample = Sample.of(block, region_ids(plan, columns_of(plan, random_table(rng, rows)), rows))
    sequence = random_order(rng, plan, 0)[0]
    assert arrows_of(hybrid_sequence(block, sample, sequence, 2)) == Naive(plan, 0, sample).hybrid(sequence, 2)


@quickly
@given(seeds)
def test_walks_are_the_references(seed: int) -> None:
    rng = random.Random(seed)
    while not (plan := random_plan(rng)).blocks:
        pass
    rows = rng.randint(1, 30)
    columns = columns_of(plan, random_table(rng, rows))
    for number, block in enumerate(plan.blocks):
        sample = Sample.of(block, region_ids(plan, columns, rows))
        sequence, arrows = random_order(rng, plan, number)
        walks, micro = [], 0
        for row in range(rows):
            keys = keys_of(plan, columns, row)
            own = [keys[slot] for slot in block.slots.tolist()]
            walks.append(evaluate(plan.constructs(number), bits_of(block.live), own, sequence, arrows))
            steps = walks[-1].steps
            micro += sum(arrows.get((a.construct, a.region)) == b.construct for a, b in pairwise(steps))
        order = order_of(block, sequence, arrows)
        walk = walked(block, sample, order)
        assert costs_of(block, sample, order).tolist() == [expected.cost for expected in walks]
        assert (walk.tuples, walk.dropped) == (rows, sum(expected.dropped for expected in walks))
        assert walk.evaluated == sum(expected.cost for expected in walks)
        assert (walk.micro_arrows, walk.macro_arrows) == (
            micro,
            sum(max(0, expected.cost - 1) for expected in walks) - micro,
        )


@quickly
@given(seeds)
def test_sequences_never_change_matches(lists_of: Any, seed: int) -> None:
    """Every chunk of a stream is matched along other sequences, found or random: the matches are the same."""
    rng = random.Random(seed)
    plan = random_plan(rng)
    table = random_table(rng, 24)
    expected = [accepted_by(plan, keys_of(plan, columns_of(plan, table), row)) for row in range(24)]
    found: list[list[str]] = []
    for start in range(0, 24, 6):
        chunk = table.slice(start, 6)
        found += lists_of(match(plan, columns_of(plan, chunk), 6), plan.query_ids)
        ids = region_ids(plan, columns_of(plan, chunk), 6)
        orders = {}
        for number, block in enumerate(plan.blocks):
            orders[number] = order_of(block, *random_order(rng, plan, number))
            if rng.random() < 0.5:
                sample = Sample.of(block, ids)
                orders[number] = hybrid_sequence(block, sample, macro_sequence(block, sample).sequence, 1).order
        plan = plan.with_orders(orders)
    assert found == expected
