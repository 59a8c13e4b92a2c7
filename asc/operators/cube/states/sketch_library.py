"""The library of sketches, Apache DataSketches: an optional package, imported on first use."""

from __future__ import annotations

from typing import Any

from asc.errors import CubeError

PACKAGE = "datasketches"
"""The name of the package, and of its module."""
MISSING = "needs Apache DataSketches: pip install 'asc-broker[sketches]' (there is no wheel for Python 3.14)"
"""The remedy if the package is not installed."""


def library() -> Any:
    """Return the module of the library. Raise CubeError if it is not installed."""
    try:
        import datasketches
    except ImportError:
        raise CubeError("sketch", PACKAGE, MISSING) from None
    return datasketches
