"""Which operator a record or the API asks for."""

from __future__ import annotations

import pytest

from broker.errors import QueryError
from broker.operators.events.definition import EventsOperator
from broker.operators.near.definition import NearOperator
from broker.operators.query_operator import operator_of

NEAR = {"name": "near", "key": "k", "distance_m": 5, "window_s": 30, "every_s": 10}


def test_an_operator_is_the_one_of_its_name() -> None:
    assert operator_of({"name": "events", "key": "k"}) == EventsOperator("k")
    assert operator_of(NEAR) == NearOperator("k", 5, 30, 10)


@pytest.mark.parametrize("name", [None, "", "cubes", 7, ["near"]])
def test_one_that_is_not_known_is_refused(name: object) -> None:
    with pytest.raises(QueryError, match="is not known: known are events, near"):
        operator_of({**NEAR, "name": name})
