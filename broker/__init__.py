"""The broker: everything that touches Spark, Kafka, HTTP, files and time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from broker.matching.dataframe import match

__all__ = ["match"]


def __getattr__(name: str) -> Any:
    """``broker.match``, imported when first asked for: the command line starts without PySpark."""
    if name == "match":
        from broker.matching.dataframe import match

        return match
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
