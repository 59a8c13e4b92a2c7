"""Tables of cubes: values as they are shown."""

from __future__ import annotations

import pytest

from broker.http.console.operators.cube_table import group_value, value_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10**40, f"{10**40:,}"),
        (0, "0"),
        (-1234.5678, "-1,234.57"),
        (123_456.789, "123,457"),
        (1e15, "1e+15"),
        ("NaN", "NaN"),
        ("12.50", "12.50"),
        (True, "true"),
    ],
)
def test_a_measure_is_shown_so(value: object, text: str) -> None:
    assert value_of(value).text == text
    assert not value_of(value).is_word


def test_of_a_double_the_title_has_all_digits() -> None:
    assert value_of(2 / 3).title == repr(2 / 3)


def test_what_is_no_value_is_a_word() -> None:
    assert (value_of(None).text, value_of(None).is_word) == ("NULL", True)
    assert [(own.text, own.is_word) for own in map(group_value, (None, "NULL", "", "empty", False, 7))] == [
        ("NULL", True),
        ("NULL", False),
        ("empty", True),
        ("empty", False),
        ("false", False),
        ("7", False),
    ]
