"""The verdict whether one query accepts a tuple. It evaluates each term of the query's conjuncts by the exact
constraint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from asc.evaluation.trace import JudgedConjunct, Term, Verdict, shortened
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, Key
from asc.plan.plan import Plan
from asc.predicate.normal_form.describe import constraint_text

Keys = Mapping[PAttribute, "Key | None"]

_FAILURES_SHOWN = 3
"""The most conjuncts for which the reason of a verdict names a failing term."""


def judged(plan: Plan, query_id: str, keys: Keys) -> Verdict:
    """Return the verdict whether a query accepts a tuple, with the result of each term. It is computed from the tuple's
    keys, without the regions of constructs.

    ``keys``: the tuple's key of each p-attribute that the query constrains; other keys are ignored. Raise PlanError for
    an unknown id. Cost: the terms of the query, and a pass over all conjuncts of the plan to find those of the query.
    """
    places = plan.conjuncts_of(query_id)
    conjuncts = tuple(_conjunct(list(plan.constraints(number, bit)), keys) for number, bits in places for bit in bits)
    if not conjuncts:
        accepts_all = plan.handle(query_id) in plan.match_all_handles.tolist()
        said = "accepted: every record is" if accepts_all else "not accepted because no record is: nothing meets it"
        return Verdict(query_id, accepts_all, said, ())
    holding = [number for number, conjunct in enumerate(conjuncts, 1) if conjunct.holds]
    if not holding:
        reason = f"not accepted because {_why(conjuncts)}"
    else:
        several = len(conjuncts) > 1
        reason = f"accepted: conjunct {holding[0]} of {len(conjuncts)} holds" if several else "accepted"
    return Verdict(query_id, bool(holding), reason, conjuncts, places[0][0])


def failing_term(terms: Sequence[tuple[PAttribute, Constraint]], keys: Keys, read: PAttribute | None = None) -> str:
    """Return the first of some terms that a tuple does not satisfy, as SQL. ``read``: consider only the terms on this
    p-attribute; None for all terms. Return an empty text if the tuple satisfies all of these terms.
    """
    for attribute, constraint in terms:
        if (read is None or attribute.read == read) and not constraint.admits(attribute.key_among(keys)):
            return shortened(constraint_text(attribute, constraint))
    return ""


def value_text(attribute: PAttribute, keys: Keys) -> str:
    """Return the tuple's value of a p-attribute, as SQL."""
    return shortened(attribute.read.text_of(keys[attribute.read]))


def _conjunct(terms: Sequence[tuple[PAttribute, Constraint]], keys: Keys) -> JudgedConjunct:
    judged_terms = tuple(
        Term(
            shortened(constraint_text(attribute, constraint)),
            value_text(attribute, keys),
            constraint.admits(attribute.key_among(keys)),
        )
        for attribute, constraint in terms
    )
    return JudgedConjunct(all(term.holds for term in judged_terms), judged_terms)


def _why(failing: Sequence[JudgedConjunct]) -> str:
    def failure(conjunct: JudgedConjunct) -> str:
        term = next(term for term in conjunct.terms if not term.holds)
        return f"{term.constraint} fails ({term.value})"

    if len(failing) == 1:
        return failure(failing[0])
    failures = [f"in conjunct {number} {failure(failed)}" for number, failed in enumerate(failing[:_FAILURES_SHOWN], 1)]
    more = len(failing) - len(failures)
    return ", ".join(failures) + (f", and {more:,} conjunct{'' if more == 1 else 's'} more do not hold" if more else "")
