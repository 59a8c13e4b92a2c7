"""The rules for one sentence, and for the first word of a docstring."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tools.prose.finding import Finding, beginning
from tools.prose.passages import CODE, Sentence
from tools.prose.terms import BANNED

MOST_WORDS = 30
VERBS_FILE = Path(__file__).with_name("verbs.txt")
_CLAUSE = re.compile(
    r"[\"'(]*(?:What|Whatever|Who|Whoever|Whose|Which|Whichever|That which|How|Where|Wherever"
    r"|(?:Those|One) (?:that|who|whose|which)|(?:Of|By|For|From|In|On|To|With) (?:what|whatever|which|whom|whose))\b"
)
_FIRST_WORD = re.compile(r"[A-Za-z]+")


def sentence_findings(path: str, sentence: Sentence) -> Iterator[Finding]:
    """Yield the violations of the rules about length, terms and relative clauses in a sentence.

    >>> [finding.rule for finding in sentence_findings("a.md", Sentence(1, "What is left stands here."))]
    ['term', 'clause']
    """
    if sentence.words > MOST_WORDS:
        yield Finding(path, sentence.line, "long", f"{sentence.words} words: '{_shown(sentence)}'")
    text = sentence.text.replace("\n", " ")
    small = text.lower()
    for banned in BANNED:
        for match in banned.places(text, small):
            yield Finding(path, sentence.line_of(match.start()), "term", f"'{match[0]}': write {banned.term}")
    if _CLAUSE.match(sentence.text) and not sentence.text.rstrip("\"')").endswith("?"):
        yield Finding(path, sentence.line, "clause", f"begins with a relative clause: '{_shown(sentence)}'")


def docstring_findings(path: str, line: int, docstring: str) -> Iterator[Finding]:
    """Yield a finding if a function's docstring does not begin with a verb in the imperative."""
    if not is_imperative(docstring):
        yield Finding(path, line, "imperative", f"'{beginning(docstring)}'")


def _shown(sentence: Sentence) -> str:
    return beginning(sentence.text.replace(CODE, "`...`"))


def is_imperative(text: str) -> bool:
    """Return True if a text begins with a verb of the file ``verbs.txt``.

    >>> is_imperative("Return the page."), is_imperative("Returns the page."), is_imperative("The page.")
    (True, False, False)
    """
    word = _FIRST_WORD.match(text.strip())
    return word is not None and word[0].lower() in verbs()


@cache
def verbs() -> frozenset[str]:
    """Return the verbs that a docstring or the subject of a commit may begin with."""
    return frozenset(VERBS_FILE.read_text(encoding="utf-8").split())
