"""The plain reader reads what the parser reads: some seconds of what ``make fuzz`` does for minutes."""

from __future__ import annotations

import json

import pytest

from tools.fuzz.reader import ReaderTarget
from tools.fuzz.target import Violation
from tools.fuzz.trials import generate_round


def test_made_loads_are_read_as_by_the_parser() -> None:
    with ReaderTarget() as target:
        # Of some seeds few are of a form that is read.
        for seed in range(3):
            generate_round(target, target.check, inputs=60, seed=seed)
        assert target.read > 30


def test_another_reading_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    target = ReaderTarget()
    load = json.dumps(["n < 5", "n < 7"]).encode()
    target.check(load)
    # Once the form is learnt, nothing but the comparison with the parser tells that it is read otherwise.
    monkeypatch.setattr("asc.predicate.normal_form.plain_reader._point", lambda key: ((key, 1), (key, 1)))
    with pytest.raises(Violation, match="by the parser as"):
        target.check(json.dumps(["n < 9"]).encode())
