"""The observations of a near query, as answers have them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from broker.operators.kept_body import KeptBody


class NearKept(KeptBody):
    """The state of a near query."""

    name: Literal["near"]
    observations: int = Field(description="The observations that are held for coming ticks.")
