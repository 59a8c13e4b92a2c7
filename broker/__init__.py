"""The broker: the daemon with its parts, and the client for programs. This package uses Spark, Kafka, HTTP, files and
clocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from broker.packages import check_packages, library_packages

if TYPE_CHECKING:
    from broker.client.client import Client
    from broker.client.errors import ClientError
    from broker.consuming.consume import Delivery, consume
    from broker.matching.dataframe import match
    from broker.matching.sql_function import SetFunction, register_function

__all__ = ["Client", "ClientError", "Delivery", "SetFunction", "consume", "match", "register_function"]

check_packages(library_packages())


def __getattr__(name: str) -> Any:
    """Import the module of a public name when the name is first used. So the command line starts without PySpark, and a
    program that calls ``consume`` does not need PySpark at all.
    """
    if name == "match":
        from broker.matching.dataframe import match

        return match
    if name in ("register_function", "SetFunction"):
        from broker.matching import sql_function

        return getattr(sql_function, name)
    if name in ("consume", "Delivery"):
        from broker.consuming import consume

        return getattr(consume, name)
    if name == "Client":
        from broker.client.client import Client

        return Client
    if name == "ClientError":
        from broker.client.errors import ClientError

        return ClientError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
