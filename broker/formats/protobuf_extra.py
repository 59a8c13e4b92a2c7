"""The optional dependency group ``protobuf`` of the package: whether it is installed, and the remedy if it is not."""

from __future__ import annotations

import importlib.util

NOT_INSTALLED = "needs Protobuf's parser and compiler: install asc with its extra 'protobuf'"


def is_installed() -> bool:
    """Return whether Protobuf's parser and its compiler are installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("google", "google.protobuf", "grpc_tools"))
