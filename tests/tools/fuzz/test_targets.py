"""Every target is found by its name."""

from __future__ import annotations

import pytest

from tools.fuzz.targets import TARGETS, target_named


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_a_target_has_the_name_it_is_found_by(name: str) -> None:
    assert target_named(name).name == name
