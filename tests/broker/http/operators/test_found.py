"""Modules of kinds: those that there are, in the order of kinds."""

from __future__ import annotations

from broker.http.operators.found import modules_of
from broker.operators.kinds import OPERATORS


def test_only_kinds_with_a_module_are_found() -> None:
    names = [module.__name__.rpartition(".")[2] for module in modules_of("broker.http.operators")]
    assert names == [name for name in OPERATORS if name in names]
    assert names
    assert list(modules_of("broker.http.operators", "_of_nothing")) == []
