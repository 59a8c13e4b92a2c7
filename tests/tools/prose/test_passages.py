"""Sentences of Markdown and of docstrings: what is prose, and where a sentence ends."""

from __future__ import annotations

import pytest

from tools.prose.passages import CODE, sentences


def texts(markdown: str, *, indent_is_code: bool = False) -> list[str]:
    return [sentence.text for sentence in sentences(markdown, indent_is_code=indent_is_code)]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("One. Two? Three! Four", ["One.", "Two?", "Three!", "Four"]),
        ("One, e.g. `a`. Two.", [f"One, e.g. {CODE}.", "Two."]),
        ("Version 1.2 runs. `a b c` is code.", ["Version 1.2 runs.", f"{CODE} is code."]),
        ("See [this page](a/b.md#c), and ![a picture](x.png)", ["See this page, and", "a picture"]),
        ("# Head\nText\n- item\n  of two lines\n- other", ["Head", "Text", "item\nof two lines", "other"]),
        ("| a b | `c | d` |\n|---|---|\n| e. F | g |", ["a b", CODE, "e.", "F", "g"]),
        ("Before.\n```sh\nasc serve. Not prose\n```\nAfter.", ["Before.", "After."]),
        ("Before.\n~~~~\n```\nx\n~~~~\nAfter.", ["Before.", "After."]),
        ("<!-- not. Prose -->\n<b>Bold</b> and **bold**", ["Bold and bold"]),
        ("At https://example.org/a.b?c or so.", [f"At {CODE} or so."]),
    ],
)
def test_sentences_of_markdown(markdown: str, expected: list[str]) -> None:
    assert texts(markdown) == expected


def test_docstrings_have_examples_and_indented_blocks_that_are_no_prose() -> None:
    text = "Return it.\n\n>>> f(1)  # Not prose. At all\n2\n\nForm::\n\n    a. B\n\nLast."
    assert texts(text, indent_is_code=True) == ["Return it.", "Form::", "Last."]


def test_a_sentence_knows_its_line_and_its_words() -> None:
    first, second = sentences("\nOne\ntwo - `a b`. Three\nfour.", 10)
    assert (first.line, first.words) == (11, 3)
    assert (second.line, second.words, second.line_of(second.text.index("four"))) == (12, 2, 13)
