"""A predicate as a formula of three-valued logic over p-attributes, and its disjunctive normal form.

Every node of the formula is TRUE, FALSE or NULL for a tuple. An outcome is a set of these three values, stored as a bit
mask. The statement "the node's value is in this outcome" is two-valued. For AND, OR and NOT it is expanded to ANDs and
ORs of the same statement about the node's parts.

The expansion follows Kleene's logic: AND is TRUE if all parts are TRUE, not FALSE if no part is FALSE, and so on. For
an atom the statement is a constraint. So NOT, IS NULL, IS TRUE and <=> need no separate rules at any depth.
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
    """A node of a formula that has the same value for every tuple: TRUE, FALSE or NULL."""

    value: int


@dataclass(slots=True)
class Atom:
    """A test of one p-attribute.

    ``true`` admits the values for which the test is TRUE, ``false`` the values for which it is FALSE. For all other
    values the test is NULL. If ``false`` is None, the test is FALSE for every non-NULL value that ``true`` does not
    admit. Invariant: ``true`` and ``false`` are disjoint.
    """

    attribute: PAttribute
    true: Constraint
    false: Constraint | None = None


@dataclass(slots=True)
class Every:
    """A node of a formula: the conjunction (AND) of its parts."""

    parts: list[Formula]


@dataclass(slots=True)
class Some:
    """A node of a formula: the disjunction (OR) of its parts."""

    parts: list[Formula]


@dataclass(slots=True)
class Not:
    """A node of a formula: the negation of its part. TRUE and FALSE are exchanged, NULL stays NULL."""

    part: Formula


@dataclass(slots=True)
class Within:
    """A test that is TRUE if the part's value is in the set ``outcome``, else FALSE. It is never NULL. ``outcome``: the
    sum of some of TRUE, FALSE and NULL.

    ``x IS NULL`` is ``Within(x, NULL)``.
    """

    part: Formula
    outcome: int


Formula = Const | Atom | Every | Some | Not | Within

Conjunction = dict[PAttribute, Constraint]
"""A conjunct that is being computed: constraints by p-attribute. No constraint is full (admits all values) or empty."""


class TooManyConjunctsError(Exception):
    """An error: the normal form has more conjuncts than allowed, or its computation takes too many steps."""


_WORK = 4
"""The maximum number of conjuncts that one AND or OR of normal forms may produce before they are simplified, as a
multiple of the caller's limit.

The maximum bounds time and memory.
"""

_ABSORBED = 256
"""The maximum number of conjuncts in a disjunction from which redundant conjuncts are removed: those that another
conjunct includes. The removal compares every pair.
"""

STEPS = 100_000
"""The maximum number of intervals that the computation of a normal form may visit: the work of a tenth of a second."""


def conjuncts_of(formula: Formula, limit: int, steps: Steps | None = None) -> list[Conjunction]:
    """Return the disjunctive normal form of the statement "the formula is TRUE".

    The form is ``[]`` for a contradiction and ``[{}]`` for a tautology. Raise TooManyConjunctsError if the form
    has more than ``limit`` conjuncts, or an intermediate result more than ``_WORK`` times as many. Also raise it if the
    computation takes more steps than the budget ``steps`` has. The caller can read the number of steps taken from
    ``steps``. Without ``steps``, the budget is ``STEPS``.
    """
    found = _Expansion(limit, steps or Steps()).of(formula, TRUE)
    if len(found) > limit:
        raise TooManyConjunctsError
    return found


class Steps:
    """The remaining budget of the computation of a normal form, in steps. One step is one visit of an interval of a
    constraint.
    """

    def __init__(self, left: int = STEPS) -> None:
        self._budget = self._left = left

    @property
    def spent(self) -> int:
        """Return the number of steps taken so far."""
        return self._budget - self._left

    def spend(self, steps: int) -> None:
        """Take steps from the budget. Raise TooManyConjunctsError if too few steps remain."""
        self._left -= steps
        if self._left < 0:
            raise TooManyConjunctsError


class _Expansion:
    """A cache of the normal forms of a formula and of its parts.

    Each enclosing node requests the form of a part for up to six outcomes. Without the cache, a formula of nesting
    depth k would take 2^k steps. Invariant: the form of a part for an outcome is computed once and never changed
    afterwards.
    """

    def __init__(self, limit: int, steps: Steps) -> None:
        self._limit = limit
        self._steps = steps
        self._made: dict[tuple[int, int], list[Conjunction]] = {}

    def of(self, formula: Formula, outcome: int) -> list[Conjunction]:
        """Return the normal form of the statement "the formula's value is in the set ``outcome``"."""
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

        The AND or OR equals the unit if all parts equal the unit. It differs from the zero if every part differs from
        the zero.
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
        """Return the conjunction of normal forms: one conjunct for each combination of one conjunct from every form.

        Forms with a single conjunct are combined first: all their constraints on one p-attribute are intersected in one
        sort.
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
        """Return the intersection of two conjuncts. Return None if they contradict each other."""
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
        """Return the disjunction of normal forms.

        Conjuncts that constrain only the same p-attribute are merged at once.
        """
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
    """Return the intersection of many constraints, computed with a single sort."""
    if len(constraints) == 1:
        return constraints[0]
    if len(constraints) == 2:
        return constraints[0].intersect(constraints[1])
    return union_of([constraint.complement() for constraint in constraints]).complement()


def union_of(constraints: list[Constraint]) -> Constraint:
    """Return the union of many constraints, computed with a single sort."""
    if len(constraints) == 1:
        return constraints[0]
    intervals = merged(interval for constraint in constraints for interval in constraint.intervals)
    return Constraint(intervals, any(constraint.null for constraint in constraints))


def simplified(conjuncts: list[Conjunction], steps: Steps) -> list[Conjunction]:
    """Return an equivalent disjunction, with fewer conjuncts if possible. Their number need not be minimal.

    A conjunct that another conjunct includes is removed. Conjuncts that differ in a single p-attribute are merged.
    Cost: quadratic in the number of conjuncts, up to _ABSORBED conjuncts. Each interval visited is taken from
    ``steps``.
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
    """Merge conjuncts that agree on all p-attributes but one. Return the resulting conjuncts, and whether any were
    merged.
    """
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
