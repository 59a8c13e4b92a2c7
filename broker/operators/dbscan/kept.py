"""The last window of a DBSCAN query, as answers have it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from broker.operators.kept_body import KeptBody


class DbscanKept(KeptBody):
    """The last window of a DBSCAN query that was written."""

    name: Literal["dbscan"]
    clusters: int | None = Field(default=None, description="The number of clusters; null where it was skipped.")
    noise: int | None = Field(default=None, description="The number of noise points; null where it was skipped.")
    end: str | int | None = Field(
        default=None, description="The exclusive end, as ISO 8601; of a window by points the number of the last one."
    )
    skipped: Literal["capacity"] | None = Field(default=None, description="The reason why it has no clusters.")
