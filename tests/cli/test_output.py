"""Tables and JSON as they are printed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.visible_text import visible
from cli.output import counted, print_json, print_table, table_text


def test_cells_in_words() -> None:
    row = [True, False, 1234567, "two\n lines\t", 0.5, None]
    text = table_text(["a", "b", "c", "d", "e", "f"], [row])
    assert [cell.strip() for cell in text.splitlines()[1].split("  ")] == ["yes", "no", "1,234,567", "two lines", "0.5"]


def test_no_cell_is_obeyed_by_a_terminal() -> None:
    row = ["\x1b[2J", "\u202egnp.exe", "می\u200cخواهم", "Zürich 🚀"]
    assert table_text(list("abcd"), [row]).splitlines()[1].split("  ") == [
        "·[2J",
        "·gnp.exe",
        "می\u200cخواهم",
        "Zürich 🚀",
    ]


def test_no_json_is_obeyed_by_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"\x9b2J\x7f": ["\u202egnp.exe", "\U000e0001\u2028\x1b[2J\n", "ad\u200dmin", "می\u200cخواهم Zürich 🚀"]}
    print_json(value)
    printed = capsys.readouterr().out
    assert json.loads(printed) == value
    assert visible(printed, "\n") == printed
    assert "می\u200cخواهم Zürich 🚀" in printed


def test_only_columns_of_numbers_alone_stand_right() -> None:
    lines = table_text(["n", "mixed"], [[1, 20], [1000, None]]).splitlines()
    assert lines == ["    n  mixed", "    1  20", "1,000"]


def test_without_rows_there_are_headings() -> None:
    assert table_text(["query", "rows"], []) == "query  rows"


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(max_size=8), st.integers()), max_size=4), st.integers(1, 30))
def test_no_line_is_wider_than_asked_and_a_cut_is_seen(rows: list[tuple[str, int]], width: int) -> None:
    whole, cut = (table_text(["name", "n"], rows, limit).split("\n") for limit in (None, width))
    assert len(whole) == len(cut) == 1 + len(rows)
    for line, shown in zip(whole, cut, strict=True):
        assert len(shown) <= width
        assert shown == line if len(line) <= width else shown.endswith("…") and line.startswith(shown[:-1])


def test_what_goes_to_no_terminal_is_not_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    print_table(["where"], [["delay > 60 " * 20]], fitted=True)
    assert len(capsys.readouterr().out.splitlines()[1]) > 200


def test_json_keeps_every_letter(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"dest": "Zürich 🚀", "n": None})
    printed = capsys.readouterr().out
    assert "Zürich 🚀" in printed
    assert json.loads(printed) == {"dest": "Zürich 🚀", "n": None}


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [(0, "row", "0 rows"), (1, "query", "1 query"), (1_000_000, "query", "1,000,000 queries")],
)
def test_a_number_of_things(number: int, noun: str, said: str) -> None:
    assert counted(number, noun) == said
