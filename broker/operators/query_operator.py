"""What a query may have for an operator, beside being routed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broker.errors import QueryError
from broker.operators.events import definition as events_definition
from broker.operators.events.definition import EventsOperator
from broker.operators.near import definition as near_definition
from broker.operators.near.definition import NearOperator
from broker.operators.operator_fields import shown

QueryOperator = EventsOperator | NearOperator


def operator_of(plain: Mapping[str, Any]) -> QueryOperator:
    """The operator that records and the API say; QueryError where it is none.

    >>> operator_of({"name": "events", "key": "icao24"}).kinds
    ('enter', 'exit', 'lost')
    """
    name = plain.get("name")
    if name == events_definition.NAME:
        return EventsOperator.of_plain(plain)
    if name == near_definition.NAME:
        return NearOperator.of_plain(plain)
    known = f"{events_definition.NAME}, {near_definition.NAME}"
    raise QueryError("operator", shown(name), f"is not known: known are {known}")
