"""The trace of a tuple through a plan: the constructs visited, the conjuncts eliminated and the causes, and the queries
that accept the tuple.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from asc.plan.plan import Plan

TEXT_CHARS = 300
"""The most characters of the text of a value, a constraint or a region; longer texts are cut."""

EliminatedBy = Literal["patterns", "construct", "verification"]
"""The causes of the elimination of a conjunct. ``patterns``: the patterns that the tuple matches or does not match.
``construct``: a region of a construct. ``verification``: the exact constraints.
"""


@dataclass(frozen=True, slots=True)
class Term:
    """A constraint of a conjunct as SQL, and the tuple's value, such as ``delay = 75``. ``holds``: whether the tuple
    satisfies the constraint.
    """

    constraint: str
    value: str
    holds: bool


@dataclass(frozen=True, slots=True)
class JudgedConjunct:
    """A conjunct of a query, and whether all of its ``terms`` hold.

    If the conjunct does not hold and the block was traced, ``eliminated_by`` is the cause. If the cause is a construct,
    ``eliminated_at`` is its number among the constructs visited, from 1 on.
    """

    holds: bool
    terms: tuple[Term, ...]
    eliminated_by: EliminatedBy | None = None
    eliminated_at: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of evaluating one query for one tuple, by the exact constraints of the query.

    ``reason``: the reason in one line. ``conjuncts``: in the order of the predicate's normal form; empty if the query
    accepts every tuple or no tuple. ``block``: the number, from 0 on, of the block that has the conjuncts.
    """

    query: str
    accepted: bool
    reason: str
    conjuncts: tuple[JudgedConjunct, ...]
    block: int | None = None


@dataclass(frozen=True, slots=True)
class EliminatedConjunct:
    """An eliminated conjunct: its ``number`` in its query, from 1 on, and one of its terms that fails."""

    query: str
    number: int
    term: str


@dataclass(frozen=True, slots=True)
class Eliminations:
    """The conjuncts eliminated at one step, and the queries that have no conjunct left afterwards.

    ``conjuncts``, ``queries``: the numbers of both. ``examples``: some of the eliminated conjuncts, first those of
    queries that have no conjunct left; all of them if they are few enough.
    """

    conjuncts: int
    queries: int
    examples: tuple[EliminatedConjunct, ...]


@dataclass(frozen=True, slots=True)
class Visit:
    """A construct that the tuple visited.

    ``region``: the index of the value's region among the ``regions``, in the order of values, from 0 on. The NULL
    region comes after the last region, and ``regions`` does not count it. ``before`` and ``after``: the number of
    conjuncts in the GRB before and after the visit. ``by_arrow``: whether a micro-arrow led to the construct, instead
    of the macro-sequence.
    """

    attribute: str
    value: str
    region: int
    region_text: str
    regions: int
    is_null: bool
    exact: bool
    by_arrow: bool
    before: int
    after: int
    eliminated: Eliminations


@dataclass(frozen=True, slots=True)
class Remaining:
    """The queries that still have a conjunct in the GRB of a tuple. ``queries``: the number of these queries.

    ``query_ids``: the first of their ids, sorted, but with the requested query before the others; all ids if their
    number is small.
    """

    queries: int
    query_ids: tuple[str, ...]

    @staticmethod
    def of(plan: Plan, owners: npt.NDArray[np.int32], focus: int, most: int) -> Remaining:
        """Return the remaining queries. ``owners``: for each conjunct in the GRB, the handle of its query.

        ``focus``: the handle of the requested query, or -1. ``most``: the most ids of the result.
        """
        handles = np.unique(owners)
        ranks = plan.ranks[handles]
        first = ranks[np.lexsort((ranks, handles != focus))][:most]
        return Remaining(len(handles), tuple(plan.query_ids[rank].as_py() for rank in first.tolist()))


@dataclass(frozen=True, slots=True)
class BlockTrace:
    """The path of a tuple through one block. ``number``: the number of the block, from 0 on. ``conjuncts``: the number
    of its conjuncts.

    ``sequence``: the p-attributes of its constructs, in macro-sequence. ``initial_conjuncts``: the number of conjuncts
    in the initial bitmap of the tuple. ``patterns``: the conjuncts that this bitmap excludes because of patterns.
    ``visits``: the constructs visited. ``remaining``: the queries that still have a conjunct after the last construct
    visited. ``verification``: the conjuncts that no region excluded, but that the exact constraints eliminated.
    ``satisfied_conjuncts``: the number of conjuncts that hold, and ``matching_queries`` the number of their queries.
    ``dropped``: whether no conjunct was left in the GRB.
    """

    number: int
    conjuncts: int
    sequence: tuple[str, ...]
    initial_conjuncts: int
    patterns: Eliminations
    visits: tuple[Visit, ...]
    remaining: Remaining
    verification: Eliminations
    satisfied_conjuncts: int
    matching_queries: int
    dropped: bool


@dataclass(frozen=True, slots=True)
class Trace:
    """The path of one tuple through a plan. ``version``, ``queries``, ``conjuncts``: the version of the plan, and the
    numbers of its queries and conjuncts.

    ``accepted``: the first ids, sorted, of the ``accepted_count`` queries that accept the tuple. ``match_all``: the
    number of these queries that accept every tuple. ``evaluated``: the number of constructs visited in all ``blocks``
    blocks. ``dropped_blocks``: the number of blocks in which the GRB became all zeros. ``blocks_shown``: some blocks in
    detail. ``verdict``: the verdict on the requested query, or None.

    Invariant: the lengths of lists are bounded as the caller requested, whatever the plan. All counts are exact.
    """

    version: int
    queries: int
    conjuncts: int
    accepted_count: int
    accepted: tuple[str, ...]
    match_all: int
    evaluated: int
    blocks: int
    dropped_blocks: int
    blocks_shown: tuple[BlockTrace, ...]
    verdict: Verdict | None


def plain(result: Trace | Verdict) -> Mapping[str, Any]:
    """Return a trace or a verdict as dictionaries, lists and values, ready for JSON."""
    return asdict(result)


def shortened(text: str) -> str:
    """Return a text, cut to at most ``TEXT_CHARS`` characters.

    >>> len(shortened("a" * 1000)), shortened("delay = 75")
    (300, 'delay = 75')
    """
    return text if len(text) <= TEXT_CHARS else f"{text[: TEXT_CHARS - 1]}…"
