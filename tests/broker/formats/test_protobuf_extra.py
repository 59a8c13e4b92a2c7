"""The extra for Protobuf."""

from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec

import pytest

from broker.formats.protobuf_extra import is_installed


@pytest.mark.parametrize("missing", ["google", "google.protobuf", "grpc_tools"])
def test_it_is_installed_as_a_whole_or_not(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec

    def without_it(name: str) -> ModuleSpec | None:
        return None if name == missing else find_spec(name)

    assert is_installed()
    monkeypatch.setattr(importlib.util, "find_spec", without_it)
    assert not is_installed()
