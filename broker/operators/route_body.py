"""The body of the operator ``route``."""

from __future__ import annotations

from typing import Literal

from broker.operators.kind_body import KindBody


class RouteBody(KindBody):
    """Accepted records are routed to the topic of their query; the same as no operator."""

    name: Literal["route"]
