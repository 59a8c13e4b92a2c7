"""The broker: everything that touches Spark, Kafka, HTTP, files and time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from broker.consuming.consume import Delivery, consume
    from broker.matching.dataframe import match

__all__ = ["Delivery", "consume", "match"]


def __getattr__(name: str) -> Any:
    """Imported when first asked for: the command line starts without PySpark, and a consumer needs none."""
    if name == "match":
        from broker.matching.dataframe import match

        return match
    if name in ("consume", "Delivery"):
        from broker.consuming import consume

        return getattr(consume, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
