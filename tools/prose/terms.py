"""Banned words: those of the house, each with the standard term. Patterns meet the sense that is banned, not English.

Words of the glossary's last column that plain English needs in another sense (filter, row, rule, event, update, index)
have no pattern: no pattern tells the senses apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Banned:
    """A pattern, and the term to write in its place."""

    pattern: re.Pattern[str]
    term: str


def _banned(pattern: str, term: str) -> Banned:
    return Banned(re.compile(pattern, re.IGNORECASE), term)


BANNED = (
    _banned(r"\b(?:re)?told\b(?! apart)", "reported, known, received"),
    _banned(r"\b(?:stands?|stood)\b(?! (?:for|in for|by|out)\b)", "is, is stored, is registered"),
    _banned(r"\brooms?\b", "capacity, buffer, limit"),
    _banned(r"\bbegun\b", "started, initial"),
    _banned(r"(?<!look )(?<!look-)(?<!write-)(?<!read-)\bahead\b", "prefetched, in advance"),
    _banned(r"\bleft out\b", "excluded"),
    _banned(r"\b(?:way along|way of an? (?:tuple|record)|(?:tuple|record)'s way)\b", "path, sequence"),
    _banned(r"\bf[ae]lls? (?:out|by|at)\b", "eliminated"),
    _banned(r"\bjudg(?:e|es|ed|ing|e?ments?)\b", "validate (a definition), evaluate (a record)"),
    _banned(r"\b(?:takes?|has|have|waits? for|gives? up) (?:its|the|a|their) turns?\b", "lead, leadership, slot"),
    _banned(r"\boutput topics?\b", "destination topic"),
    _banned(r"\bshards?\b", "part"),
    _banned(r"\b(?:time|feed|pane) buckets?\b", "pane, part"),
    _banned(r"\bactive quer(?:y|ies)\b", "served query"),
    _banned(r"\band (?:its|their) kin\b", "and similar"),
    _banned(r"\bdelivery books?\b|\bthe books\b", "the delivery ledger"),
    _banned(r"\brehears(?:al|e|es|ed)\b", "warm-up"),
    _banned(r"\bbatch(?:es)? (?:is|are|was|were) retried\b|\bretr(?:y|ies) of (?:a|the) batch\b", "replay"),
    _banned(r"\bsettings of (?:an|the) operator\b", "definition of the operator"),
    _banned(r"\bvert(?:ex|ices) of (?:the lattice|a cube|the cube)\b", "cuboid"),
)

ANY_BANNED = re.compile("|".join(banned.pattern.pattern for banned in BANNED), re.IGNORECASE)
"""A pattern that is met where any of them is: most sentences meet none."""
