"""CSV: options that contradict each other, and fields as the parser reads them."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.formats.csv import Csv, csv_field


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


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0")), min_size=1))
def test_csv_fields_read_back(texts: list[str]) -> None:
    line = ",".join(map(csv_field, texts))
    assert next(csv.reader(io.StringIO(line + "\n", newline=""))) == texts
