"""Queries that act as alerts on rare values of a measure at certain places. Only a few attributes are measures or
places.
"""

from __future__ import annotations

import numpy as np

from workloads.errors import WorkloadError
from workloads.synthetic import Workload, synthetic_columns, tail_and_ranges

MEASURES = (0, 1, 2, 3)
PLACES = (4, 5, 6, 7)

_MARGIN = 0.02
"""The share of the domain, at each of its two ends, that no interval of a query contains."""


def placed_alerts(
    queries: int,
    *,
    attributes: int = 20,
    domain: int = 1_000_000,
    ranges: tuple[int, int] = (2, 4),
    width: float = 0.3,
    seed: int = 1,
) -> Workload:
    """Draw queries. Each query accepts about the highest 1 % of one of the ``MEASURES``, and has from ``ranges[0]`` to
    ``ranges[1]`` closed intervals on other attributes.

    The intervals are ``width`` x ``domain`` wide. The first interval is on one of the ``PLACES``. The others are on
    attributes that are neither measures nor places.

    The queries resemble those of :func:`workloads.synthetic.alerts_workload`, but most of their predicates are on few
    attributes, as with real standing queries. So four constructs can exclude all queries, and the data determines which
    four do so. While high values of the measures are rare, the constructs of the measures exclude all queries. While
    high values occur only at other places, the constructs of the places exclude all queries.
    """
    others = np.arange(len(MEASURES) + len(PLACES), attributes)
    if not 1 <= ranges[0] <= ranges[1] <= 1 + len(others):
        raise WorkloadError("ranges a query", ranges, f"least and most, from 1 to {1 + len(others)}")
    random = np.random.default_rng(seed)
    counts = random.integers(ranges[0], ranges[1] + 1, queries)
    drawn = others[np.argsort(random.random((queries, len(others))), axis=1)]
    table = np.column_stack([random.choice(MEASURES, queries), random.choice(PLACES, queries), drawn])
    attribute = table[np.arange(table.shape[1]) < counts[:, None] + 1]
    owner = np.repeat(np.arange(queries), counts + 1)
    low, high = tail_and_ranges(random, owner, domain, int(width * domain), margin=int(_MARGIN * domain))
    return Workload(*synthetic_columns(attributes, domain), owner, attribute, low, high)
