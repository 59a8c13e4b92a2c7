"""The trace of a tuple through a plan: constructs visited, conjuncts eliminated and why, queries that accept it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from asc.plan.plan import Plan

TEXT_CHARS = 300
"""Of the text of a value, a constraint or a region; longer ones are cut."""

EliminatedBy = Literal["patterns", "construct", "verification"]
"""The ways to rule out a conjunct: the patterns that the tuple matches or not, a region, or the exact constraints."""


@dataclass(frozen=True, slots=True)
class Term:
    """A constraint of a conjunct and whether the tuple meets it; ``value`` is what the tuple has, as ``delay = 75``."""

    constraint: str
    value: str
    holds: bool


@dataclass(frozen=True, slots=True)
class JudgedConjunct:
    """A conjunct of a query: whether all of its ``terms`` hold.

    If it does not hold and the block was traced, ``eliminated_by`` says what ruled it out. If that was a construct,
    ``eliminated_at`` is its number among those visited, from 1 on.
    """

    holds: bool
    terms: tuple[Term, ...]
    eliminated_by: EliminatedBy | None = None
    eliminated_at: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of evaluating one query for a tuple, by the exact constraints.

    ``reason``: in one line. ``conjuncts`` in the order of the predicate's normal form; none of a query that accepts
    every tuple or no tuple. ``block``: the number of the block that has them, from 0 on.
    """

    query: str
    accepted: bool
    reason: str
    conjuncts: tuple[JudgedConjunct, ...]
    block: int | None = None


@dataclass(frozen=True, slots=True)
class EliminatedConjunct:
    """A conjunct that was ruled out: the ``number`` of it in its query, from 1 on, and a term of it that fails."""

    query: str
    number: int
    term: str


@dataclass(frozen=True, slots=True)
class Eliminations:
    """The conjuncts ruled out at one place, and the queries that have none left after it.

    ``examples``: some of the conjuncts, those of queries that have none left first; all of them where they are few.
    """

    conjuncts: int
    queries: int
    examples: tuple[EliminatedConjunct, ...]


@dataclass(frozen=True, slots=True)
class Visit:
    """A construct that the tuple visited.

    ``region``: the place of its value among the ``regions`` in the order of their values, from 0 on; that of NULL is
    after the last, and not counted. ``before`` and ``after``: the conjuncts in the GRB. ``by_arrow``: a micro-arrow led
    here, not the macro-sequence.
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
    """The queries that have a conjunct in a GRB: how many, and the first of them by id, the one asked about before all.

    ``query_ids``: their ids; all of them where they are few.
    """

    queries: int
    query_ids: tuple[str, ...]

    @staticmethod
    def of(plan: Plan, owners: npt.NDArray[np.int32], focus: int, most: int) -> Remaining:
        """Return the queries that some conjuncts belong to, by their handles.

        ``focus``: of the one asked about, or -1.
        """
        handles = np.unique(owners)
        ranks = plan.ranks[handles]
        first = ranks[np.lexsort((ranks, handles != focus))][:most]
        return Remaining(len(handles), tuple(plan.query_ids[rank].as_py() for rank in first.tolist()))


@dataclass(frozen=True, slots=True)
class BlockTrace:
    """The way through one block, numbered from 0.

    ``sequence``: the p-attributes of its constructs in the macro-sequence. ``initial_conjuncts``: how many conjuncts
    the tuple began with, after ``patterns`` ruled out others. ``remaining``: the queries that the last construct left.
    ``verification``: what the regions left and the exact constraints ruled out. ``satisfied_conjuncts``: how many
    conjuncts hold in the end, and ``matching_queries`` how many queries have one. ``dropped``: no conjunct was left in
    the GRB.
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
    """The way of one tuple through a plan of a ``version``.

    ``accepted``: the first ids, sorted, of the ``accepted_count`` queries that accept it, ``match_all`` of which accept
    every tuple. ``evaluated``: the constructs visited, over all ``blocks``; ``dropped_blocks``: those that left nothing
    in the GRB. ``blocks_shown``: some blocks in detail. ``verdict``: of the query that was asked about.

    Invariant: what is listed is bounded as the call asked, whatever the plan; what is counted is exact.
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


def plain(told: Trace | Verdict) -> Mapping[str, Any]:
    """Return the same as dictionaries, lists and values, ready for JSON."""
    return asdict(told)


def shortened(text: str) -> str:
    """Return a text of ``TEXT_CHARS`` at most.

    >>> len(shortened("a" * 1000)), shortened("delay = 75")
    (300, 'delay = 75')
    """
    return text if len(text) <= TEXT_CHARS else f"{text[: TEXT_CHARS - 1]}…"
