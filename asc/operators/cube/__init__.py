"""Standing cubes: exact roll-ups of accepted records by dimensions and panes of event time.

The public names load on first use, so that a caller that only reads a definition does not load the kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asc.operators.cube.cube import Cube
    from asc.operators.cube.definition import CubeDefinition

__all__ = ["Cube", "CubeDefinition"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'asc.operators.cube' has no attribute {name!r}")
    from importlib import import_module

    module = "cube" if name == "Cube" else "definition"
    return getattr(import_module(f"asc.operators.cube.{module}"), name)
