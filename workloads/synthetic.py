"""Synthetic workloads: uniform (D1) and non-uniform (D2) integer tuples with conjunctive predicates, and the workload
of the HEM papers.

Everything is reproducible from a seed. A :class:`Workload` has the same predicates as SQL and in normal form, so that a
benchmark can omit or measure the parsing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan.plan import Query
from asc.predicate.normal_form.disjunctive_form import Predicate

Integers = npt.NDArray[np.int64]
Values = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """A set of queries, each a conjunction of closed ranges over the int columns ``names``. ``greatest``: the greatest
    value of each column; the least value is 0.

    Predicate i of the workload belongs to query ``owner[i]`` and is ``low[i] <= names[attribute[i]] <= high[i]``. The
    arrays are int64 and ordered by query. No query has two predicates on the same attribute.
    """

    names: tuple[str, ...]
    greatest: tuple[int, ...]
    owner: Integers
    attribute: Integers
    low: Integers
    high: Integers

    @property
    def attributes(self) -> int:
        return len(self.names)

    @property
    def domain(self) -> int:
        """The number of values in the domain: one more than the greatest value of any attribute."""
        return max(self.greatest) + 1

    @property
    def queries(self) -> int:
        return int(self.owner[-1]) + 1 if len(self.owner) else 0

    def texts(self) -> list[str]:
        """Return the predicate of each query as SQL."""
        terms: list[list[str]] = [[] for _ in range(self.queries)]
        for owner, attribute, low, high in self._rows():
            terms[owner].append(_text(self.names[attribute], low, high, self.greatest[attribute]))
        return [" AND ".join(own) for own in terms]

    def standing_queries(self) -> list[Query]:
        """Return the queries ``q000000``, ... with their predicates in normal form."""
        columns = [PAttribute(name, pa.int32(), (name,)) for name in self.names]
        conjuncts: list[list[tuple[PAttribute, Constraint]]] = [[] for _ in range(self.queries)]
        for owner, attribute, low, high in self._rows():
            start = None if low == 0 and high > 0 else (low, 0)
            end = None if high == self.greatest[attribute] and low < high else (high, 1)
            conjuncts[owner].append((columns[attribute], Constraint(((start, end),))))
        return [
            Query(f"q{number:06d}", Predicate("", (tuple(own),)), "matches") for number, own in enumerate(conjuncts)
        ]

    def schema(self) -> pa.Schema:
        return pa.schema([(name, pa.int32()) for name in self.names])

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
    """Draw queries. A query has from ``predicates[0]`` to ``predicates[1]`` comparisons, on different attributes that
    are drawn uniformly.

    A comparison is ``=``, ``<=``, ``>=`` or ``BETWEEN``, each with the same chance. The last three admit a share of the
    domain that is drawn uniformly from (0, ``widest``]. With the default ``widest``, a comparison admits about an
    eighth of the values on average.
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
    return Workload(*synthetic_columns(attributes, domain), owner, attribute, low, low + width - 1)


def hem_workload(
    queries: int,
    *,
    attributes: int = 20,
    domain: int = 1_000_000,
    predicates: int = 10,
    width: float = 0.4,
    seed: int = 1,
) -> Workload:
    """Draw the queries of the HEM papers. A query has ``predicates`` closed intervals on different attributes, each
    ``width`` x ``domain`` wide.
    """
    rng = np.random.default_rng(seed)
    owner = np.repeat(np.arange(queries), predicates)
    attribute = np.argsort(rng.random((queries, attributes)), axis=1)[:, :predicates].reshape(-1)
    length = int(width * domain)
    low = rng.integers(0, domain - length + 1, len(owner))
    return Workload(*synthetic_columns(attributes, domain), owner, attribute, low, low + length - 1)


def alerts_workload(
    queries: int,
    *,
    attributes: int = 20,
    domain: int = 1_000_000,
    ranges: tuple[int, int] = (2, 4),
    width: float = 0.3,
    seed: int = 1,
) -> Workload:
    """Draw queries that act as alerts on rare values. A query accepts about the highest 1 % of an attribute, and has
    from ``ranges[0]`` to ``ranges[1]`` closed intervals on other attributes.

    The intervals are ``width`` x ``domain`` wide.
    """
    rng = np.random.default_rng(seed)
    counts = rng.integers(ranges[0] + 1, ranges[1] + 2, queries)
    owner = np.repeat(np.arange(queries), counts)
    attribute = np.argsort(rng.random((queries, attributes)), axis=1)[np.arange(attributes) < counts[:, None]]
    low, high = tail_and_ranges(rng, owner, domain, int(width * domain))
    return Workload(*synthetic_columns(attributes, domain), owner, attribute, low, high)


def tail_and_ranges(
    rng: np.random.Generator, owner: Integers, domain: int, length: int, *, margin: int = 0
) -> tuple[Integers, Integers]:
    """Draw ranges for the predicates of the queries ``owner``. Return the least and the greatest value that each
    predicate accepts.

    The first predicate of a query accepts about the highest 1 % of the domain. The others accept ``length`` values,
    none of them within ``margin`` of the domain's ends.
    """
    is_tail = np.diff(owner, prepend=-1) != 0
    low = rng.integers(margin, domain - margin - length + 1, len(owner))
    tail = rng.integers(int(0.985 * domain), int(0.995 * domain), len(owner))
    return np.where(is_tail, tail, low), np.where(is_tail, domain - 1, low + length - 1)


def uniform_tuples(rows: int, *, attributes: int = 20, domain: int = 100, seed: int = 2) -> pa.Table:
    """Draw tuples of uniform ints: the data set D1, and the tuples of the HEM papers."""
    rng = np.random.default_rng(seed)
    return _table([rng.integers(0, domain, rows, dtype=np.int32) for _ in range(attributes)])


def non_uniform_tuples(
    rows: int,
    *,
    attributes: int = 20,
    domain: int = 100,
    group: int = 5,
    correlation: float = 0.6,
    seed: int = 2,
    start: int = 0,
) -> pa.Table:
    """Draw tuples of skewed and correlated ints: the data set D2. The attributes are log-normal, and the attributes of
    a group are correlated.

    An attribute is ``median * exp(spread * z)``, cut off at the domain's end. Each attribute has a different median (2
    % to 30 % of the domain) and a different spread (0.4 to 1.0). Every second attribute is mirrored: its values are
    counted down from the domain's end. The ``z`` are standard normal. The ``z`` of ``group`` neighbouring attributes
    have the given ``correlation``; the correlation of the values is a little weaker. The distribution of the attributes
    depends only on the seed. ``start``: the number of rows drawn before. Another start gives other tuples of the same
    distribution.
    """
    shape = np.random.default_rng(seed)
    medians, spreads = shape.uniform(0.02, 0.3, attributes) * domain, shape.uniform(0.4, 1.0, attributes)
    rng = np.random.default_rng([seed, start])
    columns = []
    for number in range(attributes):
        if number % group == 0:
            shared = rng.standard_normal(rows)
        z = math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * rng.standard_normal(rows)
        values = np.minimum(medians[number] * np.exp(spreads[number] * z), domain - 1).astype(np.int32)
        columns.append(values if number % 2 == 0 else domain - 1 - values)
    return _table(columns)


def synthetic_columns(attributes: int, domain: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the names of the columns, ``a0``, ``a1``, ..., and the greatest value of each column."""
    return tuple(f"a{number}" for number in range(attributes)), (domain - 1,) * attributes


def _table(columns: Sequence[Values]) -> pa.Table:
    return pa.table({f"a{number}": pa.array(column) for number, column in enumerate(columns)})


def _text(column: str, low: int, high: int, greatest: int) -> str:
    if low == high:
        return f"{column} = {low}"
    if low == 0:
        return f"{column} <= {high}"
    return f"{column} >= {low}" if high == greatest else f"{column} BETWEEN {low} AND {high}"
