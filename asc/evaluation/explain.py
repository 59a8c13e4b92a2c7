"""Explanations in words why a query accepts a tuple or not: the query's constructs, their sequence, and the tuple's
path through them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import starmap

import pyarrow as pa

from asc.evaluation.trace import BlockTrace, JudgedConjunct, Verdict, shortened
from asc.evaluation.trace_walk import traced
from asc.evaluation.verdict import judged
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan.plan import Plan
from asc.predicate.normal_form.describe import constraint_text


@dataclass(frozen=True, slots=True)
class PlacedTerm:
    """A constraint of a query's conjunct as SQL, and the p-attribute of the construct that evaluates the
    constraint.
    """

    constraint: str
    attribute: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation of a query, as a text of several lines. ``accepted``: whether the query accepts the tuple; None if
    the explanation is not about a tuple.

    If the explanation describes the constructs of the query, ``conjuncts`` has the constraints of each conjunct.
    ``block``: the number, from 0 on, of the block with the query's constructs. It is None if the query has no
    construct, or is in a listed block.
    """

    text: str
    accepted: bool | None = None
    block: int | None = None
    conjuncts: tuple[tuple[PlacedTerm, ...], ...] = ()


def explain(
    plan: Plan, query_id: str, values: Sequence[pa.Scalar] | None = None, *, whole: bool = False
) -> Explanation:
    """Return an explanation of a query, or of its verdict on a tuple.

    Without ``values``, the text has the constructs that the query uses, and their positions in the sequence of the
    block.

    ``values``: a tuple, as one Arrow scalar for each p-attribute, in the order of ``plan.p_attributes``. With values,
    the text has the verdict, and then the query's terms with the result of each. With ``whole``, it also has the
    constructs and the tuple's path through those of the block.

    Raise PlanError for an unknown id.
    """
    if values is None:
        return _placed(plan, query_id, Explanation("\n".join(_lines(plan, query_id))))
    if not whole:
        verdict = _judged(plan, query_id, values)
        return Explanation("\n".join(verdict_lines(verdict)), verdict.accepted)
    trace = traced(plan, values, query_id=query_id, blocks=1, listed=0)
    verdict = trace.verdict or _judged(plan, query_id, values)
    walk = [] if verdict.block is None else _walk_lines(verdict, trace.blocks_shown[0])
    text = "\n".join([*verdict_lines(verdict), *_lines(plan, query_id), *walk])
    return _placed(plan, query_id, Explanation(text, verdict.accepted))


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """Yield lines of text: the reason of the verdict, then for each term of each conjunct whether it holds for the
    tuple.
    """
    yield verdict.reason
    several = len(verdict.conjuncts) > 1
    for number, conjunct in enumerate(verdict.conjuncts, 1):
        if several:
            yield f"conjunct {number} {'holds' if conjunct.holds else 'fails'}:"
        for term in conjunct.terms:
            yield f"  {'holds' if term.holds else 'fails'}  {term.constraint}   ({term.value})"


def _placed(plan: Plan, query_id: str, found: Explanation) -> Explanation:
    # The conjuncts of a query are in one block.
    for number, bits in plan.conjuncts_of(query_id):
        conjuncts = (tuple(starmap(_placed_term, plan.constraints(number, bit))) for bit in bits)
        return replace(found, block=number if number < len(plan.blocks) else None, conjuncts=tuple(conjuncts))
    return found


def _placed_term(attribute: PAttribute, constraint: Constraint) -> PlacedTerm:
    return PlacedTerm(shortened(constraint_text(attribute, constraint)), str(attribute.read))


def _judged(plan: Plan, query_id: str, values: Sequence[pa.Scalar]) -> Verdict:
    keys = {one: one.key_of(value) for one, value in zip(plan.p_attributes, values, strict=True)}
    return judged(plan, query_id, keys)


def _lines(plan: Plan, query_id: str) -> Iterator[str]:
    places = plan.conjuncts_of(query_id)
    if not places:
        accepts_all = plan.handle(query_id) in plan.match_all_handles.tolist()
        yield f"{query_id} accepts {'every' if accepts_all else 'no'} record: it is in no construct"
        return
    for number, bits in places:
        yield from _block_lines(plan, query_id, number, bits)


def _block_lines(plan: Plan, query_id: str, number: int, bits: Sequence[int]) -> Iterator[str]:
    if number >= len(plan.blocks):
        yield from _listed_lines(plan, query_id, number, bits)
        return
    block = plan.blocks[number]
    order = block.sequence.tolist()
    names = [str(plan.p_attributes[block.slots[construct]]) for construct in order]
    yield (
        f"{query_id}: {_counted(len(bits), 'conjunct')} in block {number} (of {_blocks(plan)}, from 0 on), which "
        f"holds {_counted(block.conjunct_count, 'conjunct')}"
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


def _listed_lines(plan: Plan, query_id: str, number: int, places: Sequence[int]) -> Iterator[str]:
    block = plan.listed[number - len(plan.blocks)]
    by = f"shapes that {block.listed} may meet" if block.by_shapes else f"values of {block.listed} that they ask for"
    yield (
        f"{query_id}: {_counted(len(places), 'conjunct')} in block {number} (of {_blocks(plan)}, from 0 on), which "
        f"lists {_counted(len(block), 'conjunct')} by the {by}"
    )
    for position, place in enumerate(places, 1):
        yield f"conjunct {position}:"
        listed = True
        for attribute, constraint in block.constraints(place):
            role = "listed under it" if listed else "held against the tuples that it is listed for"
            yield f"  {constraint_text(attribute, constraint)}   ({role})"
            listed = False


def _blocks(plan: Plan) -> int:
    return len(plan.blocks) + len(plan.listed)


def _walk_lines(verdict: Verdict, block: BlockTrace) -> Iterator[str]:
    conjuncts = dict(enumerate(verdict.conjuncts, 1))
    yield f"the tuple's way: {_counted(block.initial_conjuncts, 'conjunct')} to begin with"
    without = _listed(number for number, one in conjuncts.items() if one.eliminated_by == "patterns")
    if without:
        yield f"  without conjunct {without}, by the patterns that it matches"
    for position, visit in enumerate(block.visits, 1):
        ended = _listed(number for number, one in conjuncts.items() if one.eliminated_at == position)
        suffix = f"; ends conjunct {ended}" if ended else ""
        yield f"  {position}. {visit.value}, region {visit.region_text}: {visit.after} left{suffix}"
    cost = f"{_counted(len(block.visits), 'construct')} evaluated"
    for number, conjunct in conjuncts.items():
        if conjunct.holds:
            yield f"accepted by conjunct {number}; {cost}"
            return
        if conjunct.eliminated_by == "verification":
            cost += f"; conjunct {number} ended by verifying {_failing(conjunct)}"
    yield f"not accepted; {cost}{'; the tuple is dropped by this block' if block.dropped else ''}"


def _failing(conjunct: JudgedConjunct) -> str:
    return ", ".join(term.constraint for term in conjunct.terms if not term.holds)


def _listed(numbers: Iterator[int]) -> str:
    return ", ".join(map(str, numbers))


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
