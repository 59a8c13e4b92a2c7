"""The stored views and bands of a cube in its status."""

from __future__ import annotations

from typing import Any

from asc.operators.cube.json_values import bound_text
from broker.operators.cube.cube_state import CubeState


def view_status(state: CubeState) -> dict[str, Any]:
    """Return the number, the cells and the bytes of the stored views, the first kept time, and the bands with their
    ends.
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
