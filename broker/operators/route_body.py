"""The body of the operator ``route``."""

from __future__ import annotations

from typing import Literal

from broker.operators.kind_body import KindBody


class RouteBody(KindBody):
    """The operator of accepted records that are routed to the topic of their query; the same as no operator."""

    name: Literal["route"]
