"""Generated log lines, and queries for lines that contain certain words."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

DDL = "message STRING, level INT"

_WORDS = 20_000
_WORDS_A_LINE = 12
_LEVELS = 5
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvwz", "aeiou"


@dataclass(frozen=True, slots=True)
class LineQuery:
    """A query that accepts log lines with a text fragment. If ``fragments`` has two fragments, a line must contain
    both, the second anywhere after the first.

    If ``not_in`` is not None, a line must not contain this word. The level of a line must be from ``low`` to ``high``,
    both inclusive.
    """

    fragments: tuple[str, ...]
    not_in: str | None
    low: int
    high: int

    @property
    def where(self) -> str:
        """The query as a predicate over ``DDL``."""
        terms = [f"message LIKE '%{'%'.join(self.fragments)}%'"]
        if self.not_in is not None:
            terms.append(f"NOT message LIKE '%{self.not_in}%'")
        if (self.low, self.high) != (1, _LEVELS):
            terms.append(f"level BETWEEN {self.low} AND {self.high}")
        return " AND ".join(terms)


def log_lines(rows: int, seed: int = 1) -> pa.Table:
    """Draw lines of twelve words with a Zipf distribution: the n-th word of the vocabulary occurs 1 / n times as often
    as the first.
    """
    rng = random.Random(seed)
    messages = [" ".join(words) for words in _lines(rng, rows)]
    return pa.table({"message": messages, "level": pa.array([rng.randint(1, _LEVELS) for _ in messages], pa.int32())})


def line_queries(queries: int, seed: int = 2) -> list[LineQuery]:
    """Draw queries for words of lines that have the same distribution as :func:`log_lines`. About seven in ten queries
    also constrain the level.

    Of ten queries, five require two adjacent words. Three require two words in this order, with any text between them.
    Two require two adjacent words and the absence of a third word.
    """
    rng = random.Random(seed)
    drawn = []
    for words in _lines(rng, queries):
        place = rng.randrange(_WORDS_A_LINE - 2)
        kind = rng.random()
        pair = f"{words[place]} {words[place + 1]}"
        fragments = (words[place], words[place + 2]) if 0.5 <= kind < 0.8 else (pair,)
        not_in = rng.choice(_vocabulary()) if kind >= 0.8 else None
        low = rng.choice((1, rng.randint(1, _LEVELS)))
        drawn.append(LineQuery(fragments, not_in, low, rng.choice((_LEVELS, max(low, 3)))))
    return drawn


def _lines(rng: random.Random, lines: int) -> Iterator[Sequence[str]]:
    words = _vocabulary()
    popularity = [1 / (place + 1) for place in range(len(words))]
    drawn = rng.choices(words, popularity, k=lines * _WORDS_A_LINE)
    return (drawn[start : start + _WORDS_A_LINE] for start in range(0, len(drawn), _WORDS_A_LINE))


@lru_cache(maxsize=1)
def _vocabulary() -> tuple[str, ...]:
    """Return distinct words of two to four syllables. The words are the same for all seeds."""
    rng = random.Random(0)
    found: dict[str, None] = {}
    while len(found) < _WORDS:
        syllables = (rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(rng.randint(2, 4)))
        found["".join(syllables)] = None
    return tuple(found)
