"""Plain values as TOML that says the same."""

from __future__ import annotations

import sys
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from broker.files.toml_lines import toml_lines

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
values = st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts | st.lists(texts, max_size=3)
tables = st.recursive(
    st.dictionaries(texts, values, max_size=3),
    lambda inner: st.dictionaries(texts, values | inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None)
@given(tables)
def test_any_table_is_read_back(table: dict[str, Any]) -> None:
    assert tomllib.loads("\n".join(toml_lines(table))) == table


def test_a_key_without_a_value_is_a_comment() -> None:
    lines = list(toml_lines({"api": {"root_token_file": None}}))
    assert tomllib.loads("\n".join(lines)) == {"api": {}}
    assert "# root_token_file is not set" in lines
