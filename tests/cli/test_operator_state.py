"""State of an operator, in tables of the command line."""

from __future__ import annotations

from cli.operator_state import kept_rows
from cli.query.list_text import list_text


def test_a_long_list_is_cut_and_says_so() -> None:
    rows = kept_rows({"gaps": [{"reason": str(number)} for number in range(22)]})
    assert rows[0] == ["kept.gaps", "reason 0"]
    assert rows[20:] == [["kept.gaps", "... and 2 more, with --json"]]
    assert kept_rows({"gaps": []}) == [["kept.gaps", "none"]]


def test_figures_are_columns_where_operators_are_listed() -> None:
    common = {"stream": "s", "topic": "t", "paused": False, "where": "n > 1"}
    queries = [{**common, "id": "a", "kept": {"cells": 1_200, "whole": True}}, {**common, "id": "b", "kept": None}]
    lines = list_text(queries, None, operators=True).splitlines()
    assert lines[0].split() == [
        "id",
        "stream",
        "topic",
        "state",
        "accepted",
        "labels",
        "cells",
        "whole",
        "operator",
        "where",
    ]
    assert lines[1].split()[5:7] == ["1,200", "yes"]
    assert "cells" not in list_text(queries, None)
