"""Attribute selection constructs: sets of standing predicates evaluated over Arrow memory.

The public names load on first use, so that what only parses predicates never pays for the kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asc.errors import AscError, PlanError, PredicateError, SchemaError
    from asc.matcher import Matcher
    from asc.schema import Schema

__all__ = ["AscError", "Matcher", "PlanError", "PredicateError", "Schema", "SchemaError"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'asc' has no attribute {name!r}")
    from importlib import import_module

    module = {"Matcher": "asc.matcher", "Schema": "asc.schema"}.get(name, "asc.errors")
    return getattr(import_module(module), name)
