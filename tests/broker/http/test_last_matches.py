"""The last records of a query, from where it delivers to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from broker.access.scope import Scope
from broker.errors import ForbiddenError
from broker.http.last_matches import last_matches
from broker.http.models import QueryBody, new_query
from broker.queries.change import Put, Remove

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


@pytest.fixture
def topic(resting: Resting) -> Iterator[str]:
    body = QueryBody(id="lm-late", where="n > 5", topic="lm-late")
    resting.permitted.apply([Put(new_query(body, resting.stream("json")), replaces=True)], "register").raised()
    yield "lm-late"
    resting.permitted.apply([Remove("lm-late")], "remove").raised()


def test_those_of_the_query_are_found_latest_first(resting: Resting, topic: str, send_to: Callable[..., str]) -> None:
    query = resting.permitted.get("lm-late")
    assert last_matches(resting.permitted, query, 3) == []
    for n in range(6):
        names = [b"lm-other"] if n == 5 else [b"lm-other", b"lm-late"] if n % 2 else [b"lm-late"]
        headers = [*(("asc-query", name) for name in names), ("asc-source", f"s-0-{n}".encode())]
        send_to(topic, str(n).encode(), headers=[*headers, ("asc-timestamp", str(1000 * n).encode())])
    send_to(topic, b"of nobody")
    found = last_matches(resting.permitted, query, 3)
    assert [(each["value"], each["source"], each["source_timestamp_ms"]) for each in found] == [
        ("4", "s-0-4", 4000),
        ("3", "s-0-3", 3000),
        ("2", "s-0-2", 2000),
    ]
    assert len(last_matches(resting.permitted, query, 100)) == 5
    # An event does not bear its source record's time.
    send_to(topic, b"{}", headers=[("asc-query", b"lm-late"), ("asc-source", b"s-0-9")])
    (latest,) = last_matches(resting.permitted, query, 1)
    assert latest["source"] == "s-0-9"
    assert latest["source_timestamp_ms"] == latest["timestamp_ms"]
    with pytest.raises(ForbiddenError, match="may not name"):
        last_matches(resting.within(Scope("ops", columns=frozenset({("n",)}))), query, 3)
