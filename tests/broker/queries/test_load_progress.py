"""How far loads are, while they are under way."""

from __future__ import annotations

import pytest

from broker.queries.load_progress import STEPS, RunningLoads


def test_a_load_is_under_way_until_it_ends() -> None:
    loads = RunningLoads()
    assert loads.shown() == []
    with loads.started(3) as one:
        one.read = 2
        with loads.started(5) as other:
            other.note_done("validated")
            assert loads.shown() == [
                {"queries": 3, "read": 2, "last_step": None},
                {"queries": 5, "read": 0, "last_step": "validated"},
            ]
        assert [load["queries"] for load in loads.shown()] == [3]
        for step in STEPS:
            one.note_done(step)
            assert loads.shown()[0]["last_step"] == step
        one.begin()
        assert loads.shown() == [{"queries": 3, "read": 0, "last_step": None}]
    assert loads.shown() == []


def test_a_load_that_is_refused_is_over() -> None:
    loads = RunningLoads()
    with pytest.raises(ValueError, match="refused"), loads.started(5):
        raise ValueError("refused")
    assert loads.shown() == []


def test_only_of_what_takes_long_the_log_tells(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "asc.registration"):
        for queries in (19_999, 20_000):
            with RunningLoads().started(queries) as load:
                load.note_done("validated")
                load.note_done("compiled", 19_999)
    assert caplog.messages == ["bulk load: 20000 queries are validated"]
