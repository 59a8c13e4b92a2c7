"""A finding: one violation of one rule."""

from __future__ import annotations

from dataclasses import dataclass

RULES = {
    "long": "a sentence has at most 30 words",
    "term": "one word for each concept, that of the glossary",
    "clause": "no sentence or heading, except a question, begins with a relative clause",
    "imperative": "the docstring of a function begins with a verb in the imperative",
    "commit": "the subject of a commit is `area: imperative`, of at most 72 characters",
}
_SHOWN_CHARS = 70


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation of a rule.

    ``path``: a file below the root, or the hash of a commit. ``line``: the line of the sentence or of the banned word.
    ``text``: the reason, with the offending words.
    """

    path: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


def beginning(text: str) -> str:
    """Return a sentence in one line. If the sentence is long, return only its beginning.

    >>> beginning("It is" + chr(10) + "so.")
    'It is so.'
    """
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}..."
