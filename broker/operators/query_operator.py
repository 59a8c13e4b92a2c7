"""What a query may have for an operator, beside being routed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broker.errors import QueryError
from broker.operators import events_operator, near_operator
from broker.operators.events_operator import EventsOperator
from broker.operators.near_operator import NearOperator
from broker.operators.operator_fields import shown

QueryOperator = EventsOperator | NearOperator


def operator_of(plain: Mapping[str, Any]) -> QueryOperator:
    """The operator that records and the API say; QueryError where it is none.

    >>> operator_of({"name": "events", "key": "icao24"}).kinds
    ('enter', 'exit', 'lost')
    """
    name = plain.get("name")
    if name == events_operator.NAME:
        return EventsOperator.of_plain(plain)
    if name == near_operator.NAME:
        return NearOperator.of_plain(plain)
    known = f"{events_operator.NAME}, {near_operator.NAME}"
    raise QueryError("operator", shown(name), f"is not known: known are {known}")
