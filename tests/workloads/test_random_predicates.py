"""Random predicates: reproducible, of every form, and allowed over the schema of the random tuples."""

from __future__ import annotations

import random

import pytest

from asc.predicate import normalise
from asc.schema import Schema
from workloads.random_predicates import hand_picked_predicates, random_atom, random_predicate, random_predicates
from workloads.random_tuples import ALL_TYPES_DDL, POOLS

SCHEMA = Schema.from_ddl(ALL_TYPES_DDL)


def test_the_same_seed_gives_the_same() -> None:
    assert random_predicates(1, 20) == random_predicates(1, 20)
    assert random_predicates(1, 20)[:5] == random_predicates(1, 5)
    assert random_predicates(1, 20) != random_predicates(2, 20)
    assert random_predicates(1, 0) == []


@pytest.mark.parametrize(("depth", "most"), [(0, 1), (1, 3), (3, 12)])
def test_there_are_no_more_atoms_than_the_depth_says(monkeypatch: pytest.MonkeyPatch, depth: int, most: int) -> None:
    monkeypatch.setattr("workloads.random_predicates.random_atom", lambda _: "atom")
    rng = random.Random(depth)
    texts = [random_predicate(rng, depth) for _ in range(5_000)]
    assert max(text.count("atom") for text in texts) == most
    assert any(text.startswith("NOT (") for text in texts) == (depth > 0)


def test_atoms_are_of_every_column_and_form() -> None:
    rng = random.Random(5)
    atoms = [random_atom(rng) for _ in range(3_000)]
    for column in POOLS:
        assert any(column in atom for atom in atoms), column
    for form in (" <=> ", " IN (", " NOT IN (", " BETWEEN ", " NOT BETWEEN ", " IS NULL", " IS NOT NULL", " LIKE "):
        assert any(form in atom for atom in atoms), form


def test_the_hand_picked_ones_stand_once_each() -> None:
    picked = hand_picked_predicates()
    assert len(set(picked)) == len(picked) > 80
    assert "n / 0 > 1" in picked


@pytest.mark.parametrize("texts", [random_predicates(7, 150), hand_picked_predicates()], ids=["random", "hand-picked"])
def test_all_are_allowed(texts: list[str]) -> None:
    for text in texts:
        assert normalise(text, SCHEMA) is not None
