"""Warming up: it computes windows by pairs and by cells, and so compiles what the first window needs."""

from __future__ import annotations

import pytest

from asc.operators.dbscan import cells, chains
from asc.operators.dbscan.warm_up import warm_up


def test_it_goes_by_pairs_and_by_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    for module, name in ((cells, "connect"), (cells, "list_nearest"), (chains, "sort_pairs")):
        own = getattr(module, name)

        def called(*arguments: object, own: object = own, name: str = name) -> object:
            seen.add(name)
            return own(*arguments)  # type: ignore[operator]

        monkeypatch.setattr(module, name, called)
    assert warm_up() > 0
    assert seen == {"connect", "list_nearest", "sort_pairs"}
