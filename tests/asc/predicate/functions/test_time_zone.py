"""Names of time zones."""

from __future__ import annotations

import pytest

from asc.predicate.functions.time_zone import is_time_zone


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "+01:00", "GMT-17:59"])
def test_names(name: str) -> None:
    assert is_time_zone(name)


@pytest.mark.parametrize("name", ["", "nowhere", "No/Where", "../UTC", "+18:00", "CET\n", "Europe/Berlin\0"])
def test_what_is_no_name(name: str) -> None:
    assert not is_time_zone(name)
