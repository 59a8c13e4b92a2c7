"""Traces as plain values."""

from __future__ import annotations

import json

from asc.evaluation.trace import EliminatedConjunct, Eliminations, JudgedConjunct, Term, Verdict, plain, shortened


def test_a_verdict_as_json() -> None:
    term = Term("delay > 30", "delay = 5", False)
    verdict = Verdict("late", False, "not accepted", (JudgedConjunct(False, (term,), "construct", 2),), 0)
    assert json.loads(json.dumps(plain(verdict))) == {
        "query": "late",
        "accepted": False,
        "reason": "not accepted",
        "conjuncts": [
            {
                "holds": False,
                "terms": [{"constraint": "delay > 30", "value": "delay = 5", "holds": False}],
                "eliminated_by": "construct",
                "eliminated_at": 2,
            }
        ],
        "block": 0,
    }


def test_records_are_values() -> None:
    assert Eliminations(1, 1, (EliminatedConjunct("late", 1, "delay > 30"),)) == Eliminations(
        1, 1, (EliminatedConjunct("late", 1, "delay > 30"),)
    )


def test_a_text_is_cut_to_a_length() -> None:
    assert shortened("é" * 300) == "é" * 300
    assert shortened("é" * 301) == "é" * 299 + "…"
