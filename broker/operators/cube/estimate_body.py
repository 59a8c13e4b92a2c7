"""The estimated size of a cube in answers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from broker.operators.estimate_body import EstimateBody


class CubeEstimate(EstimateBody):
    """The estimated size of a cube that is not registered, from the last records of its stream.

    ``cuboids`` does not depend on the records. All other figures are null if they are not known, and ``reason`` is the
    cause.
    """

    name: Literal["cube"]
    cuboids: int
    records: int | None = Field(description="The records from which the size is estimated.")
    undecodable: int | None = Field(description="Dead letters among these records.")
    counted: int | None = Field(description="The records that the cube would count.")
    panes: int | None
    cells: int | None
    bytes: int | None = Field(description="Of all panes, as they would be stored.")
    cells_a_pane: float | None
    bytes_a_cell: float | None
    records_a_cell: float | None
    reason: str | None = Field(description="Why figures are not known.")
