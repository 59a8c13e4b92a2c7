"""Banned words of the project, each with the standard term. A pattern matches only the banned sense of a word.

Words of the glossary's last column that plain English needs in another sense (filter, row, rule, event, update, index)
have no pattern, because no pattern distinguishes the senses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Banned:
    """A pattern of a banned word, and the term to write instead. ``letters``: texts in lower case, at least one of
    which occurs in every text that matches the pattern.

    The letters are searched first, because this takes a twentieth of the time of a pattern, and most sentences contain
    none of them.
    """

    letters: tuple[str, ...]
    pattern: re.Pattern[str]
    term: str

    def places(self, text: str, small: str) -> Iterator[re.Match[str]]:
        """Yield the matches of the pattern. ``small``: the text in lower case."""
        if any(letters in small for letters in self.letters):
            yield from self.pattern.finditer(text)


def _banned(letters: str, pattern: str, term: str) -> Banned:
    return Banned(tuple(letters.split("|")), re.compile(pattern, re.IGNORECASE), term)


_NO_NOUN = r"(?=\W*$|[^\w\s]| (?:and|or|as|at|by|for|from|in|on|to|with|that|which|is|are|was|were|has|have)\b)"
"""The end of a text, a sign, or a word that is no noun."""

BANNED = (
    _banned("told", r"\b(?:re)?told\b(?! apart)", "reported, known, received"),
    _banned("stand|stood", r"\b(?:stands?|stood)\b(?! (?:for|in for|by|out)\b)", "is, is stored, is registered"),
    _banned("room", r"\brooms?\b", "capacity, buffer, limit"),
    _banned("begun", r"\bbegun\b", "started, initial"),
    _banned("ahead", r"(?<!look )(?<!look-)(?<!write-)(?<!read-)\bahead\b", "prefetched, in advance"),
    _banned("left out", r"\bleft out\b", "excluded"),
    _banned("way", r"\b(?:way along|way of an? (?:tuple|record)|(?:tuple|record)'s way)\b", "path, sequence"),
    _banned("fall|fell", r"\bf[ae]lls? (?:out|by|at)\b", "eliminated"),
    _banned("judg", r"\bjudg(?:e|es|ed|ing|e?ments?)\b", "validate (a definition), evaluate (a record)"),
    _banned("turn", r"\b(?:takes?|has|have|waits? for|gives? up) (?:its|the|a|their) turns?\b", "lead, slot"),
    _banned("output topic", r"\boutput topics?\b", "destination topic"),
    _banned("shard", r"\bshards? of (?:the|a) feed\b", "part"),
    _banned("bucket", r"\b(?:time|feed|pane) buckets?\b", "pane, part"),
    _banned("active quer", r"\bactive quer(?:y|ies)\b", "served query"),
    _banned("kin", r"\band (?:its|their) kin\b", "and similar"),
    _banned("books", r"\bdelivery books?\b|\bthe books\b", "the delivery ledger"),
    _banned("rehears", r"\brehears(?:al|e|es|ed)\b", "warm-up"),
    _banned("retr", r"\bbatch(?:es)? (?:is|are|was|were) retried\b|\bretr(?:y|ies) of (?:a|the) batch\b", "replay"),
    _banned("settings of", r"\bsettings of (?:an|the) operator\b", "definition of the operator"),
    _banned("vert", r"\bvert(?:ex|ices) of (?:the lattice|a cube|the cube)\b", "cuboid"),
    _banned("s own|r own", rf"(?<!fault )\bof (?:its|their|his|her) own\b{_NO_NOUN}", "its own, separate"),
    _banned("found", rf"\b(?:the|all|each|every|no) found\b{_NO_NOUN}", "the noun that was found"),
)
