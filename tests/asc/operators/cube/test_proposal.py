"""Proposals as text and as JSON."""

from __future__ import annotations

from asc.operators.cube.proposal import Proposal, ViewChange
from asc.operators.cube.view import View

ADDED = ViewChange(View((1, 0), 24), "origin at 1d", True, 96.2, 41_200.4)
REMOVED = ViewChange(View((0, 0), 1), "() at 1h", False, 1.0, -1.2)


def test_a_proposal_has_a_line_for_each_change_and_its_cost() -> None:
    proposal = Proposal((ADDED.view,), (ADDED, REMOVED), 50_000.0, 8_800.0)
    assert (proposal.additions, proposal.removals) == ((ADDED,), (REMOVED,))
    assert proposal.lines() == [
        "+ origin at 1d: 96 cells, saves 41,200 cells an hour",
        "- () at 1h: 1 cell, its removal costs 1 cell an hour",
        "the best views found cost 8,800 cells an hour, the stored ones 50,000 cells an hour",
    ]
    assert proposal.plain() == {
        "changes": [
            {"view": "origin at 1d", "change": "add", "cells": 96, "saved_cells_an_hour": 41_200},
            {"view": "() at 1h", "change": "remove", "cells": 1, "saved_cells_an_hour": -1},
        ],
        "cells_an_hour": 50_000,
        "best_cells_an_hour": 8_800,
    }


def test_without_a_change_the_line_says_so() -> None:
    proposal = Proposal((), (), 100.0, 95.0)
    assert proposal.lines() == [
        "no change: the best views found cost 95 cells an hour, the stored ones 100 cells an hour"
    ]
