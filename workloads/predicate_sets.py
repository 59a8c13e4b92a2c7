"""Sets of conjunctive predicates with given parameters, and figures such as ones per region, measured on a compiled
set.

The parameters are the numbers of queries, of p-attributes and of predicates per query, the width of predicates, and
their concentration around hot values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from asc.plan.plan import Plan
from workloads.errors import WorkloadError
from workloads.synthetic import Integers, Workload


@dataclass(frozen=True, slots=True)
class PredicateShape:
    """The parameters of a predicate set.

    ``queries``: the number of queries. ``predicates``: the least and the greatest number of comparisons in a query. The
    number is drawn uniformly, and all comparisons of a query are on different attributes. ``widest``: a comparison
    admits a share of the attribute's values that is drawn uniformly from (0, ``widest``]. ``concentration``: the chance
    that a comparison is around the hot value of its attribute, instead of at a random position.

    The concentration determines the standard deviation of the number of ones per region. If all comparisons are around
    one value, the value's region has a one for nearly every query, and distant regions have hardly any. The
    concentration does not change the number of values that a comparison admits.
    """

    queries: int
    predicates: tuple[int, int]
    widest: float
    concentration: float = 0.0

    def __post_init__(self) -> None:
        least, most = self.predicates
        if self.queries < 1:
            raise WorkloadError("number of queries", self.queries, "at least 1")
        if not 1 <= least <= most:
            raise WorkloadError("predicates a query", self.predicates, "least and most, at least 1")
        if not 0 < self.widest <= 1:
            raise WorkloadError("widest share of the values", self.widest, "above 0, at most 1")
        if not 0 <= self.concentration <= 1:
            raise WorkloadError("concentration", self.concentration, "from 0 to 1")


def predicate_set(
    shape: PredicateShape, names: Sequence[str], values: Sequence[Integers], *, seed: int = 1
) -> Workload:
    """Draw a predicate set of closed ranges over the columns ``names``. ``values``: the sorted distinct values of each
    column, which must not be negative.

    Positions and widths of ranges are counted in distinct values. So a column with few values far apart is constrained
    as much as a column with many values close together. The same seed gives the same predicates. Sets that differ only
    in their ``concentration`` have the same attributes and widths.
    """
    least, most = shape.predicates
    if most > len(names):
        raise WorkloadError("predicates a query", most, f"at most {len(names)}, the number of attributes")
    rng = np.random.default_rng(seed)
    counts = rng.integers(least, most + 1, shape.queries)
    owner = np.repeat(np.arange(shape.queries), counts)
    attribute = np.concatenate([rng.permutation(len(names))[:count] for count in counts.tolist()])
    sizes = np.array([len(own) for own in values])
    hot = np.floor(rng.random(len(names)) * sizes).astype(np.int64)[attribute]
    size = sizes[attribute]
    width = 1 + np.floor(rng.random(len(owner)) * np.maximum(1, np.floor(shape.widest * size))).astype(np.int64)
    anywhere = np.floor(rng.random(len(owner)) * (size - width + 1)).astype(np.int64)
    around = np.clip(hot - width // 2, 0, size - width)
    first = np.where(rng.random(len(owner)) < shape.concentration, around, anywhere)
    pairs = list(zip(attribute.tolist(), first.tolist(), (first + width - 1).tolist(), strict=True))
    return Workload(
        tuple(names),
        tuple(int(own[-1]) for own in values),
        owner,
        attribute,
        np.array([values[column][low] for column, low, _ in pairs], dtype=np.int64),
        np.array([values[column][high] for column, _, high in pairs], dtype=np.int64),
    )


def evenly(attributes: int, domain: int) -> list[Integers]:
    """Return the values 0 .. ``domain`` - 1 for each attribute. The predicates over the data sets D1 and D2 are drawn
    from these values.
    """
    return [np.arange(domain, dtype=np.int64)] * attributes


@dataclass(frozen=True, slots=True)
class Realised:
    """Figures that are measured on a compiled predicate set.

    ``ones``: the mean number of ones in the query-result bitmaps of the regions of a construct (Table 1 of the paper).
    ``deviation``: the standard deviation of this number. Both are averaged over the constructs. Every region that
    contains a value has the same weight; the region of NULL is not counted.
    """

    queries: int
    conjuncts: int
    p_attributes: int
    predicates_a_query: float
    regions: int
    ones: float
    deviation: float


def realised(plan: Plan) -> Realised:
    """Measure the realised figures of a predicate set from its plan. The plan must have one block with exact regions.

    Raises WorkloadError for any other plan.
    """
    if len(plan.blocks) != 1 or not all(grid.exact for grid in plan.grids):
        raise WorkloadError("plan", f"{len(plan.blocks)} blocks", "one block of exact regions is measured")
    block = plan.blocks[0]
    means, deviations, regions = [], [], 0
    for construct, (slot, base) in enumerate(zip(block.slots.tolist(), block.bases.tolist(), strict=True)):
        rows = block.matrix[base + 1 : base + 1 + block.region_count(construct)]
        # A region between two neighbouring integers contains no value: its ends are equal.
        inhabited = np.append(True, np.diff(plan.grids[slot].boundaries) > 0)
        ones = np.bitwise_count(rows & block.live).sum(axis=1)[np.append(inhabited, True)]
        means.append(float(ones.mean()))
        deviations.append(float(ones.std()))
        regions += len(ones)
    predicates = int(np.bitwise_count(block.qubs).sum())
    return Realised(
        queries=len(plan),
        conjuncts=block.conjunct_count,
        p_attributes=len(block.slots),
        predicates_a_query=predicates / max(1, block.conjunct_count),
        regions=regions,
        ones=float(np.mean(means)),
        deviation=float(np.mean(deviations)),
    )
