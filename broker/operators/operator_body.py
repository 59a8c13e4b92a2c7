"""The bodies of all operators, as one union that ``name`` discriminates."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from broker.operators.events.body import EventsBody
from broker.operators.near.body import NearBody
from broker.operators.route_body import RouteBody

OperatorBody = Annotated[
    RouteBody | EventsBody | NearBody,
    Field(discriminator="name", description="What becomes of accepted records. None is the same as route."),
]
