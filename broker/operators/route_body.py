"""The body of the operator ``route``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from broker.operators.kind_body import KindBody


class RouteBody(KindBody):
    """The operator of accepted records that are routed to the topic of their query; the same as no operator."""

    examples: ClassVar[tuple[Mapping[str, Any], ...]] = ({"name": "route"},)

    name: Literal["route"]
