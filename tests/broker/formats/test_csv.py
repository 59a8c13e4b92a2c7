"""CSV: options that contradict each other, and fields as the parser reads them."""

from __future__ import annotations

import pytest

from broker.formats.csv import Csv


@pytest.mark.parametrize(
    ("options", "option", "said"),
    [
        ({"quote": ","}, "quote", "is the separator too"),
        ({"sep": ";", "comment": ";"}, "comment", "is the separator too"),
        ({"sep": '"'}, "sep", "is the quote too"),
        ({"sep": ""}, "sep", "at least one character"),
        ({"escape": "\n"}, "escape", "a line break ends the record"),
        ({"locale": "en_US!"}, "locale", "as en-US"),
        ({"dateFormat": " "}, "dateFormat", "as yyyy-MM-dd"),
    ],
)
def test_options_that_contradict_each_other_are_found_without_spark(
    options: dict[str, str], option: str, said: str
) -> None:
    ((found, _, remedy),) = Csv().wrong_options(options)
    assert found == option
    assert said in remedy
