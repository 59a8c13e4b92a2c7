"""Attribute selection constructs: sets of standing predicates evaluated over Arrow memory.

The public names load on first use, so that a program which only parses predicates does not load the kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asc.errors import AscError, PlanError, PredicateError, SchemaError, ShapeError
    from asc.layer_file import read_layer
    from asc.matcher import Matcher
    from asc.predicate.normal_form.join_predicate import Join
    from asc.schema import Schema
    from asc.spatial.layer import Layer

__all__ = [
    "AscError",
    "Join",
    "Layer",
    "Matcher",
    "PlanError",
    "PredicateError",
    "Schema",
    "SchemaError",
    "ShapeError",
    "read_layer",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'asc' has no attribute {name!r}")
    from importlib import import_module

    modules = {
        "Join": "asc.predicate.normal_form.join_predicate",
        "Layer": "asc.spatial.layer",
        "Matcher": "asc.matcher",
        "Schema": "asc.schema",
        "read_layer": "asc.layer_file",
    }
    module = modules.get(name, "asc.errors")
    return getattr(import_module(module), name)
