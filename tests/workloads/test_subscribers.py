"""As many deliveries a record whatever the number of subscribers."""

from __future__ import annotations

import json
from itertools import islice

import pyarrow as pa
import pytest

from asc import Matcher
from workloads.errors import WorkloadError
from workloads.subscribers import ACCEPTED, DELIVERIES, SUBSCRIBERS_DDL, TOPICS, records, subscribers


@pytest.mark.parametrize("count", [10, 995, pytest.param(20_000, marks=pytest.mark.nightly)])
def test_deliveries_do_not_hang_on_the_number_of_subscribers(count: int) -> None:
    found = list(subscribers(count))
    assert len({query_id for query_id, _, _ in found}) == count
    topic_of = {query_id: topic for query_id, _, topic in found}
    assert set(topic_of.values()) == {str(number) for number in range(TOPICS)}
    matcher = Matcher(SUBSCRIBERS_DDL)
    matcher.add_many((query_id, where) for query_id, where, _ in found)
    values = list(islice(records(), 4_000))
    assert 130 < sum(map(len, values)) / len(values) < 170
    rows = [json.loads(value) for value in values]
    names = [field.partition(" ")[0] for field in SUBSCRIBERS_DDL.split(", ")]
    matched = matcher.match(pa.table({name: [row[name] for row in rows] for name in names}))
    lists: list[list[str]] = [[] for _ in rows]
    for row, query_id in zip(matched["row"].to_pylist(), matched["query"].to_pylist(), strict=True):
        lists[row].append(query_id)
    deliveries = sum(map(len, lists)) / len(rows)
    assert deliveries == pytest.approx(DELIVERIES, rel=0.1)
    assert sum(map(bool, lists)) / len(rows) == pytest.approx(ACCEPTED, rel=0.1)
    # Each to a topic of its own.
    assert all(len({topic_of[query_id] for query_id in each}) == len(each) for each in lists)


@pytest.mark.parametrize("count", [9, 10_000_000])
def test_too_few_or_too_many_are_refused(count: int) -> None:
    with pytest.raises(WorkloadError, match="subscribers"):
        next(subscribers(count))
