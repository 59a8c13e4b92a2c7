"""The texts are of every kind: many are predicates, many are not, and plain ones are among them."""

from __future__ import annotations

from asc.predicate import normalise
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.schema import Schema
from tools.fuzz.parser import ParserTarget, decoded, outcome
from tools.fuzz.predicate_texts import DDL, seeds, tokens
from tools.fuzz.trials import generate_round


def test_texts_are_read_and_refused() -> None:
    schema = Schema.from_ddl(DDL)
    made: list[str] = []
    generate_round(ParserTarget(), lambda given: made.append(decoded(given)), inputs=300, seed=4)
    read = sum(isinstance(outcome(text, schema), Predicate) for text in made)
    assert len(made) // 20 < read < len(made)
    assert max(map(len, made)) > 1_000


def test_the_same_seed_makes_the_same_texts() -> None:
    made: list[list[bytes]] = [[], []]
    for found in made:
        generate_round(ParserTarget(), found.append, inputs=50, seed=5)
    assert made[0] == made[1]


def test_tokens_and_seeds() -> None:
    assert len(tokens()) == len(set(tokens())) > 300
    assert normalise(seeds()[0], Schema.from_ddl(DDL))
