"""Each rule of a sentence and of a docstring, kept and broken once."""

from __future__ import annotations

import pytest

from tools.prose.passages import sentences
from tools.prose.rules import docstring_findings, sentence_findings, verbs


def rules(markdown: str) -> list[str]:
    return [finding.rule for sentence in sentences(markdown) for finding in sentence_findings("a.md", sentence)]


def test_a_sentence_of_thirty_words_is_the_longest() -> None:
    assert rules(f"A{' word' * 29}.") == []
    assert rules(f"A{' word' * 30}.") == ["long"]
    assert rules(f"A{' word' * 28} `of code and more`.") == []
    assert rules(f"A{' word' * 28} [one](two words)." + " Another.") == []


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("What is left is written.", ["clause"]),
        ("Who holds it answers.", ["clause"]),
        ("Those that fail are parked.", ["clause"]),
        ("## What arrives", ["clause"]),
        ("## How Spark searches", ["clause"]),
        ("Where it was faster, it stays.", ["clause"]),
        ("Whatever it is, it is written.", ["clause"]),
        ("One that ends is replaced.", ["clause"]),
        ("Of what is left, all is written.", ["clause"]),
        ("How is it written?", []),
        ("However, it is written.", []),
        ("One is written.", []),
        ("What is written?", []),
        ("Whatsoever it is.", []),
        ("It says what is left.", []),
    ],
)
def test_no_sentence_begins_with_a_relative_clause(markdown: str, expected: list[str]) -> None:
    assert rules(markdown) == expected


def test_a_finding_of_a_word_names_its_line_and_the_term() -> None:
    (sentence,) = sentences("A\nbatch is left\nout.")
    (finding,) = sentence_findings("a.md", sentence)
    assert str(finding) == "a.md:2: term: 'left out': write excluded"


@pytest.mark.parametrize(("text", "count"), [("Return it.", 0), ("Returns it.", 1), ("The page.", 1), ("``a`` is.", 1)])
def test_the_docstring_of_a_function_begins_with_a_verb(text: str, count: int) -> None:
    assert len(list(docstring_findings("a.py", 1, text))) == count


def test_the_list_of_verbs_has_no_other_form_of_one() -> None:
    assert not {"the", "returns", "returning", "what", "whether"} & verbs()
