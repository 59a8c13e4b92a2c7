"""The fields of a cube's status about its stored views and bands."""

from __future__ import annotations

from typing import Any

from asc.operators.cube.json_values import bound_text
from broker.operators.cube.cube_state import CubeState


def view_status(state: CubeState) -> dict[str, Any]:
    """Return the numbers of stored views, their cells and bytes, the time from which on panes are kept, and the bands
    with the times at which they end.
    """
    grain_s = state.grain_us // 1_000_000

    def text(pane: int | None) -> str | None:
        return None if pane is None else bound_text(pane * state.grain_us)

    return {
        "views": len(state.views),
        "view_cells": state.view_cells,
        "view_bytes": state.view_bytes,
        "kept_from": text(state.kept_from),
        "bands": [
            {
                "view": own.view.name(state.definition.dimensions, grain_s),
                "cells": own.panes.cells,
                "bytes": own.panes.size_bytes,
                "to": text(own.end),
            }
            for own in state.bands
        ],
    }
