"""Orders from plan to plan: what still holds is kept, what does not is left out, matches never change."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import settings
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
from asc.evaluation.reference import accepted_by
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, Key
from asc.plan.block import static_sequence
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate.normal_form.disjunctive_form import Predicate
from monitor.transfer import OrderByAttribute, carried, transferred

A, B, C, D = (PAttribute(name, pa.int32(), (name,)) for name in "abcd")
S = PAttribute("s", pa.string(), ("s",))
BOUNDED = CompileOptions(
    exact_bytes=0, exact_regions=0, bounded_regions=4, bounded_rows=0, block_conjuncts=64, rebuild_share=1_000.0
)

ListsOf = Callable[..., list[list[str]]]


def query(query_id: str, *terms: tuple[PAttribute, Key]) -> Query:
    """A query whose terms are ``p-attribute > constant``."""
    conjunct = tuple((attribute, Constraint((((constant, 1), None),))) for attribute, constant in terms)
    return Query(query_id, Predicate("", (conjunct,)))


def sequenced(plan: Plan, order: list[PAttribute], arrows: dict[tuple[PAttribute, int], PAttribute]) -> Plan:
    """The plan, its first block in an order of p-attributes."""
    constructs = {plan.p_attributes[slot]: own for own, slot in enumerate(plan.blocks[0].slots.tolist())}
    by_construct = [(constructs[own], region, constructs[target]) for (own, region), target in arrows.items()]
    return plan.with_orders({0: plan.blocks[0].order_of([constructs[own] for own in order], by_construct)})


def named(plan: Plan) -> tuple[list[PAttribute], dict[tuple[PAttribute, int], PAttribute]]:
    """The sequence of the first block by p-attribute."""
    order = OrderByAttribute.of(plan, 0)
    return list(order.sequence), {(own, region): target for own, region, target in order.micro_arrows}


@pytest.fixture
def old() -> Plan:
    plan = compile_plan([query("q0", (A, 5), (B, 5), (C, 5)), query("q1", (A, 3), (C, 3)), query("q2", (B, 5))])
    return sequenced(plan, [C, A, B], {(C, 0): A, (C, 5): B, (B, 2): A, (A, 4): C})


def test_the_same_queries_take_over_everything(old: Plan) -> None:
    new = compile_plan([query("q0", (A, 5), (B, 5), (C, 5)), query("q1", (A, 3), (C, 3)), query("q2", (B, 5))])
    assert named(carried(old, new))[0] == [C, A, B]
    # Values of c below 3 rule out every conjunct that constrains a: that arrow leads to what can fail nothing.
    assert named(carried(old, new))[1] == {(C, 5): B, (B, 2): A, (A, 4): C}


def test_a_construct_that_is_gone_and_one_that_is_new(old: Plan) -> None:
    """What is left of the order stays, d comes after it, and every number means another p-attribute than before."""
    new = compile_plan([query("q0", (B, 5), (C, 5), (D, 1)), query("q1", (C, 3)), query("q2", (B, 5), (D, 2))])
    found = carried(old, new)
    assert named(found) == ([C, B, D], {(C, 5): B})
    assert found.version == new.version


def test_new_constructs_come_in_static_order(old: Plan) -> None:
    others = [PAttribute(name, pa.int32(), (name,)) for name in "uvwxyz"]
    terms = [(other, number) for number, other in enumerate(others)]
    new = compile_plan([query("q0", (A, 5), *terms), query("q1", (C, 3), *terms[:3]), query("q2", terms[4], terms[1])])
    order = named(carried(old, new))[0]
    static = [new.p_attributes[new.blocks[0].slots[construct]] for construct in static_sequence(new.blocks[0])]
    assert order == [C, A, *(attribute for attribute in static if attribute not in (A, C))]


def test_other_constants_of_an_attribute_end_the_arrows_from_it(old: Plan) -> None:
    """The regions of b are others now, so that they have no arrow; the arrow to b stays."""
    new = compile_plan([query("q0", (A, 5), (B, 6), (C, 5)), query("q1", (A, 3), (C, 3)), query("q2", (B, 5))])
    assert named(carried(old, new)) == ([C, A, B], {(C, 5): B, (A, 4): C})


def test_another_type_is_another_attribute(old: Plan) -> None:
    wider = PAttribute("a", pa.int64(), ("a",))
    new = compile_plan([query("q0", (wider, 5), (B, 5), (C, 5)), query("q1", (wider, 3), (C, 3)), query("q2", (B, 5))])
    assert named(carried(old, new)) == ([C, B, wider], {(C, 5): B})


@pytest.mark.parametrize(
    ("constants", "kept"),
    [(("b", "oslo"), True), (("b", "oslp"), False), (("b", "c", "oslo"), False), (("b",), False)],
)
def test_constants_of_strings_decide_and_not_their_labels(constants: tuple[str, ...], kept: bool) -> None:
    """A dictionary made anew gives the same constants the same meaning, whatever labels they have."""
    old = compile_plan([query("q0", (S, b"b"), (A, 1)), query("q1", (S, b"oslo"), (A, 1))])
    grown = change_plan(sequenced(old, [A, S], {(S, 4): A}), add=[query("q2", (A, 1))])
    assert named(grown)[1] == {}
    old = sequenced(grown, [A, S], {(S, 4): A})
    new = compile_plan([query(name, (S, name.encode()), (A, 1)) for name in constants])
    assert named(carried(old, new)) == ([A, S], {(S, 4): A} if kept else {})


def test_labels_that_moved_with_the_same_constants() -> None:
    queries = [query(f"q{number}", (S, constant), (A, 1)) for number, constant in enumerate((b"a", b"m", b"z"))]
    old = change_plan(compile_plan(queries[::2], BOUNDED), add=queries[1:2], remove=["q0"])
    old = sequenced(old, [A, S], {(S, 1): A})
    new = compile_plan(queries[::2], BOUNDED)
    assert old.dictionaries[old.p_attributes.index(S)] is not new.dictionaries[new.p_attributes.index(S)]
    assert old.cuts(old.p_attributes.index(S)) == new.cuts(new.p_attributes.index(S))
    assert named(carried(old, new)) == ([A, S], {(S, 1): A})


def test_a_plan_that_shares_blocks_is_returned_as_it_is() -> None:
    queries = [query(f"q{number:02d}", (A, number), (B, number)) for number in range(40)]
    old = sequenced(compile_plan(queries, BOUNDED), [B, A], {(B, 3): A})
    new = change_plan(old, remove=["q03"], add=[query("new", (C, 3))])
    assert new.changes
    assert carried(old, new) is new
    assert named(new) == ([B, A, C], {(B, 3): A})


def test_by_block_of_the_same_number() -> None:
    queries = [query(f"q{number:03d}", (A, number), (B, number)) for number in range(192)]
    old = compile_plan(queries[:128], replace(BOUNDED, rebuild_share=0.0))
    assert [block.sequence.tolist() for block in old.blocks] == [[0, 1], [0, 1]]
    first, second = old.blocks
    old = old.with_orders({0: first.order_of([1, 0]), 1: second.order_of([0, 1], [(0, 1, 1)])})
    new = carried(old, change_plan(old, add=queries[128:]))
    assert [block.sequence.tolist() for block in new.blocks] == [[1, 0], [0, 1], [0, 1]]
    assert carried(old, compile_plan([])).blocks == ()
    assert carried(compile_plan([]), new) is not None


def test_transferred_is_what_plans_take(old: Plan) -> None:
    order = transferred(OrderByAttribute.of(old, 0), old, 0)
    assert sorted(order.sequence.tolist()) == [0, 1, 2]
    assert old.with_orders({0: order}).blocks[0].sequence.tolist() == order.sequence.tolist()


def drawn_query(rng: random.Random, query_id: str) -> Query:
    terms: list[tuple[PAttribute, Key]] = []
    for attribute in rng.sample([A, B, C, D, S], rng.randint(1, 3)):
        terms.append((attribute, rng.choice((b"", b"a", b"b", b"m")) if attribute is S else rng.randrange(8)))
    return query(query_id, *terms)


class Carrying(RuleBasedStateMachine):
    """Queries come and go, sequences are exchanged and carried on: the plan always matches as its queries say."""

    plan: Plan
    queries: dict[str, Query]
    rng: random.Random
    columns: dict[str, pa.Array]

    def __init__(self, lists_of: ListsOf) -> None:
        super().__init__()
        self.lists_of = lists_of

    @initialize(
        seed=st.integers(0, 2**32),
        options=st.sampled_from([CompileOptions(), BOUNDED, replace(BOUNDED, rebuild_share=0.3)]),
    )
    def start(self, seed: int, options: CompileOptions) -> None:
        self.rng = random.Random(seed)
        self.queries = {f"q{number}": drawn_query(self.rng, f"q{number}") for number in range(self.rng.choice((3, 90)))}
        self.plan = compile_plan(self.queries.values(), options)
        self.columns = {
            attribute.sql: pa.array(
                [None if self.rng.random() < 0.1 else self.value(attribute) for _ in range(12)], attribute.type
            )
            for attribute in (A, B, C, D, S)
        }

    def value(self, attribute: PAttribute) -> int | str:
        return self.rng.choice(("", "a", "ab", "n")) if attribute is S else self.rng.randrange(9)

    @rule(count=st.integers(1, 4))
    def add(self, count: int) -> None:
        added = [drawn_query(self.rng, f"q{number}") for number in self.rng.sample(range(100), count)]
        self.change({query.id: query for query in added}, [])

    @precondition(lambda self: len(self.queries) > 3)
    @rule(count=st.integers(1, 3))
    def remove(self, count: int) -> None:
        self.change({}, self.rng.sample(sorted(self.queries), count))

    def change(self, added: dict[str, Query], gone: list[str]) -> None:
        before, changed = self.plan, change_plan(self.plan, add=added.values(), remove=gone)
        self.plan = carried(before, changed)
        self.queries = {name: own for name, own in (self.queries | added).items() if name not in gone}
        for number in range(min(len(before.blocks), len(self.plan.blocks)) if not changed.changes else 0):
            old, new = OrderByAttribute.of(before, number), OrderByAttribute.of(self.plan, number)
            kept = [attribute for attribute in old.sequence if attribute in new.sequence]
            assert list(new.sequence[: len(kept)]) == kept
            assert set(new.micro_arrows) <= set(old.micro_arrows)

    @rule()
    def resequence(self) -> None:
        orders = {}
        for number, block in enumerate(self.plan.blocks):
            constructs = list(range(len(block.slots)))
            arrows = [
                (construct, region, self.rng.choice(constructs))
                for construct in constructs
                for region in range(block.region_count(construct) + 1)
            ]
            orders[number] = block.order_of(self.rng.sample(constructs, len(constructs)), arrows)
        self.plan = self.plan.with_orders(orders)

    @invariant()
    def matches_are_those_of_the_queries(self) -> None:
        columns = [self.columns[attribute.sql] for attribute in self.plan.p_attributes]
        found = self.lists_of(match(self.plan, columns, 12), self.plan.query_ids)
        plain = compile_plan(self.queries.values())
        tuples = [[own.key_of(self.columns[own.sql][row]) for own in plain.p_attributes] for row in range(12)]
        assert found == [accepted_by(plain, keys) for keys in tuples]


def test_queries_and_sequences_that_come_and_go(lists_of: ListsOf) -> None:
    often = settings(deadline=None, max_examples=15, stateful_step_count=12)
    run_state_machine_as_test(lambda: Carrying(lists_of), settings=often)
