"""The answer to the registration of one query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from fastapi import Response

from broker.errors import QueryError
from broker.http.models import QueryBody, new_query
from broker.http.registration import registration_answer
from broker.queries.change import Put

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

IDS = ("paged-1", "paged-2", "paged-3")


@pytest.fixture(autouse=True)
def cleared(resting: Resting) -> Iterator[None]:
    yield
    from broker.queries.change import Remove

    registered = [query_id for query_id in IDS if query_id in resting.registrar().standing]
    resting.permitted.apply([Remove(query_id) for query_id in registered], "remove")


def test_the_status_says_whether_a_query_is_new(resting: Resting) -> None:
    near = {"name": "near", "key": "n", "position": "ST_Point(d, d)", "distance_m": 5, "window_s": 30, "every_s": 10}

    def status(query_id: str, **more: object) -> int:
        plain = {"id": query_id, "stream": resting.stream("json"), "where": "true", "operator": {**near, **more}}
        response = Response()
        query = new_query(QueryBody.model_validate(plain), resting.stream("json"))
        answer = registration_answer(resting.permitted, Put(query), "register", response)
        assert answer["query"]["id"] == query_id
        return response.status_code

    assert [status(query_id) for query_id in IDS] == [201] * 3
    assert status(IDS[0], distance_m=6) == 200
    with pytest.raises(QueryError):
        status("paged-4", distance_m=-1)
