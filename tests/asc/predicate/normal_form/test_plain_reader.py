"""Plain conjunctions: read as by the parser or not at all, whatever the text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asc.errors import AscError
from asc.predicate import Limits, normalise
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.predicate.normal_form.plain_reader import PlainReader
from asc.schema import Schema
from workloads.mixed import mixed_workload

SCHEMA = Schema.from_ddl(
    "n INT, tiny TINYINT, wide BIGINT, x DOUBLE, f FLOAT, d DECIMAL(5,2), big DECIMAL(30,5), s STRING, b BOOLEAN, "
    "day DATE, at TIMESTAMP, bin BINARY, date STRING, `in` INT, `true` INT, "
    "st STRUCT<n: INT, s: STRING>, m MAP<STRING, INT>"
)
READER = PlainReader(SCHEMA)


def parsed(text: str) -> Predicate | None:
    try:
        return normalise(text, SCHEMA)
    except AscError:
        return None


def agrees(text: str, reader: PlainReader = READER) -> bool:
    """Whether a text is read; a failure where it is read otherwise than by the parser."""
    found = reader.predicate(text)
    if found is not None:
        assert found == parsed(text)
    return found is not None


@pytest.mark.parametrize(
    "text",
    [
        "n > 5",
        " n>=5 ",
        "n = 5 AND s = 'Oslo' and b = true",
        "N BETWEEN 1 AND 5 AND n <> 3",
        "n BETWEEN -5 AND -1\n AND x < 1.5",
        "s IN ('a','b' , 'c') AND s != 'd'",
        "n in (1, 2.5)",
        "in = 5",
        "d == 1.25 AND big > 12345678901234567",
        "tiny < 100 AND wide > 99999999999",
        "st.n = 5 AND ST.S = 'x'",
        "date = 'today' AND date <= 'Ærø'",
        "n >= 5 AND n < 9",
        "f > 0.1 AND b <> false",
        "s = ''",
        "s = '--' AND s <> '/*+ x */'",
    ],
)
def test_plain_conjunctions_are_read(text: str) -> None:
    reader = PlainReader(SCHEMA)
    assert agrees(text, reader)
    assert agrees(text, reader)
    predicate = reader.predicate(text)
    assert predicate is not None
    assert predicate.forms


@pytest.mark.parametrize(
    "text",
    [
        "",
        "n > 5 OR n < 3",
        "NOT n > 5",
        "n > 5 AND",
        "n > 5 AND b",
        "n = 5 = true",
        "n > 5L",
        "n > 5e3",
        "n > 5 -- AND s = 'x'",
        "n = 5 /* x */ AND s = 'x'",
        "s = 'it''s'",
        r"s = 'it\'s'",
        's = "Oslo"',
        "s = r'Oslo'",
        "bin = X'00'",
        "day = '2024-01-01'",
        "at > DATE '2024-01-01'",
        "day = 'today'",
        "n = '5'",
        "s = 5",
        "n = 5 AND n = 6",
        "n > 1 AND n > 2 AND n > 3",
        "tiny < 1000",
        "n BETWEEN 5 AND 1",
        "n = 5.5",
        "n IN (1, '2')",
        "n BETWEEN 1 AND 2.5",
        "unknown = 5",
        "m.k = 5",
        "n >-5",
        "s = '\ud800'",
        "n > 1234567890123456789",
        "n = 5AND s = 'x'",
        "n = 5 AND(s = 'x')",
        "n\u00a0= 5",
        "n = 5 AND s = 'x'x",
        "null = 5",
        "x in (1, 2.5)",
    ],
)
def test_anything_else_is_left_to_the_parser(text: str) -> None:
    assert not agrees(text, PlainReader(SCHEMA))


_COLUMNS = st.sampled_from(
    ["n", "tiny", "wide", "x", "f", "d", "big", "s", "b", "day", "at", "st.n", "st.s", "m.k", "N", "true"]
)
_CONSTANTS = st.one_of(
    st.integers(-200, 200).map(str),
    st.sampled_from(["127", "128", "-129", "2147483648", "9223372036854775807", "999999999999999999", "1.005", "-0.0"]),
    st.decimals(-1000, 1000, places=2, allow_nan=False).map(str),
    st.text("abÆ%_ -", max_size=3).map(lambda text: f"'{text}'"),
    st.sampled_from(["true", "FALSE", "NULL", "5L", "1e3", "'today'", "'2024-01-01'"]),
)
_TERMS = st.one_of(
    st.tuples(_COLUMNS, st.sampled_from(["=", " = ", "==", "<", "<= ", ">", " >=", "<>", " != ", "<=>"]), _CONSTANTS),
    st.tuples(_COLUMNS, st.just(" BETWEEN "), _CONSTANTS, st.just(" AND "), _CONSTANTS),
    st.tuples(_COLUMNS, st.just(" IN ("), st.lists(_CONSTANTS, min_size=1, max_size=4).map(", ".join), st.just(")")),
    st.tuples(_CONSTANTS, st.just(" < "), _COLUMNS),
).map("".join)


@given(st.lists(_TERMS, min_size=1, max_size=4), st.sampled_from([" AND ", " and\n", " AND NOT ", " OR ", "AND"]))
@example(["n=-5", "n <-5"], " AND ")
def test_what_is_read_is_what_the_parser_reads(terms: list[str], between: str) -> None:
    agrees(between.join(terms))


@given(st.text("ns=<>!'- AND10.,()IBETWEN\n", max_size=40))
def test_no_text_is_read_otherwise(text: str) -> None:
    agrees(text)


def test_a_workload_of_subscribers_is_read_whole() -> None:
    workload = mixed_workload(2_000)
    schema = Schema.from_arrow(workload.schema())
    reader = PlainReader(schema)
    for text in workload.texts():
        found = reader.predicate(text)
        assert found is not None
        assert found == normalise(text, schema)


def test_letters_that_are_not_those_of_the_words_are_none_of_them() -> None:
    reader = PlainReader(SCHEMA)
    for known, other in (("s IN ('x')", "s \u0130N ('x')"), ("n = 5 AND x = 1.5", "n = 5 \u00c1ND x = 1.5")):
        assert agrees(known, reader)
        assert not agrees(other, reader)
    assert agrees("b = false", reader)
    assert not agrees("b = fal\u017fe", reader)


def test_what_a_reader_holds_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asc.predicate.normal_form.plain_reader._FORMS_MAX", 8)
    reader = PlainReader(SCHEMA)
    for column in ("n", "N", "wide", "WIDE", "Wide", "x", "X"):
        for operator in ("=", "<", ">"):
            assert agrees(f"{column} {operator} 5", reader)
    assert len(reader._learnt) <= 8


def test_limits_hold() -> None:
    assert PlainReader(SCHEMA, Limits(length_chars=10)).predicate("n = 5 AND x = 1.5") is None
    assert PlainReader(SCHEMA, Limits(nesting_depth=2)).predicate("n = 5") is None
