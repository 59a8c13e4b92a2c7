"""The table of a cube's rows."""

from __future__ import annotations

from decimal import Decimal

import pytest

from cli.operators.cube.rows import print_rows


def test_null_the_empty_text_and_a_missing_value_differ(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([{"group": {"a": None, "b": ""}, "n": 1}, {"group": {"a": "x"}, "n": None}])
    assert capsys.readouterr().out == 'a     b   n\nNULL  ""  1\nx         NULL\n'


def test_a_long_text_pads_no_other_row(capsys: pytest.CaptureFixture[str]) -> None:
    name, most = "concat(a, '" + "b" * 9_000 + "')", 10**38
    groups: list[str | None] = ["x" * 4_096, "y" * 60, "z" * 61, "\x1b" * 4_096, None]
    print_rows([{"pane": "2013-07-10T00:00:00Z", "group": {name: text}, "n": most} for text in groups])
    lines = capsys.readouterr().out.splitlines()
    # A control character is spelled with several.
    assert max(map(len, lines)) < 500
    assert lines[0].split()[1].startswith("concat(a,")
    assert "y" * 60 + " " in lines[2]
    assert "z" * 59 + "… " in lines[3]
    assert "z" * 60 not in lines[3]
    assert {line.split()[-1] for line in lines[1:]} == {f"{most:,}"}


def test_a_number_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([{"group": {"d": str(Decimal("1." + "1" * 37))}, "n": 10**37}])
    assert capsys.readouterr().out.splitlines()[1].split() == ["1." + "1" * 37, f"{10**37:,}"]


def test_a_day_has_begin_and_end(capsys: pytest.CaptureFixture[str]) -> None:
    begin, end = "2013-03-10T05:00:00Z", "2013-03-11T04:00:00Z"
    print_rows([{"pane": begin, "window": [begin, end], "group": {"k": "a"}, "n": 7}])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["pane", "to", "k", "n"], [begin, end, "a", "7"]]


def test_without_rows_there_is_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([])
    assert capsys.readouterr().out == ""


def test_an_answer_with_bounds_has_columns_for_them(capsys: pytest.CaptureFixture[str]) -> None:
    distinct = {"estimate": 100.2, "low": 99.0, "high": 103.0, "confidence": 0.95}
    middle = {"estimate": 78.1, "low": 77.5, "high": 79.0, "confidence": 0.99, "rank_error": 0.0133}
    print_rows([{"group": {"k": "a"}, "d": distinct, "q": middle}, {"group": {"k": "b"}, "d": None, "q": None}])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["k", "d", "low", "high", "q", "+-", "rank"]
    assert lines[1].split() == ["a", "100.2", "99.0", "103.0", "78.1", "0.0133"]
    assert lines[2].split() == ["b", "NULL", "NULL"]


def test_an_object_and_a_list_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    items = [{"item": "/a", "estimate": 12, "low": 11, "high": 12}]
    print_rows([{"group": {"k": "a"}, "f": items, "s": {"count": 2}}])
    lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    assert [cell.strip() for cell in lines[1] if cell] == ["a", '"/a": 12', '{"count": 2}']
