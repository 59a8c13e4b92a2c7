"""JSON texts of values, as Spark reads them."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from broker.formats.json import json_text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(deadline=None)
@given(json_values)
def test_json_text_is_json(value: Any) -> None:
    assert json.loads(json_text(value)) == value


def test_json_text_of_what_json_has_no_words_for() -> None:
    assert (
        json_text([float("nan"), float("-inf"), b"\x00\xff", date(1, 1, 1)])
        == '["NaN","-Infinity","AP8=","0001-01-01"]'
    )
