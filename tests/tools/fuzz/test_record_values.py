"""The values are of every kind: records, what is left of them, and what never was one."""

from __future__ import annotations

import contextlib
import json
import random

import pytest

from tools.fuzz.record_values import batch_of

COLUMNS = ("n", "s")


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_seed_makes_the_same_values_of_every_kind(kind: str) -> None:
    made = batch_of(random.Random(1), kind, COLUMNS, "|", 400)
    assert made == batch_of(random.Random(1), kind, COLUMNS, "|", 400)
    texts = [value for value in made if value is not None]
    assert len(texts) < len(made)
    assert b"" in texts
    assert max(map(len, texts)) > 20_000
    assert any(b"|" in text for text in texts)


def test_many_are_objects_and_many_are_not() -> None:
    whole = 0
    for value in batch_of(random.Random(2), "json", COLUMNS, ",", 400):
        with contextlib.suppress(ValueError, RecursionError):
            whole += isinstance(json.loads(value or b""), dict)
    assert 20 < whole < 380
