"""Kernels, reference and plain evaluation of constraints agree: on random predicates, plans, sequences and changes."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from asc.evaluation.executor import match
from asc.evaluation.explain import explain
from asc.evaluation.reference import accepted_by, evaluate_block
from asc.evaluation.regions import region_ids
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, Cut, Interval, Key, merged
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.parts import Part, parts_of, plan_of
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate.normal_form.disjunctive_form import Predicate

if TYPE_CHECKING:
    from conftest import ListsOf

TEXTS = ("", "a", "ab", "abc", "abcdefgh", "abcdefghi", "abcdefgh\0", "b", "Zürich", "東京", "🚀", "\uffff", "a\0")
PRICES = ("0.00", "5.00", "5.01", "-0.01", "99999999.99", "-99999999.99")
WIDE = (0, 1, -1, 10**32, -(10**32), 2**64, -(2**64))
POOLS: dict[str, tuple[pa.DataType, tuple[Any, ...]]] = {
    "flag": (pa.bool_(), (True, False)),
    "tiny": (pa.int8(), (-128, -127, -1, 0, 1, 5, 126, 127)),
    "n": (pa.int32(), (-(2**31), -(2**31) + 1, -1, 0, 1, 5, 6, 7, 2**31 - 2, 2**31 - 1)),
    "big": (pa.int64(), (-(2**63), -(2**63) + 1, -(2**31), -1, 0, 1, 7, 2**31, 2**63 - 2, 2**63 - 1)),
    "single": (pa.float32(), (0.0, -0.0, 1.5, -1.5, 5.5, math.inf, -math.inf, math.nan)),
    "double": (pa.float64(), (0.0, -0.0, 1.0, 5e-324, -5e-324, 1e300, -1e300, math.inf, -math.inf, math.nan)),
    "price": (pa.decimal128(10, 2), tuple(map(Decimal, PRICES))),
    "wide": (pa.decimal128(38, 5), tuple(Decimal(f"{x}.00001") for x in WIDE)),
    "s": (pa.string(), TEXTS),
    "raw": (pa.binary(), (b"", b"\0", b"a", b"\x7f", b"\x80", b"\xff", b"\xff\0")),
    "day": (pa.date32(), tuple(map(dt.date.fromisoformat, ("0001-01-01", "1969-12-31", "1970-01-01", "9999-12-31")))),
    "ts": (pa.timestamp("us", tz="UTC"), (-62135596800000000, -1, 0, 1, 253402300799999999)),
}  # fmt: skip
ATTRIBUTES = {name: PAttribute(name, data_type, (name,)) for name, (data_type, _) in POOLS.items()}
KEYS = {
    name: sorted({ATTRIBUTES[name].key_of(pa.scalar(value, data_type)) for value in values})
    for name, (data_type, values) in POOLS.items()
}
BOUNDED = CompileOptions(exact_bytes=0, exact_regions=0, bounded_regions=3, bounded_rows=0, block_conjuncts=128)
OPTIONS = (
    CompileOptions(),
    CompileOptions(always_exact=True, exact_bytes=0),
    CompileOptions(exact_bytes=0, exact_regions=9, bounded_regions=6, bounded_rows=0, block_conjuncts=64),
    BOUNDED,
)
quickly = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def constraints(draw: st.DrawFn, name: str) -> Constraint:
    """Up to three intervals between values of the pool, and NULL or not; never full nor empty."""
    cut: st.SearchStrategy[Cut] = st.tuples(st.sampled_from(KEYS[name]), st.sampled_from((0, 1)))
    cuts = sorted(draw(st.sets(cut, min_size=1, max_size=6)))
    ends: list[Cut | None] = [*([None] if draw(st.booleans()) else []), *cuts]
    if len(ends) % 2:
        ends.append(None)
    intervals: list[Interval] = list(zip(ends[::2], ends[1::2], strict=True))
    if draw(st.integers(0, 9)) == 0:
        return Constraint((), null=True) if draw(st.booleans()) else Constraint(((None, None),))
    return Constraint(merged(intervals), draw(st.integers(0, 3)) == 0)


@st.composite
def predicates(draw: st.DrawFn) -> Predicate:
    kind = draw(st.integers(0, 19))
    if kind < 2:
        return Predicate("", (), match_all=kind == 0)
    conjuncts = []
    for _ in range(draw(st.sampled_from((1, 1, 1, 2, 3)))):
        names = draw(st.lists(st.sampled_from(list(POOLS)), min_size=1, max_size=4, unique=True))
        conjuncts.append(tuple((ATTRIBUTES[name], draw(constraints(name))) for name in names))
    return Predicate("", tuple(conjuncts))


def batches(rows: int) -> st.SearchStrategy[pa.Table]:
    """Tuples with NULLs, values from the pools and between them."""

    def column(name: str) -> st.SearchStrategy[pa.Array]:
        data_type, values = POOLS[name]
        one = st.one_of(st.none(), st.sampled_from(values), st.sampled_from(values))
        return st.lists(one, min_size=rows, max_size=rows).map(lambda drawn: pa.array(drawn, data_type))

    return st.tuples(*map(column, POOLS)).map(lambda columns: pa.table(dict(zip(POOLS, columns, strict=True))))


def accepts(predicate: Predicate, values: dict[PAttribute, Key | None]) -> bool:
    return predicate.match_all or any(
        all(constraint.admits(values[attribute]) for attribute, constraint in conjunct)
        for conjunct in predicate.conjuncts
    )


def expected_ids(queries: Sequence[Query], table: pa.Table) -> list[list[str]]:
    found = []
    for row in range(table.num_rows):
        values = {attribute: attribute.key_of(table[name][row]) for name, attribute in ATTRIBUTES.items()}
        found.append(sorted(query.id for query in queries if accepts(query.predicate, values)))
    return found


@pytest.fixture(scope="module", autouse=True, params=[8, 0], ids=["", "doubts"])
def many_survivors(request: pytest.FixtureRequest) -> Iterator[None]:
    """All, also with bitmaps of what is in doubt in every block that verifies anything."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("asc.plan.block._MANY_SURVIVORS", request.param)
        yield


MatchedIds = Callable[..., list[list[str]]]


@pytest.fixture(scope="session")
def matched_ids(lists_of: ListsOf) -> MatchedIds:
    def matched(plan: Plan, table: pa.Table, *, count_cost: bool = False) -> list[list[str]]:
        columns = [table[attribute.sql] for attribute in plan.p_attributes]
        return lists_of(match(plan, columns, table.num_rows, count_cost=count_cost), plan.query_ids)

    return matched


def keys_of(plan: Plan, table: pa.Table) -> list[list[Key | None]]:
    """The keys of each tuple in slot order."""
    return [[p.key_of(table[p.sql][row]) for p in plan.p_attributes] for row in range(table.num_rows)]


def reference_ids(plan: Plan, table: pa.Table) -> list[list[str]]:
    return [accepted_by(plan, keys) for keys in keys_of(plan, table)]


Counts = list[tuple[int, int]]


def counts(plan: Plan, table: pa.Table) -> tuple[Counts, Counts]:
    """For each block the constructs evaluated and the tuples dropped, by the kernels and by the reference."""
    columns = [table[attribute.sql] for attribute in plan.p_attributes]
    counted = match(plan, columns, table.num_rows, count_cost=True)
    found = list(zip(counted.block_evaluated.tolist(), counted.block_dropped.tolist(), strict=True))
    tuples, walked = keys_of(plan, table), []
    for number in range(len(plan.blocks)):
        walks = [evaluate_block(plan, number, keys) for keys in tuples]
        walked.append((sum(walk.cost for walk in walks), sum(walk.dropped for walk in walks)))
    return found, walked


def regions(plan: Plan, table: pa.Table) -> tuple[list[list[int]], list[list[int]]]:
    """The regions visited, by p-attribute, as the kernels find them and as the constructs of the first block do."""
    columns = [table[attribute.sql] for attribute in plan.p_attributes]
    found, searched = region_ids(plan, columns, table.num_rows), []
    block = plan.blocks[0]
    for slot, construct in zip(block.slots.tolist(), plan.constructs(0), strict=True):
        keys = [construct.attribute.key_of(value) for value in columns[slot]]
        searched.append([construct.region_of(key) for key in keys])
    return found[block.slots].tolist(), searched


def numbered(found: Sequence[Predicate]) -> list[Query]:
    return [Query(f"q{number}", predicate) for number, predicate in enumerate(found)]


@st.composite
def resequenced(draw: st.DrawFn, plan: Plan) -> Plan:
    """The plan with a random sequence and random micro-arrows in every block."""
    orders = {}
    for number, block in enumerate(plan.blocks):
        places = range(len(block.slots))
        if not places:
            continue
        target = st.sampled_from(places)
        region = st.builds(
            lambda construct, r, block=block: (construct, r % (block.region_count(construct) + 1)),
            target,
            st.integers(0, 99),
        )
        arrows = draw(st.lists(st.builds(lambda place, to: (*place, to), region, target), max_size=8))
        orders[number] = block.order_of(draw(st.permutations(places)), arrows)
    return plan.with_orders(orders)


@quickly
@given(st.lists(predicates(), min_size=1, max_size=4), batches(2), st.sampled_from(OPTIONS))
def test_an_explanation_says_of_a_tuple_what_the_evaluation_does(
    found: list[Predicate], table: pa.Table, options: CompileOptions
) -> None:
    queries = numbered(found)
    plan = compile_plan(queries, options)
    for row, ids in enumerate(expected_ids(queries, table)):
        values = [table[attribute.sql][row] for attribute in plan.p_attributes]
        explanations = {query.id: explain(plan, query.id, values) for query in queries}
        assert sorted(query_id for query_id, one in explanations.items() if one.accepted) == ids
        for one in explanations.values():
            first, *terms = one.text.splitlines()
            assert first.startswith("accepted") == bool(one.accepted)
            assert one.accepted or first.startswith("not accepted because ")
            assert not one.accepted or not terms or any(line.startswith("  holds  ") for line in terms)


@quickly
@given(st.lists(predicates(), max_size=12), batches(12), st.sampled_from(OPTIONS), st.data())
def test_every_way_of_evaluation_agrees(
    matched_ids: MatchedIds, found: list[Predicate], table: pa.Table, options: CompileOptions, data: st.DataObject
) -> None:
    queries = numbered(found)
    expected = expected_ids(queries, table)
    plan = compile_plan(queries, options)
    assert matched_ids(plan, table) == expected
    assert matched_ids(plan, table, count_cost=True) == expected
    assert reference_ids(plan, table) == expected
    assert matched_ids(plan_of([Part.from_bytes(part.to_bytes()) for part in parts_of(plan)]), table) == expected
    hybrid = data.draw(resequenced(plan))
    assert matched_ids(hybrid, table) == expected
    assert reference_ids(hybrid, table) == expected
    for sequenced in (plan, hybrid):
        counted, walked = counts(sequenced, table)
        assert counted == walked
    dropped = [match(plan, [table[p.sql] for p in plan.p_attributes], table.num_rows).block_dropped.tolist()]
    assert dropped == [[count for _, count in counted]]
    if plan.blocks:
        kernels, constructs = regions(plan, table)
        assert kernels == constructs


@quickly
@given(st.lists(predicates(), max_size=12), st.sampled_from(OPTIONS))
def test_bits_are_those_of_definition_1(found: list[Predicate], options: CompileOptions) -> None:
    """A bit is 0 exactly where no pool value of the region satisfies the conjunct, asked value by value."""
    plan = compile_plan(numbered(found), options)
    for number, block in enumerate(plan.blocks):
        constructs = plan.constructs(number)
        for bit in [place for place, owner in enumerate(block.table.owner.tolist()) if owner >= 0]:
            own = dict(plan.constraints(number, bit))
            for construct in constructs:
                constraint = own.get(construct.attribute)
                assert construct.qub[bit] == (constraint is not None)
                for key in [None, *KEYS[construct.attribute.sql]]:
                    bit_set = construct.ra.qrb(construct.region_of(key))[bit]
                    if constraint is None or constraint.admits(key):
                        assert bit_set
                    elif construct.exact or key is None:
                        assert not bit_set


@quickly
@given(st.lists(predicates(), max_size=8), batches(6), st.integers(0, 6), st.integers(1, 5))
def test_slices_chunks_and_dictionaries_are_the_same_batch(
    matched_ids: MatchedIds, found: list[Predicate], table: pa.Table, start: int, chunks: int
) -> None:
    queries = numbered(found)
    plan = compile_plan(queries)
    part = table.slice(start)
    expected = expected_ids(queries, part)
    assert matched_ids(plan, part) == expected
    chunked = pa.concat_tables([part.slice(i, 1) for i in range(part.num_rows)]) if part.num_rows else part
    assert matched_ids(plan, chunked) == expected
    encoded = part
    for place, name in enumerate(part.column_names):
        if name not in ("flag", "wide", "price"):
            encoded = encoded.set_column(place, name, pa.chunked_array(part[name]).combine_chunks().dictionary_encode())
    assert matched_ids(plan, encoded.slice(0, chunks)) == expected[:chunks]


class Standing(RuleBasedStateMachine):
    """Adding, replacing and removing queries against a plain dictionary of predicates."""

    queries: dict[str, Query]
    plan: Plan
    table: pa.Table

    def __init__(self, matched_ids: MatchedIds) -> None:
        super().__init__()
        self.matched_ids = matched_ids
        self.travelled: dict[Part, Part] = {}

    @initialize(
        options=st.sampled_from(OPTIONS),
        share=st.sampled_from((0.25, 1000.0)),
        first=st.lists(predicates(), min_size=1, max_size=8),
        table=batches(5),
    )
    def start(self, options: CompileOptions, share: float, first: list[Predicate], table: pa.Table) -> None:
        self.queries = {query.id: query for query in numbered(first)}
        self.plan = compile_plan(self.queries.values(), replace(options, rebuild_share=share))
        self.table = table

    @rule(
        names=st.lists(st.sampled_from([f"q{i}" for i in range(16)]), min_size=1, max_size=4, unique=True),
        data=st.data(),
    )
    def add(self, names: list[str], data: st.DataObject) -> None:
        added = [Query(name, data.draw(predicates()), f"topic-{data.draw(st.integers(0, 3))}") for name in names]
        self.plan = change_plan(self.plan, add=added)
        self.queries |= {query.id: query for query in added}

    @precondition(lambda self: self.queries)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        names = data.draw(st.sets(st.sampled_from(sorted(self.queries)), min_size=1, max_size=3))
        self.plan = change_plan(self.plan, remove=names)
        for name in names:
            del self.queries[name]

    @precondition(lambda self: self.queries)
    @rule(data=st.data())
    def replace_one_and_remove_another(self, data: st.DataObject) -> None:
        name, other = (data.draw(st.sampled_from(sorted(self.queries))) for _ in range(2))
        query = Query(name, data.draw(predicates()), "elsewhere")
        self.plan = change_plan(self.plan, add=[query], remove=[other])
        self.queries.pop(other)
        self.queries[name] = query

    @rule(data=st.data())
    def resequence(self, data: st.DataObject) -> None:
        self.plan = data.draw(resequenced(self.plan))

    @rule()
    def travel(self) -> None:
        """By its parts, of which those that did not change since they last travelled do not travel again."""
        here = parts_of(self.plan, tuple(self.travelled))
        self.travelled = {part: self.travelled.get(part) or Part.from_bytes(part.to_bytes()) for part in here}
        arrived = plan_of(list(self.travelled.values()))
        assert arrived.query_ids.to_pylist() == self.plan.query_ids.to_pylist()
        assert arrived.topics.to_pylist() == self.plan.topics.to_pylist()
        assert self.matched_ids(arrived, self.table) == expected_ids(list(self.queries.values()), self.table)

    @invariant()
    def plan_holds_the_queries(self) -> None:
        assert self.plan.query_ids.to_pylist() == sorted(self.queries)
        topics = [self.queries[query_id].topic for query_id in sorted(self.queries)]
        assert self.plan.topics.to_pylist() == topics
        expected = expected_ids(list(self.queries.values()), self.table)
        assert self.matched_ids(self.plan, self.table) == expected
        assert reference_ids(self.plan, self.table) == expected


def test_queries_that_come_and_go(matched_ids: MatchedIds) -> None:
    often = settings(
        deadline=None,
        max_examples=settings.default.max_examples * 2 // 5,
        stateful_step_count=12,
        suppress_health_check=[HealthCheck.too_slow],
    )
    run_state_machine_as_test(lambda: Standing(matched_ids), settings=often)
