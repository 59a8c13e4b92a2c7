"""The body of the operator ``route``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from broker.body import Body, Text


class RouteBody(Body):
    """Accepted records are routed to the topic of their query; the same as no operator."""

    name: Literal["route"]
    summary: Text | None = Field(
        default=None,
        description="The operator in one line. It is computed, and ignored in a body.",
        json_schema_extra={"readOnly": True},
    )
