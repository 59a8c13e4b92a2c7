"""Standing queries whose constants are drawn from recorded tuples, so that queries look for values that occur.

Every column has codes. A code is the rank of a value among the column's distinct values, or -1 for NULL. A
:class:`DrawnWorkload` has the same predicates as SQL, in normal form, and as ranges of codes. Everything is
reproducible from a seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, Interval, Key
from asc.keys.domain import clipped
from asc.plan.plan import Query
from asc.predicate.normal_form.disjunctive_form import Predicate
from workloads.errors import WorkloadError
from workloads.mixed import different_places
from workloads.random_tuples import sql_literal
from workloads.synthetic import Integers, Values

NULL_CODE = -1

PREDICATES = (2, 5)
FEW_VALUES = 64
"""A number column with fewer distinct values than this is constrained like a string column: by equalities and lists,
not by ranges.
"""

_Ranges = tuple[tuple[int, int], ...]

_LIST_SHARE = 0.4
_LISTED = (2, 6)
_ONE_SIDED_SHARE = 0.3
_WIDEST = 0.1
"""The largest share of the tuples that a range contains on either side of the value around which the range is drawn."""

_MOST_BITS = 6.0
_SAMPLE = 100_000
_TOGETHER = 65_536
"""The number of queries whose columns are drawn at once. For a million queries at once, the chances of forty columns
would take gigabytes.
"""


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A column of recorded tuples.

    ``values``: its distinct values without NULL, ascending as Spark orders them. ``codes`` int32[tuples]: the index of
    each tuple's value in ``values``.
    """

    name: str
    values: pa.Array
    codes: Values

    @staticmethod
    def of(name: str, column: pa.ChunkedArray) -> CodedColumn:
        encoded = column.combine_chunks().dictionary_encode()
        order = pc.sort_indices(encoded.dictionary).to_numpy()
        ranks = np.empty(len(order) + 1, dtype=np.int32)
        ranks[order] = np.arange(len(order), dtype=np.int32)
        ranks[-1] = NULL_CODE
        codes = ranks[encoded.indices.fill_null(len(order)).to_numpy()]
        return CodedColumn(name, encoded.dictionary.take(pa.array(order)), codes)

    @property
    def is_listed(self) -> bool:
        """True if predicates constrain the column by equalities and lists, not by ranges."""
        return pa.types.is_string(self.values.type) or len(self.values) < FEW_VALUES

    def counts(self) -> Integers:
        """Return the number of tuples with NULL, followed by the number of tuples with each code."""
        return np.bincount(self.codes - NULL_CODE, minlength=len(self.values) - NULL_CODE)


@dataclass(frozen=True, slots=True, eq=False)
class DrawnWorkload:
    """A set of queries, each a conjunction of predicates over ``columns``.

    Predicate i belongs to query ``owner[i]``. It holds if the code of the column ``attribute[i]`` is in one of the
    closed ranges ``low[j]`` .. ``high[j]`` for j from ``first[i]`` to before ``first[i + 1]``. The ranges of a
    predicate are disjoint and ascending. The predicate ``IS NULL`` has a single range, which contains only -1. All
    arrays are int64 and ordered by query. No query has two predicates on the same attribute.
    """

    columns: tuple[CodedColumn, ...]
    owner: Integers
    attribute: Integers
    first: Integers
    low: Integers
    high: Integers

    @property
    def queries(self) -> int:
        return int(self.owner[-1]) + 1

    def texts(self) -> list[str]:
        """Return the predicate of each query as SQL."""
        literals = [_literals(column) for column in self.columns]
        terms: list[list[str]] = [[] for _ in range(self.queries)]
        for owner, attribute, ranges in self._predicates():
            terms[owner].append(_text(self.columns[attribute].name, literals[attribute], ranges))
        return [" AND ".join(own) for own in terms]

    def standing_queries(self) -> list[Query]:
        """Return the queries ``q0000000``, ... with their predicates in normal form."""
        attributes = [PAttribute(each.name, each.values.type, (each.name,)) for each in self.columns]
        keys = [
            [own.space.key_of(value) for value in each.values]
            for own, each in zip(attributes, self.columns, strict=True)
        ]
        known: dict[tuple[int, _Ranges], Constraint] = {}
        conjuncts: list[list[tuple[PAttribute, Constraint]]] = [[] for _ in range(self.queries)]
        for owner, attribute, ranges in self._predicates():
            constraint = known.get((attribute, ranges))
            if constraint is None:
                own = _constraint(keys[attribute], ranges)
                constraint = known[attribute, ranges] = clipped(own, attributes[attribute].space.domain)
            conjuncts[owner].append((attributes[attribute], constraint))
        return [Query(f"q{number:07d}", Predicate("", (tuple(own),))) for number, own in enumerate(conjuncts)]

    def schema(self) -> pa.Schema:
        return pa.schema([(each.name, each.values.type) for each in self.columns])

    def tuples(self, rows: int, seed: int = 2) -> tuple[pa.Table, Values]:
        """Draw ``rows`` of the recorded tuples. Return the tuples, and their codes int32[columns, rows]."""
        recorded = len(self.columns[0].codes)
        drawn = np.random.default_rng(seed).choice(recorded, rows, replace=rows > recorded)
        codes = np.stack([each.codes[drawn] for each in self.columns])
        arrays = [
            each.values.take(pa.array(own, mask=own == NULL_CODE))
            for each, own in zip(self.columns, codes, strict=True)
        ]
        return pa.table(arrays, schema=self.schema()), codes

    def _predicates(self) -> Iterator[tuple[int, int, _Ranges]]:
        ranges = list(zip(self.low.tolist(), self.high.tolist(), strict=True))
        first = self.first.tolist()
        for i, (owner, attribute) in enumerate(zip(self.owner.tolist(), self.attribute.tolist(), strict=True)):
            yield owner, attribute, tuple(ranges[first[i] : first[i + 1]])


def coded(tuples: pa.Table) -> tuple[CodedColumn, ...]:
    """Return the columns of the recorded tuples, without those columns that have the same value in every tuple."""
    columns = (CodedColumn.of(name, tuples[name]) for name in tuples.schema.names)
    return tuple(column for column in columns if np.ptp(column.codes))


def drawn_workload(columns: Sequence[CodedColumn], queries: int, *, seed: int = 1) -> DrawnWorkload:
    """Draw queries of 2 to 5 predicates. The constants of a query are drawn around the values of one recorded tuple.

    A query looks for the unusual values of its tuple: the chance of a column grows with the information content (bits)
    of its value. A string, or a number with few distinct values, is constrained to equal the tuple's value. Two times
    in five this value is in a list with the values of up to five other tuples.

    Other numbers are constrained by a range around the tuple's value, which contains up to a tenth of the tuples on
    either side of the value. Three in ten ranges are one-sided: they begin or end at the value, and extend in the
    direction with fewer tuples. Each constant is a value that some tuple has. If the tuple has NULL, the predicate is
    ``IS NULL``.

    Raises WorkloadError for fewer than two columns.
    """
    if len(columns) < PREDICATES[0]:
        raise WorkloadError("columns of the tuples", len(columns), f"at least {PREDICATES[0]} that differ")
    rng = np.random.default_rng(seed)
    least, most = PREDICATES
    counts = rng.integers(least, min(most, len(columns)) + 1, queries)
    owner = np.repeat(np.arange(queries), counts)
    rows = _distinct_rows(rng, columns)
    of_query = rows[rng.integers(0, len(rows), queries)]
    attribute = _asked(rng, columns, counts, of_query)
    of: list[Integers] = []
    low: list[Integers] = []
    high: list[Integers] = []
    for place, column in enumerate(columns):
        which = np.flatnonzero(attribute == place)
        codes = column.codes[of_query[owner[which]]].astype(np.int64)
        if column.is_listed:
            found = _listed(rng, column.codes[rows], which, codes)
        else:
            found = (which, *_ranges(rng, column, codes))
        for gathered, own in zip((of, low, high), found, strict=True):
            gathered.append(own)
    predicates = np.concatenate(of)
    order = np.argsort(predicates, kind="stable")
    first = np.searchsorted(predicates[order], np.arange(len(owner) + 1))
    bounds = (np.concatenate(own)[order] for own in (low, high))
    return DrawnWorkload(tuple(columns), owner, attribute, first, *bounds)


def _distinct_rows(rng: np.random.Generator, columns: Sequence[CodedColumn]) -> Integers:
    """Return the row numbers of distinct tuples. Queries are drawn from distinct tuples because seven in ten
    connections of KDD Cup 99 repeat an earlier connection.
    """
    recorded = len(columns[0].codes)
    drawn = rng.choice(recorded, min(recorded, _SAMPLE), replace=False)
    codes = np.stack([column.codes[drawn] for column in columns], axis=1)
    _, places = np.unique(codes.view(np.dtype((np.void, codes.itemsize * codes.shape[1]))).ravel(), return_index=True)
    return np.sort(drawn[places])


def _asked(rng: np.random.Generator, columns: Sequence[CodedColumn], counts: Integers, of_query: Integers) -> Integers:
    """Return the column numbers that the predicates constrain, query by query: ``counts[i]`` different columns for
    query i. ``of_query``: the row number of the tuple around which each query is drawn.
    """
    # Compute the information content of each value, because predicates constrain rare values more often than frequent
    # ones.
    bits = [np.log2(len(column.codes) / np.maximum(1, column.counts())) for column in columns]
    chances = [np.minimum(own, _MOST_BITS) ** 2 for own in bits]
    found = [np.empty(0, dtype=np.int64)]
    for start in range(0, len(counts), _TOGETHER):
        own = of_query[start : start + _TOGETHER]
        weights = [each[column.codes[own] - NULL_CODE] for each, column in zip(chances, columns, strict=True)]
        found.append(different_places(rng, counts[start : start + _TOGETHER], np.stack(weights, axis=1)))
    return np.concatenate(found)


def _listed(
    rng: np.random.Generator, others: Values, which: Integers, codes: Integers
) -> tuple[Integers, Integers, Integers]:
    """Return three arrays with one entry for each range, sorted and distinct: the index of the predicate, the lower
    code and the upper code. Each range contains one code. A predicate has the code of its query's tuple, and a list
    also has codes of other tuples.
    """
    wanted = np.where(rng.random(len(which)) < _LIST_SHARE, rng.integers(_LISTED[0], _LISTED[1] + 1, len(which)), 1)
    # Draw no other values for a tuple with NULL, because its predicate is IS NULL and not a list.
    more = np.repeat(np.arange(len(which)), np.where(codes == NULL_CODE, 0, wanted - 1))
    drawn = others[rng.integers(0, len(others), len(more))].astype(np.int64)
    more, drawn = more[drawn != NULL_CODE], drawn[drawn != NULL_CODE]
    pairs = np.stack([np.concatenate([which, which[more]]), np.concatenate([codes, drawn])], axis=1)
    points = np.unique(pairs, axis=0)
    return points[:, 0], points[:, 1], points[:, 1]


def _ranges(rng: np.random.Generator, column: CodedColumn, codes: Integers) -> tuple[Integers, Integers]:
    """Return the lower and the upper bounds of one range for each of ``codes``. The range contains the code, and both
    bounds are codes of the column.
    """
    counts = column.counts()[-NULL_CODE:]
    upto = np.cumsum(counts)
    before = upto - counts
    reach = rng.uniform(0, _WIDEST, (2, len(codes))) * upto[-1]
    low = np.searchsorted(before, before[codes] - reach[0])
    high = np.searchsorted(upto, upto[codes] + reach[1], side="right") - 1
    one_sided = rng.random(len(codes)) < _ONE_SIDED_SHARE
    is_high = upto[-1] - before[codes] < upto[codes]
    low = np.where(one_sided, np.where(is_high, codes, 0), low)
    high = np.where(one_sided, np.where(is_high, len(column.values) - 1, codes), high)
    is_null = codes == NULL_CODE
    return np.where(is_null, NULL_CODE, low), np.where(is_null, NULL_CODE, high)


def _literals(column: CodedColumn) -> list[str]:
    """Return each value of a column as an SQL literal. The literal of an instant has no time zone, so the session's
    zone, UTC, applies.
    """
    is_instant = pa.types.is_timestamp(column.values.type)
    values = column.values.cast(pa.timestamp("us")) if is_instant else column.values
    return [sql_literal(value) for value in values.to_pylist()]


def _text(name: str, literals: Sequence[str], ranges: _Ranges) -> str:
    low, high = ranges[0]
    if high == NULL_CODE:
        return f"{name} IS NULL"
    if len(ranges) > 1:
        return f"{name} IN ({', '.join(literals[code] for code, _ in ranges)})"
    if low == high:
        return f"{name} = {literals[low]}"
    if low == 0:
        return f"{name} <= {literals[high]}"
    if high == len(literals) - 1:
        return f"{name} >= {literals[low]}"
    return f"{name} BETWEEN {literals[low]} AND {literals[high]}"


def _constraint(keys: Sequence[Key], ranges: _Ranges) -> Constraint:
    if ranges[0][1] == NULL_CODE:
        return Constraint((), null=True)
    return Constraint(tuple(_interval(keys, low, high) for low, high in ranges))


def _interval(keys: Sequence[Key], low: int, high: int) -> Interval:
    """Return the interval for the codes from ``low`` to ``high``, with the same bounds as in the predicate's text. If a
    range includes the least or the greatest value of the column, it is unbounded on that side.
    """
    if low == high:
        return (keys[low], 0), (keys[high], 1)
    return None if low == 0 else (keys[low], 0), None if low > 0 and high == len(keys) - 1 else (keys[high], 1)
