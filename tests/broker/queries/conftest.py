"""A registrar with a snapshot, and changes after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from broker.queries import query_state as state_module
from broker.queries.change import Put, Remove
from broker.queries.query import RegisteredQuery

if TYPE_CHECKING:
    from conftest import Resting

    from broker.queries.registrar import Registrar


@pytest.fixture
def stored(resting: Resting, monkeypatch: pytest.MonkeyPatch) -> Registrar:
    """The registrar with queries of which a snapshot was written, and others after it."""
    monkeypatch.setattr(state_module, "_SNAPSHOT_QUERIES", 0)
    monkeypatch.setattr(state_module, "_SNAPSHOT_SHARE", 0.0)
    registrar, stream = resting.registrar(), resting.stream("json")

    def query(name: str, where: str, **more: bool) -> Put:
        return Put(RegisteredQuery(f"stored-{name}", stream, where, "stored", {"of": "test"}, **more))

    wheres = ["n > 5", "n BETWEEN 1 AND 9 AND s = 'a'", "length(s) > 2", "s LIKE 'x%' OR n < 0", "true", "n IS NULL"]
    registrar.apply([query(f"{i}", wheres[i % len(wheres)], paused=i % 7 == 3) for i in range(30)]).raised()
    registrar.store()
    registrar.apply([query("late", "s = 'unheard of'"), query("2", "n = 77"), Remove("stored-4")]).raised()
    registrar.apply([Remove("stored-5"), query("3", "n = 78"), query("8", "length(s) > 3", paused=True)]).raised()
    registrar.apply([query("5", "n = 79"), Remove("stored-late")]).raised()
    return registrar
