"""How far loads are, while they are under way."""

from __future__ import annotations

import pytest

from broker.queries.loads import STEPS, Loads


def test_a_load_is_under_way_until_it_ends() -> None:
    loads = Loads()
    assert loads.shown() == []
    with loads.begun(3) as one:
        one.read = 2
        with loads.begun(5) as other:
            other.told("validated")
            assert loads.shown() == [
                {"queries": 3, "read": 2, "last_step": None},
                {"queries": 5, "read": 0, "last_step": "validated"},
            ]
        assert [load["queries"] for load in loads.shown()] == [3]
        for step in STEPS:
            one.told(step)
            assert loads.shown()[0]["last_step"] == step
        one.begin()
        assert loads.shown() == [{"queries": 3, "read": 0, "last_step": None}]
    assert loads.shown() == []


def test_a_load_that_is_refused_is_over() -> None:
    loads = Loads()
    with pytest.raises(ValueError, match="refused"), loads.begun(5):
        raise ValueError("refused")
    assert loads.shown() == []


def test_only_of_what_takes_long_the_log_tells(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "asc.registration"):
        for queries in (19_999, 20_000):
            with Loads().begun(queries) as load:
                load.told("validated")
                load.told("compiled", 19_999)
    assert caplog.messages == ["bulk load: 20000 queries are validated"]
