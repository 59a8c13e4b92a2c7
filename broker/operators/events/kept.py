"""The objects of an event query, as answers have them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from broker.operators.kept_body import KeptBody


class EventsKept(KeptBody):
    """The state of an event query."""

    name: Literal["events"]
    objects_inside: int = Field(
        description="The objects that have entered and neither left nor been lost; in a join once for each shape."
    )
