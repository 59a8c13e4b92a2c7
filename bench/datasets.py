"""The paper's data sets D1, D2 and D3, with predicate sets that replace the sets of the paper's Table 1, whose
parameters are lost.

We chose the parameters before any measurement: a hundred queries of a few comparisons, each of which accepts a fifth of
an attribute's values on average. So most tuples are accepted by no query, as in a broker. Every result contains the
realised figures of the sets. The sensitivity table shows other numbers of queries and other widths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa

from asc.errors import AscError
from bench.recorded_stream import RecordedStream
from workloads.census import census_tuples, distinct_values
from workloads.predicate_sets import PredicateShape, evenly, predicate_set, realised
from workloads.streams import realised_tuples
from workloads.synthetic import non_uniform_tuples, uniform_tuples

DOMAIN = 100

Q1 = PredicateShape(queries=100, predicates=(3, 6), widest=0.4)
"""The predicate set for D1 and D2 in Figures 6 and 9."""
Q2 = PredicateShape(queries=100, predicates=(2, 4), widest=0.4)
"""The predicate set for D3, which has half as many attributes as D1, in Figures 6 and 7."""
Q3 = PredicateShape(queries=100, predicates=(2, 4), widest=0.4)
"""The predicate set for D2 with 4 to 20 p-attributes in Figure 7. Only the number of p-attributes varies in that
figure.
"""
Q4 = Q1
"""The predicate set for D1 in Figure 8. Figure 8 uses it with several concentrations, and so varies the standard
deviation of the number of ones per region.
"""


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set. The function ``tuples(rows, attributes, seed)`` returns the first ``rows`` tuples of the data set."""

    name: str
    title: str
    rows: int
    attributes: int
    tuples: Callable[[int, int, int], pa.Table]

    def stream(
        self, shape: PredicateShape, *, rows: int, attributes: int, seed: int
    ) -> tuple[RecordedStream, dict[str, Any]]:
        """Return the tuples as a stream with a predicate set, and the realised figures of the tuples and of the
        predicate set. The seed determines the tuples and the predicates.
        """
        table = self.tuples(rows, attributes, seed)
        values = distinct_values(table) if self.name == "D3" else evenly(attributes, DOMAIN)
        stream = RecordedStream.of(predicate_set(shape, table.schema.names, values, seed=seed), table)
        return stream, {**asdict(realised(stream.plan)), **asdict(realised_tuples(table))}

    def rows_of(self, scale: float) -> int:
        """Return the number of rows of a run with the share ``scale`` of the full size. The number is at least
        3,000.
        """
        return max(3_000, round(self.rows * scale))


def _uniform(rows: int, attributes: int, seed: int) -> pa.Table:
    return uniform_tuples(rows, attributes=attributes, domain=DOMAIN, seed=seed)


def _non_uniform(rows: int, attributes: int, seed: int) -> pa.Table:
    return non_uniform_tuples(rows, attributes=attributes, domain=DOMAIN, seed=seed)


def _census(rows: int, attributes: int, _seed: int) -> pa.Table:
    table = census_tuples()
    return table.select(table.schema.names[:attributes]).slice(0, rows)


D1 = DataSet("D1", "uniform", 40_000, 20, _uniform)
D2 = DataSet("D2", "skewed and correlated", 40_000, 20, _non_uniform)
D3 = DataSet("D3", "census", 199_523, 10, _census)


def with_queries(shape: PredicateShape, queries: int | None) -> PredicateShape:
    """Return a predicate set with another number of queries. For None, return it unchanged."""
    return shape if queries is None else replace(shape, queries=queries)


def with_concentration(shape: PredicateShape, concentration: float) -> PredicateShape:
    """Return a predicate set with another concentration around hot values."""
    return replace(shape, concentration=concentration)


def check_scale(scale: float) -> None:
    """Raise AscError for an impossible share of the full size."""
    if not 0 < scale <= 1:
        raise AscError("scale", scale, "a share of the full size: above 0, at most 1")
