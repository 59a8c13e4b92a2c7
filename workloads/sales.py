"""Generated sales, and cubes over these sales. A sale is a record with a time, five text columns and three numeric
columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workloads.errors import WorkloadError

SALES_DDL = (
    "sold_at TIMESTAMP, region STRING, shop STRING, product STRING, channel STRING, status STRING, amount INT, "
    "quantity INT, price DOUBLE"
)
DIMENSIONS = ("region", "shop", "product", "channel", "status")
MEASURES = (
    "count(*) AS records",
    "sum(amount) AS amounts",
    "min(amount) AS least",
    "max(amount) AS most",
    "sum(price) AS turnover",
)

WIDE = (8, 20, 100, 4, 5)
"""The number of distinct values of each dimension in wide sales: up to 320,000 groups."""
NARROW = (4, 5, 6, 3, 4)
"""The number of distinct values of each dimension in narrow sales: up to 1,440 groups."""

BEGIN_US = 1_373_414_400_000_000
"""The beginning of the hour of the sales, in microseconds since the epoch: 2013-07-10T00:00:00Z."""
HOUR_US = 3_600_000_000
QUANTITIES = 20
_AMOUNTS = 1_000
_NULLS = 0.01
_LEAST_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class SalesCube:
    """A cube over sales: the predicate that accepts its records, and its dimensions, each with one level."""

    id: str
    where: str
    dimensions: tuple[str, ...]


def sales(count: int, values: Sequence[int], *, seed: int = 1, begin_us: int = BEGIN_US) -> pa.Table:
    """Draw ``count`` sales of one hour, and return the sales in the order of time.

    ``values``: the number of distinct values of each dimension. The values are drawn uniformly. One in a hundred
    statuses is NULL, and one in a hundred amounts is NULL.

    >>> sales(3, NARROW).column_names[:3]
    ['sold_at', 'region', 'shop']
    """
    random = np.random.default_rng(seed)
    at_us = begin_us + np.sort(random.integers(0, HOUR_US, count))
    texts = {name: _texts(name, random.integers(0, own, count)) for name, own in zip(DIMENSIONS, values, strict=True)}
    texts["status"] = _with_nulls(texts["status"], random)
    numbers = {
        "amount": _with_nulls(pa.array(random.integers(0, _AMOUNTS, count), pa.int32()), random),
        "quantity": pa.array(random.integers(1, QUANTITIES + 1, count), pa.int32()),
        "price": pa.array(np.round(random.lognormal(3, 1, count), 2)),
    }
    return pa.table({"sold_at": pa.array(at_us, pa.timestamp("us", "UTC")), **texts, **numbers})


def sales_cubes(count: int, *, seed: int = 1) -> Iterator[SalesCube]:
    """Yield cubes with three to five dimensions. The predicate of each cube accepts from 5 to 100 % of the sales, and
    the first cube accepts all sales.

    The predicates have the same result in Spark, DuckDB and Polars. Raises WorkloadError if ``count`` is less than one.

    >>> next(sales_cubes(1)).where
    'quantity >= 1'
    """
    if count < 1:
        raise WorkloadError("cubes", count, "at least 1")
    random = np.random.default_rng(seed)
    for number in range(count):
        share = 1.0 if number == 0 else float(random.uniform(_LEAST_SHARE, 1))
        chosen = sorted(random.permutation(len(DIMENSIONS))[: random.integers(3, len(DIMENSIONS) + 1)].tolist())
        dimensions = tuple(DIMENSIONS[place] for place in chosen)
        yield SalesCube(f"cube-{number:02d}", _predicate(number, share), dimensions)


def _predicate(number: int, share: float) -> str:
    """Return a predicate on one or two columns that accepts the given share of the sales."""
    if number == 0:
        return "quantity >= 1"
    if number % 2:
        return f"amount < {round(share * _AMOUNTS)}"
    most = max(1, round(share**0.5 * QUANTITIES))
    return f"quantity <= {most} AND amount >= {round((1 - share**0.5) * _AMOUNTS)}"


def _texts(name: str, places: npt.NDArray[np.int64]) -> pa.Array:
    words = pa.array([f"{name}-{place:03d}" for place in range(int(places.max()) + 1)])
    return words.take(pa.array(places))


def _with_nulls(values: pa.Array, random: np.random.Generator) -> pa.Array:
    kept = pa.array(random.random(len(values)) >= _NULLS)
    return pc.if_else(kept, values, pa.scalar(None, values.type))
