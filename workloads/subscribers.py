"""Generated standing queries of many subscribers, and records that they accept. The number of deliveries per record is
independent of the number of queries.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

import numpy as np

from workloads.errors import WorkloadError

_INTS = ("zone", *"abcde", "delay")
SUBSCRIBERS_DDL = f"id BIGINT, sent DOUBLE, {' INT, '.join(_INTS)} INT, dest STRING, carrier STRING, ok BOOLEAN"

TOPICS = 10
ACCEPTED = 0.40
"""The share of the records that the queries accept."""

DELIVERIES = 1.5
"""The mean number of deliveries per record. All deliveries of a record go to different topics."""

_DOMAIN = 1_000_000
_ZONES = 100
_TAKEN = DELIVERIES / TOPICS / ACCEPTED
"""The share of the accepted records that one topic receives."""

_COLUMNS = "abcde"
_PLACES = ("SFO", "LAX", "JFK", "ORD", "ATL", "DFW", "SEA", "BOS", "MIA", "DEN")


def subscribers(count: int) -> Iterator[tuple[str, str, str]]:
    """Yield the query of each of ``count`` subscribers: its id, its predicate, and the number of its destination topic
    as text.

    The queries of a topic accept disjoint sets of records. So a record is accepted, and delivered, as often with ten
    queries as with a million. Raises WorkloadError if ``count`` is less than the number of topics, or so large that
    some query would accept no value.

    >>> next(subscribers(10))
    ('q0000000', "zone < 40 AND a BETWEEN 0 AND 374999 AND dest <> ''", '0')
    """
    taken = round(_DOMAIN * _TAKEN)
    if not TOPICS <= count <= TOPICS * taken:
        raise WorkloadError("subscribers", count, f"from {TOPICS} to {TOPICS * taken}")
    for number in range(count):
        topic, place = number % TOPICS, number // TOPICS
        of_topic = (count - topic + TOPICS - 1) // TOPICS
        column, first = _COLUMNS[topic % len(_COLUMNS)], 0 if topic < len(_COLUMNS) else _DOMAIN - taken
        low, high = first + taken * place // of_topic, first + taken * (place + 1) // of_topic - 1
        where = f"zone < {int(_ZONES * ACCEPTED)} AND {column} BETWEEN {low} AND {high} AND dest <> ''"
        yield f"q{number:07d}", where, str(topic)


def records(seed: int = 1, now: Callable[[], float] = time.time) -> Iterator[bytes]:
    """Yield JSON records of about 150 bytes without end. The field ``sent`` has the time at which the record was made,
    in seconds since the epoch. ``now``: the function that returns this time.
    """
    rng = np.random.default_rng(seed)
    number = 0
    while True:
        for zone, *values, delay, place in np.stack(
            [
                rng.integers(_ZONES, size=1_000),
                *(rng.integers(_DOMAIN, size=1_000) for _ in _COLUMNS),
                *(rng.integers(-20, 180, size=1_000), rng.integers(len(_PLACES), size=1_000)),
            ],
            axis=1,
        ).tolist():
            fields = {"id": number, "sent": now(), "zone": zone, **dict(zip(_COLUMNS, values, strict=True))}
            rest = {"delay": delay, "dest": _PLACES[place], "carrier": "AA", "ok": True}
            yield json.dumps({**fields, **rest}, separators=(",", ":")).encode()
            number += 1
