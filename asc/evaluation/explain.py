"""Why a query accepts a tuple or not, in words: its constructs, their sequence, and the tuple's way through them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from asc.evaluation.reference import Evaluation, evaluate_block
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, Key
from asc.plan.construct import Construct
from asc.plan.plan import Plan
from asc.predicate.describe import constraint_text

_FAILURES_TOLD = 3
"""Conjuncts of which the verdict says where they fail."""

Conjunct = Sequence[tuple[PAttribute, Constraint]]
Keys = Mapping[PAttribute, "Key | None"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A text of several lines; ``accepted``: whether the query accepts the tuple, None where none is given."""

    text: str
    accepted: bool | None = None


def explain(
    plan: Plan, query_id: str, values: Sequence[pa.Scalar] | None = None, *, whole: bool = False
) -> Explanation:
    """The constructs that a query uses and their place in the sequence of its block.

    With the ``values`` of a tuple, one Arrow scalar a p-attribute in the order of ``plan.p_attributes``: the verdict,
    then the query's terms and which of them hold; where the ``whole`` is wanted, also the constructs and the tuple's
    way through those of the block.

    Raises PlanError for an unknown id.
    """
    if values is None:
        return Explanation("\n".join(_lines(plan, query_id, None)))
    keys = [attribute.key_of(value) for attribute, value in zip(plan.p_attributes, values, strict=True)]
    accepted, lines = _judged(plan, query_id, dict(zip(plan.p_attributes, keys, strict=True)))
    return Explanation("\n".join([*lines, *(_lines(plan, query_id, keys) if whole else ())]), accepted)


def _judged(plan: Plan, query_id: str, keys: Keys) -> tuple[bool, list[str]]:
    """Whether a query accepts a tuple, and the lines that say so, the verdict first."""
    conjuncts = [list(plan.constraints(number, bit)) for number, bits in plan.conjuncts_of(query_id) for bit in bits]
    if not conjuncts:
        accepts_all = _accepts_all(plan, query_id)
        said = "accepted: every tuple is" if accepts_all else "not accepted because no tuple is: nothing meets it"
        return accepts_all, [said]
    failing = [[term for term in conjunct if not term[1].admits(term[0].key_among(keys))] for conjunct in conjuncts]
    accepting = [number for number, failed in enumerate(failing, 1) if not failed]
    several = len(conjuncts) > 1
    if accepting:
        verdict = f"accepted: conjunct {accepting[0]} of {len(conjuncts)} holds" if several else "accepted"
    else:
        verdict = f"not accepted because {_why(failing, keys)}"
    lines = [verdict]
    for number, (conjunct, failed) in enumerate(zip(conjuncts, failing, strict=True), 1):
        if several:
            lines.append(f"conjunct {number} {'fails' if failed else 'holds'}:")
        lines += [
            f"  {'fails' if term in failed else 'holds'}  {constraint_text(*term)}   ({_value_of(term[0], keys)})"
            for term in conjunct
        ]
    return bool(accepting), lines


def _why(failing: Sequence[Conjunct], keys: Keys) -> str:
    def failure(conjunct: Conjunct) -> str:
        attribute, constraint = conjunct[0]
        return f"{constraint_text(attribute, constraint)} fails ({_value_of(attribute, keys)})"

    if len(failing) == 1:
        return failure(failing[0])
    told = [f"in conjunct {number} {failure(failed)}" for number, failed in enumerate(failing[:_FAILURES_TOLD], 1)]
    more = len(failing) - len(told)
    return ", ".join(told) + (f", and {_counted(more, 'conjunct')} more do not hold" if more else "")


def _value_of(attribute: PAttribute, keys: Keys) -> str:
    return attribute.read.text_of(keys[attribute.read])


def _accepts_all(plan: Plan, query_id: str) -> bool:
    return plan.handle(query_id) in plan.match_all_handles.tolist()


def _lines(plan: Plan, query_id: str, keys: Sequence[Key | None] | None) -> Iterator[str]:
    places = plan.conjuncts_of(query_id)
    if not places:
        yield f"{query_id} accepts {'every' if _accepts_all(plan, query_id) else 'no'} tuple: it is in no construct"
        return
    for number, bits in places:
        yield from _block_lines(plan, query_id, number, bits)
        if keys is not None:
            yield from _way(plan, number, bits, keys)


def _block_lines(plan: Plan, query_id: str, number: int, bits: Sequence[int]) -> Iterator[str]:
    block = plan.blocks[number]
    order = block.sequence.tolist()
    names = [str(plan.p_attributes[block.slots[construct]]) for construct in order]
    yield (
        f"{query_id}: {_counted(len(bits), 'conjunct')} in block {number + 1} of {len(plan.blocks)}, which holds "
        f"{_counted(block.conjunct_count, 'conjunct')}"
    )
    yield f"sequence: {' -> '.join(names)}"
    constructs = {construct.attribute: construct for construct in plan.constructs(number)}
    for position, bit in enumerate(bits, 1):
        yield f"conjunct {position}:"
        for attribute, constraint in plan.constraints(number, bit):
            construct = constructs[attribute.read]
            kind = "exact" if construct.exact else "bounded"
            regions = "its patterns" if attribute.read.is_matched else f"{len(construct.ra)} {kind} regions"
            yield (
                f"  {constraint_text(attribute, constraint)}   "
                f"(construct {names.index(str(attribute.read)) + 1} of {len(names)}: {regions} "
                f"and NULL, used by {_counted(construct.qub.count(), 'conjunct')})"
            )


def _way(plan: Plan, number: int, bits: Sequence[int], keys: Sequence[Key | None]) -> Iterator[str]:
    constructs = plan.constructs(number)
    evaluation = evaluate_block(plan, number, keys)
    of = dict(zip(plan.p_attributes, keys, strict=True))
    yield f"the tuple's way: {_counted(evaluation.start.count(), 'conjunct')} to begin with"
    alive = [bit for bit in bits if evaluation.start[bit]]
    if len(alive) < len(bits):
        without = ", ".join(str(position) for position, bit in enumerate(bits, 1) if bit not in alive)
        yield f"  without conjunct {without}, by the patterns that it matches"
    for position, step in enumerate(evaluation.steps, 1):
        construct = constructs[step.construct]
        ended = [bits.index(bit) + 1 for bit in alive if not step.grb[bit]]
        alive = [bit for bit in alive if step.grb[bit]]
        told = f"; ends conjunct {', '.join(map(str, ended))}" if ended else ""
        yield (
            f"  {position}. {construct.attribute.text_of(of[construct.attribute])}, "
            f"region {_region_text(construct, step.region)}: {step.grb.count()} left{told}"
        )
    left = {bits.index(bit) + 1: list(plan.constraints(number, bit)) for bit in alive}
    yield _verdict(left, of, evaluation)


def _verdict(left: Mapping[int, Conjunct], of: Keys, evaluation: Evaluation) -> str:
    """What became of the query, given the exact constraints of its conjuncts that are left in the GRB."""
    cost = f"{_counted(evaluation.cost, 'construct')} evaluated"
    for conjunct, constraints in left.items():
        ruling_out = [attribute.sql for attribute, own in constraints if not own.admits(attribute.key_among(of))]
        if not ruling_out:
            return f"accepted by conjunct {conjunct}; {cost}"
        cost += f"; conjunct {conjunct} ended by verifying {', '.join(ruling_out)}"
    return f"not accepted; {cost}{'; the tuple is dropped by this block' if evaluation.dropped else ''}"


def _region_text(construct: Construct, region: int) -> str:
    if region == construct.null:
        return "NULL"
    low = construct.cuts[region - 1] if region else None
    high = construct.cuts[region] if region < len(construct.cuts) else None
    return constraint_text(construct.attribute, Constraint(((low, high),)))


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
