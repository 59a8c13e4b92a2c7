"""A predicate as a formula of three-valued logic over p-attributes, and its disjunctive normal form.

Every node of the formula is TRUE, FALSE or NULL for a tuple. An outcome is a set of these three as a bit mask. "The
node's value is in this outcome" is two-valued, and becomes ANDs and ORs of the same question about the node's parts.
That follows Kleene: AND is TRUE where all parts are TRUE, not FALSE where no part is FALSE, and so on. At an atom the
question is a constraint. So NOT, IS NULL, IS TRUE, <=> at any depth need no rules of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, merged
from asc.keys.domain import clipped

TRUE, FALSE, NULL = 1, 2, 4
ANY = TRUE | FALSE | NULL


@dataclass(slots=True)
class Const:
    """A node whose value is the same for every tuple: TRUE, FALSE or NULL."""

    value: int


@dataclass(slots=True)
class Atom:
    """A test of one p-attribute: the values for which it is TRUE, and those for which it is FALSE; else it is NULL.

    Invariant: the two are disjoint. ``false`` is None where it is FALSE for all other values but NULL.
    """

    attribute: PAttribute
    true: Constraint
    false: Constraint | None = None


@dataclass(slots=True)
class Every:
    """AND of its parts."""

    parts: list[Formula]


@dataclass(slots=True)
class Some:
    """OR of its parts."""

    parts: list[Formula]


@dataclass(slots=True)
class Not:
    """TRUE and FALSE exchanged."""

    part: Formula


@dataclass(slots=True)
class Within:
    """TRUE where the part's value is in the outcome, else FALSE; never NULL. ``x IS NULL`` is ``Within(x, NULL)``."""

    part: Formula
    outcome: int


Formula = Const | Atom | Every | Some | Not | Within

Conjunction = dict[PAttribute, Constraint]
"""A conjunct in the making: constraints neither full nor empty."""


class TooManyConjunctsError(Exception):
    """The normal form has more conjuncts than allowed, or takes more steps to find."""


_WORK = 4
"""Conjuncts that one step may make before it is simplified, as a multiple of those allowed: bounds time and memory."""

_ABSORBED = 256
"""Conjuncts that are compared each with each, at most."""

STEPS = 100_000
"""Intervals that may be looked at on the way to a normal form: a tenth of a second."""


def conjuncts_of(formula: Formula, limit: int, steps: Steps | None = None) -> list[Conjunction]:
    """Return the disjunctive normal form of "the formula is TRUE": ``[]`` for a contradiction, ``[{}]`` for a
    tautology.

    Raises TooManyConjunctsError where it has more than ``limit`` conjuncts, or an intermediate step far more, or where
    it takes more than ``STEPS`` steps. ``steps``: where it spends them, so that a caller may count them.
    """
    found = _Expansion(limit, steps or Steps()).of(formula, TRUE)
    if len(found) > limit:
        raise TooManyConjunctsError
    return found


class Steps:
    """The steps that are left of a bounded piece of work; one is an interval that is looked at."""

    def __init__(self, left: int = STEPS) -> None:
        self._budget = self._left = left

    @property
    def spent(self) -> int:
        """Return the number of steps that were spent."""
        return self._budget - self._left

    def spend(self, steps: int) -> None:
        """Take steps from the budget; TooManyConjunctsError where too few are left."""
        self._left -= steps
        if self._left < 0:
            raise TooManyConjunctsError


class _Expansion:
    """The normal forms of a formula and its parts.

    A part is asked for up to six outcomes by each of the parts around it, so without memory a formula nested k times
    would take 2^k steps. Invariant: each part's form for an outcome is made once; a form that was made is not changed.
    """

    def __init__(self, limit: int, steps: Steps) -> None:
        self._limit = limit
        self._steps = steps
        self._made: dict[tuple[int, int], list[Conjunction]] = {}

    def of(self, formula: Formula, outcome: int) -> list[Conjunction]:
        """Return the normal form of "the formula's value is in the outcome"."""
        if outcome == ANY:
            return [{}]
        if outcome == 0:
            return []
        place = id(formula), outcome
        found = self._made.get(place)
        if found is None:
            found = self._made[place] = self._expanded(formula, outcome)
        return found

    def _expanded(self, formula: Formula, outcome: int) -> list[Conjunction]:
        if isinstance(formula, Atom):
            self._steps.spend(1 + len(formula.true.intervals))
            return _of_atom(formula, outcome)
        if isinstance(formula, Not):
            swapped = outcome & NULL | (FALSE if outcome & TRUE else 0) | (TRUE if outcome & FALSE else 0)
            return self.of(formula.part, swapped)
        if isinstance(formula, Every):
            return self._of_parts(formula, outcome, TRUE, FALSE)
        if isinstance(formula, Some):
            return self._of_parts(formula, outcome, FALSE, TRUE)
        if isinstance(formula, Const):
            return [{}] if formula.value & outcome else []
        inside = formula.outcome if outcome & TRUE else 0
        outside = ANY & ~formula.outcome if outcome & FALSE else 0
        return self.of(formula.part, inside | outside)

    def _of_parts(self, formula: Every | Some, outcome: int, unit: int, zero: int) -> list[Conjunction]:
        """Return the normal form of an AND (unit TRUE, zero FALSE) or OR (unit FALSE, zero TRUE).

        It has the unit where all parts have the unit, and is other than the zero where no part has the zero.
        """
        not_unit, not_zero = ANY & ~unit, ANY & ~zero
        if outcome in (unit, not_zero):
            return self._all_of(self.of(part, outcome) for part in formula.parts)
        if outcome in (zero, not_unit):
            return self._any_of(self.of(part, outcome) for part in formula.parts)
        if outcome == NULL:
            return self._all_of(self.of(formula, either) for either in (not_zero, not_unit))
        return self._any_of(self.of(formula, either) for either in (unit, zero))

    def _all_of(self, forms: Iterable[list[Conjunction]]) -> list[Conjunction]:
        """Return the conjunction of normal forms: every choice of one conjunct from each.

        Forms of one conjunct come first, and their constraints on one p-attribute are intersected at once.
        """
        asked: dict[PAttribute, list[Constraint]] = {}
        choices: list[list[Conjunction]] = []
        for form in forms:
            if not form:
                return []
            if len(form) > 1:
                choices.append(form)
                continue
            for attribute, constraint in form[0].items():
                self._steps.spend(1 + len(constraint.intervals))
                asked.setdefault(attribute, []).append(constraint)
        certain: Conjunction = {}
        for attribute, constraints in asked.items():
            if len(constraints) == 1:
                certain[attribute] = constraints[0]
                continue
            certain[attribute] = clipped(intersection_of(constraints), attribute.space.domain)
            if certain[attribute].is_empty:
                return []
        result = [certain]
        for form in choices:
            if len(result) * len(form) > self._limit * _WORK:
                raise TooManyConjunctsError
            made = (self._both(left, right) for left in result for right in form)
            result = simplified([both for both in made if both is not None], self._steps)
            if not result:
                return []
        return result

    def _both(self, left: Conjunction, right: Conjunction) -> Conjunction | None:
        """Return the intersection of two conjuncts; None where they contradict each other."""
        if not left:
            return right
        self._steps.spend(len(left))
        both = dict(left)
        for attribute, constraint in right.items():
            other = both.get(attribute)
            if other is not None:
                self._steps.spend(len(other.intervals) + len(constraint.intervals))
                constraint = clipped(other.intersect(constraint), attribute.space.domain)  # noqa: PLW2901
                if constraint.is_empty:
                    return None
            both[attribute] = constraint
        return both

    def _any_of(self, forms: Iterable[list[Conjunction]]) -> list[Conjunction]:
        """Return the disjunction of normal forms; conjuncts on the same single p-attribute are merged as they come."""
        single: dict[PAttribute, list[Constraint]] = {}
        several: list[Conjunction] = []
        for form in forms:
            for conjunct in form:
                if not conjunct:
                    return [{}]
                if len(conjunct) == 1:
                    ((attribute, constraint),) = conjunct.items()
                    self._steps.spend(1 + len(constraint.intervals))
                    single.setdefault(attribute, []).append(constraint)
                else:
                    several.append(conjunct)
            if len(several) > self._limit * _WORK:
                raise TooManyConjunctsError
        result: list[Conjunction] = []
        for attribute, constraints in single.items():
            united = clipped(union_of(constraints), attribute.space.domain)
            if united.is_full:
                return [{}]
            result.append({attribute: united})
        if len(result) + len(several) > self._limit * _WORK:
            raise TooManyConjunctsError
        return simplified(result + several, self._steps)


def _of_atom(atom: Atom, outcome: int) -> list[Conjunction]:
    if outcome == TRUE:
        admitted = atom.true
    elif outcome == NULL | FALSE:
        admitted = atom.true.complement()
    else:
        false = Constraint(atom.true.complement().intervals) if atom.false is None else atom.false
        if outcome == FALSE:
            admitted = false
        elif outcome == NULL | TRUE:
            admitted = false.complement()
        else:
            admitted = atom.true.union(false)
            if outcome == NULL:
                admitted = admitted.complement()
    admitted = clipped(admitted, atom.attribute.space.domain)
    if admitted.is_empty:
        return []
    return [{}] if admitted.is_full else [{atom.attribute: admitted}]


def intersection_of(constraints: list[Constraint]) -> Constraint:
    """Return the intersection of many constraints at the cost of one sort."""
    if len(constraints) == 1:
        return constraints[0]
    if len(constraints) == 2:
        return constraints[0].intersect(constraints[1])
    return union_of([constraint.complement() for constraint in constraints]).complement()


def union_of(constraints: list[Constraint]) -> Constraint:
    """Return the union of many constraints at the cost of one sort."""
    if len(constraints) == 1:
        return constraints[0]
    intervals = merged(interval for constraint in constraints for interval in constraint.intervals)
    return Constraint(intervals, any(constraint.null for constraint in constraints))


def simplified(conjuncts: list[Conjunction], steps: Steps) -> list[Conjunction]:
    """Return an equal disjunction with fewer conjuncts; it need not be minimal.

    Conjuncts that another one includes are removed, and those that differ in one p-attribute only are merged. Cost: the
    square of their number, up to _ABSORBED, and of ``steps``.
    """
    if len(conjuncts) < 2:
        return conjuncts
    changed = True
    while changed and len(conjuncts) > 1:
        conjuncts, changed = _merged_once(_absorbed(conjuncts, steps), steps)
        if conjuncts and not conjuncts[0]:
            return [{}]
    return conjuncts


def _absorbed(conjuncts: list[Conjunction], steps: Steps) -> list[Conjunction]:
    if len(conjuncts) > _ABSORBED:
        return conjuncts
    kept: list[Conjunction] = []
    for conjunct in sorted(conjuncts, key=len):
        if not any(_includes(wide, conjunct, steps) for wide in kept):
            kept.append(conjunct)
    return kept


def _includes(wide: Conjunction, narrow: Conjunction, steps: Steps) -> bool:
    for attribute, constraint in wide.items():
        inner = narrow.get(attribute)
        steps.spend(1)
        if inner is None:
            return False
        steps.spend(len(inner.intervals) + len(constraint.intervals))
        if not constraint.includes(inner):
            return False
    return True


def _merged_once(conjuncts: list[Conjunction], steps: Steps) -> tuple[list[Conjunction], bool]:
    """Unite conjuncts that agree on all p-attributes but one."""
    holders: dict[PAttribute, list[Conjunction]] = {}
    for conjunct in conjuncts:
        for attribute in conjunct:
            holders.setdefault(attribute, []).append(conjunct)
    for attribute, own in holders.items():
        if len(own) < 2:
            continue
        groups: dict[frozenset[tuple[PAttribute, Constraint]], list[Conjunction]] = {}
        for conjunct in own:
            steps.spend(sum(1 + len(constraint.intervals) for constraint in conjunct.values()))
            rest = frozenset(item for item in conjunct.items() if item[0] is not attribute and item[0] != attribute)
            groups.setdefault(rest, []).append(conjunct)
        if all(len(group) == 1 for group in groups.values()):
            continue
        result = [conjunct for conjunct in conjuncts if attribute not in conjunct]
        for group in groups.values():
            united = clipped(union_of([conjunct[attribute] for conjunct in group]), attribute.space.domain)
            made = dict(group[0])
            made[attribute] = united
            if united.is_full:
                del made[attribute]
                if not made:
                    return [{}], False
            result.append(made)
        return result, True
    return conjuncts, False


def null_test(attribute: PAttribute) -> Atom:
    """Return the atom ``attribute IS NULL``."""
    return Atom(attribute, Constraint((), True), Constraint(((None, None),)))
