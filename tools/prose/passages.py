"""Passages of a Markdown text, and their sentences.

A passage is a text that contains whole sentences: a heading, a paragraph, a list item, a cell of a table, the text of a
picture. Code blocks, comments and addresses of links are not prose. A code span counts as one word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

CODE = "\ufffc"
"""The character that replaces a code span in a passage."""

_FENCE = re.compile(r"\s*(```+|~~~+)")
_HEADING = re.compile(r"#{1,6}\s+")
_ITEM = re.compile(r"(\s*)([-*+]|\d+[.)])\s+")
_RULE = re.compile(r"\s*\|?[\s:|-]*-{3,}[\s:|-]*$")
_DOCTEST = re.compile(r"\s*>>> ")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_ADDRESS = re.compile(r"<?https?://[^\s>)]+>?")
_CELL = re.compile(r"(?<!\\)\|")
_BREAK = re.compile(rf"[.!?][\"')\]*_]*\s+(?=[\"'(\[*_]*[A-Z0-9{CODE}])")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|vs|cf|Fig)\.$")
_WORD = re.compile(rf"[\w{CODE}]")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage in Markdown, and the number of its first line."""

    line: int
    form: Literal["heading", "paragraph", "item", "cell"]
    depth: int
    """The level of a heading, the column of a cell, or the number of spaces before an item or a paragraph."""
    text: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and the number of its first line. `CODE` replaces its code spans."""

    line: int
    text: str

    @property
    def words(self) -> int:
        """The number of words: texts between spaces that contain a letter, a digit or a code span."""
        return sum(1 for word in self.text.split() if _WORD.search(word))

    def line_of(self, at: int) -> int:
        """Return the line number of a position in the sentence."""
        return self.line + self.text.count("\n", 0, at)


def sentences(markdown: str, first_line: int = 1, *, indent_is_code: bool = False) -> Iterator[Sentence]:
    r"""Yield the sentences of a text. With ``indent_is_code``, skip indented blocks and examples, as in a docstring.

    >>> [sentence.text for sentence in sentences("# Names\n\nA **bold** one. See [it](x.md).")]
    ['Names', 'A bold one.', 'See it.']
    """
    for passage in passages(markdown, first_line, indent_is_code=indent_is_code):
        yield from _split(passage.line, passage.text)


def passages(markdown: str, first_line: int = 1, *, indent_is_code: bool = False) -> Iterator[Passage]:
    r"""Yield the passages of a text. ``indent_is_code``: as for `sentences`.

    >>> [(passage.form, passage.depth, passage.text) for passage in passages("## Names\n- a *b*")]
    [('heading', 2, 'Names'), ('item', 0, 'a *b*')]
    """
    lines = _COMMENT.sub(_blank, markdown).split("\n")
    yield from _passages(_without_code(lines, indent_is_code), first_line)


def shown_sentences(passage: Passage) -> list[Sentence]:
    """Return the sentences of a passage with the code spans in place, as a reader sees them.

    >>> [sentence.text for sentence in shown_sentences(Passage(1, "item", 0, "Run `a`. See [`b`](c.md)."))]
    ['Run `a`.', 'See `b`.']
    """
    sentences = list(_split(passage.line, passage.text))
    spans = [match[0] for match in _SPAN.finditer(passage.text)]
    # Bare addresses also count as code spans, and the texts of pictures are moved to the end. The spans are then not in
    # the order of the sentences, so `...` replaces them.
    are_in_order = len(spans) == sum(sentence.text.count(CODE) for sentence in sentences) and "![" not in passage.text
    spans_left = iter(spans)
    return [
        Sentence(sentence.line, re.sub(CODE, lambda _: next(spans_left) if are_in_order else "`...`", sentence.text))
        for sentence in sentences
    ]


def _without_code(lines: Sequence[str], indent_is_code: bool) -> Iterator[str]:
    """Yield the lines of a text. Lines of code blocks are replaced by empty lines."""
    fence = ""
    is_example = is_prose = False
    for line in lines:
        mark = _FENCE.match(line)
        is_indented = indent_is_code and not is_prose and line.startswith("    ")
        is_example = indent_is_code and bool(line.strip()) and (is_example or _DOCTEST.match(line) is not None)
        is_code = bool(fence or mark) or is_indented or is_example
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        is_prose = not is_code and bool(line.strip())
        yield line if is_prose else ""


def _passages(lines: Iterable[str], first_line: int) -> Iterator[Passage]:
    form: Literal["paragraph", "item"] = "paragraph"
    held: list[str] = []
    start, depth = first_line, 0
    for number, line in enumerate(lines, first_line):
        heading, item = _HEADING.match(line), _ITEM.match(line)
        is_row = line.lstrip().startswith("|")
        if held and (heading or item or is_row or not line):
            yield Passage(start, form, depth, "\n".join(held))
            held = []
        if heading:
            yield Passage(number, "heading", heading[0].count("#"), line[heading.end() :])
        elif is_row and not _RULE.match(line):
            spans = _SPAN.sub(lambda match: match[0].replace("|", " "), line.strip().strip("|"))
            for column, cell in enumerate(_CELL.split(spans)):
                if cell.strip():
                    yield Passage(number, "cell", column, cell)
        elif line and not is_row and not _RULE.match(line):
            if not held:
                start, form = number, "item" if item else "paragraph"
                depth = len(line) - len(line.lstrip())
            held.append(line[item.end() :] if item else line.lstrip("> "))
    if held:
        yield Passage(start, form, depth, "\n".join(held))


def _split(line: int, raw: str) -> Iterator[Sentence]:
    """Yield the sentences of a passage. The sentences in the alternative texts of pictures come last."""
    text = _SPAN.sub(lambda match: CODE + _blank(match), raw)
    pictures = [match[1] for match in _PICTURE.finditer(text)]
    text = _PICTURE.sub(_blank, text)
    for _ in range(2):  # The text of a link may contain another link.
        text = _LINK.sub(lambda match: match[1] + "\n" * (match[0].count("\n") - match[1].count("\n")), text)
    text = _ADDRESS.sub(CODE, _TAG.sub("", text)).replace("*", "")
    begin = 0
    for match in _BREAK.finditer(text):
        if not _ABBREVIATION.search(text[begin : match.start() + 1]):
            yield from _sentence(line, text, begin, match.end())
            begin = match.end()
    yield from _sentence(line, text, begin, len(text))
    for picture in pictures:
        yield from _split(line, picture)


def _sentence(line: int, text: str, begin: int, end: int) -> Iterator[Sentence]:
    own = text[begin:end]
    if own.strip():
        before = len(own) - len(own.lstrip())
        yield Sentence(line + text.count("\n", 0, begin + before), own.strip())


def _blank(match: re.Match[str]) -> str:
    """Return the line ends of a matched text, without its other characters. The line numbers of the texts after the
    match then stay correct.
    """
    return "\n" * match[0].count("\n")
