"""TOML within bounds."""

from __future__ import annotations

import pytest

from broker.toml_text import parse_toml


def test_a_document_is_read() -> None:
    assert parse_toml("[a]\nb = 1") == {"a": {"b": 1}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "[" * 20_000, "it is nested too deeply"),
        ("a = " + "{b=" * 20_000, "it is nested too deeply"),
        ("a =", "Invalid value"),
        ("a = 1\na = 2", "overwrite"),
    ],
    ids=["arrays", "tables", "nothing", "twice"],
)
def test_a_text_that_is_none_has_a_reason(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_toml(text)
