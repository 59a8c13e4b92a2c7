"""Banned words: each pattern meets its own sense, and leaves plain English alone."""

from __future__ import annotations

import pytest

from tools.prose.terms import BANNED

JARGON = [
    "The caller is told the reason.",
    "A line stands in the log.",
    "There is no room for it.",
    "An inquiry has begun.",
    "Pages are asked for ahead.",
    "Late records are left out.",
    "Its way along the constructs.",
    "The query fell out.",
    "A predicate is judged.",
    "It waits for its turn.",
    "The output topic of a query.",
    "One shard of the feed.",
    "A time bucket of a cube.",
    "All active queries.",
    "`LIKE` and its kin.",
    "It writes the books.",
    "A rehearsal of the standby.",
    "The batch is retried.",
    "The settings of an operator.",
    "A vertex of the lattice.",
    "A thread of its own.",
    "The found are sorted.",
]
PLAIN = [
    "Nobody can be told apart.",
    "NULL stands for a value; a standby takes over; a standing query.",
    "A look ahead in a pattern, and a write-ahead log.",
    "Leave the table out.",
    "One way to do it.",
    "It falls below the mark.",
    "In turn, each takes a page.",
    "A request is retried.",
    "A vertex of a polygon.",
    "It is of its own class, and failed by no fault of its own.",
    "All found pairs, and each was found.",
]


def found(text: str) -> list[str]:
    return [banned.term for banned in BANNED if list(banned.places(text, text.lower()))]


@pytest.mark.parametrize("text", JARGON)
def test_a_word_of_the_house_has_a_standard_term(text: str) -> None:
    assert len(found(text)) == 1


def test_every_pattern_is_met_once() -> None:
    assert sorted(term for text in JARGON for term in found(text)) == sorted(banned.term for banned in BANNED)


@pytest.mark.parametrize("text", PLAIN)
def test_plain_english_is_left_alone(text: str) -> None:
    assert found(text) == []
