"""Synthetic workloads: uniform and non-uniform integer tuples with conjunctive predicates, and the shape of the HEM
papers.

Everything is reproducible from a seed. A :class:`Workload` says the same predicates as SQL and in normal form, so that
a benchmark can leave parsing out or measure it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.attribute import PAttribute
from asc.plan import Query
from asc.predicate.constraint import Constraint
from asc.predicate.normal_form import Predicate

Integers = npt.NDArray[np.int64]
Values = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Conjunctions of closed ranges over int columns ``a0``, ``a1``, ... with values in 0 .. ``domain`` - 1.

    Predicate i of the workload belongs to query ``owner[i]`` and is ``low[i] <= a{attribute[i]} <= high[i]``; all four
    arrays int64, queries in order, no attribute twice in a query.
    """

    attributes: int
    domain: int
    owner: Integers
    attribute: Integers
    low: Integers
    high: Integers

    @property
    def queries(self) -> int:
        return int(self.owner[-1]) + 1 if len(self.owner) else 0

    def texts(self) -> list[str]:
        """The ``where`` of each query."""
        terms: list[list[str]] = [[] for _ in range(self.queries)]
        for owner, attribute, low, high in self._rows():
            terms[owner].append(_text(f"a{attribute}", low, high, self.domain))
        return [" AND ".join(own) for own in terms]

    def standing_queries(self) -> list[Query]:
        """The queries ``q000000``, ... with their predicates in normal form."""
        columns = [PAttribute(f"a{number}", pa.int32(), (f"a{number}",)) for number in range(self.attributes)]
        conjuncts: list[list[tuple[PAttribute, Constraint]]] = [[] for _ in range(self.queries)]
        for owner, attribute, low, high in self._rows():
            start = None if low == 0 and high > 0 else (low, 0)
            end = None if high == self.domain - 1 and low < high else (high, 1)
            conjuncts[owner].append((columns[attribute], Constraint(((start, end),))))
        return [
            Query(f"q{number:06d}", Predicate("", (tuple(own),)), "matches") for number, own in enumerate(conjuncts)
        ]

    def schema(self) -> pa.Schema:
        return pa.schema([(f"a{number}", pa.int32()) for number in range(self.attributes)])

    def _rows(self) -> Sequence[tuple[int, int, int, int]]:
        arrays = (self.owner, self.attribute, self.low, self.high)
        return list(zip(*(array.tolist() for array in arrays), strict=True))


def d1_workload(
    queries: int,
    *,
    attributes: int = 20,
    domain: int = 100,
    predicates: tuple[int, int] = (3, 6),
    widest: float = 0.3,
    seed: int = 1,
) -> Workload:
    """Queries of ``predicates`` (least, most) comparisons each, of different attributes drawn uniformly.

    A comparison is, with the same chance, ``=``, ``<=``, ``>=`` or ``BETWEEN``; the last three admit a share of the
    domain drawn uniformly from (0, ``widest``]. So a comparison admits about an eighth of the values.
    """
    rng = np.random.default_rng(seed)
    counts = rng.integers(predicates[0], predicates[1] + 1, queries)
    owner = np.repeat(np.arange(queries), counts)
    attribute = np.concatenate(
        [rng.permutation(attributes)[:count] for count in counts.tolist()] or [np.empty(0, np.int64)]
    )
    form = rng.integers(0, 4, len(owner))
    width = np.where(form == 0, 1, rng.integers(1, max(2, int(widest * domain) + 1), len(owner)))
    low = rng.integers(0, domain - width + 1)
    low = np.where(form == 1, 0, np.where(form == 2, domain - width, low))
    return Workload(attributes, domain, owner, attribute, low, low + width - 1)


def hem_workload(
    queries: int,
    *,
    attributes: int = 20,
    domain: int = 1_000_000,
    predicates: int = 10,
    width: float = 0.4,
    seed: int = 1,
) -> Workload:
    """Queries of ``predicates`` closed intervals each, ``width`` x ``domain`` wide, on different attributes."""
    rng = np.random.default_rng(seed)
    owner = np.repeat(np.arange(queries), predicates)
    attribute = np.argsort(rng.random((queries, attributes)), axis=1)[:, :predicates].reshape(-1)
    length = int(width * domain)
    low = rng.integers(0, domain - length + 1, len(owner))
    return Workload(attributes, domain, owner, attribute, low, low + length - 1)


def uniform_tuples(rows: int, *, attributes: int = 20, domain: int = 100, seed: int = 2) -> pa.Table:
    """Tuples of ints drawn uniformly (D1, and what the HEM papers match)."""
    rng = np.random.default_rng(seed)
    return _table([rng.integers(0, domain, rows, dtype=np.int32) for _ in range(attributes)])


def non_uniform_tuples(rows: int, *, attributes: int = 20, domain: int = 100, seed: int = 2) -> pa.Table:
    """Tuples of ints around a mean of each attribute's own, with a spread of its own (D2)."""
    rng = np.random.default_rng(seed)
    columns = []
    for _ in range(attributes):
        mean, spread = rng.uniform(0, domain), rng.uniform(0.05, 0.25) * domain
        columns.append(np.clip(rng.normal(mean, spread, rows), 0, domain - 1).astype(np.int32))
    return _table(columns)


def _table(columns: Sequence[Values]) -> pa.Table:
    return pa.table({f"a{number}": pa.array(column) for number, column in enumerate(columns)})


def _text(column: str, low: int, high: int, domain: int) -> str:
    if low == high:
        return f"{column} = {low}"
    if low == 0:
        return f"{column} <= {high}"
    return f"{column} >= {low}" if high == domain - 1 else f"{column} BETWEEN {low} AND {high}"
