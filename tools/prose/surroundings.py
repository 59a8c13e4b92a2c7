"""The surroundings of a text on a page: the headings and the table row or list in which a reader sees it.

The surroundings of each text contain the page's title and the headings above the text. For a table cell they also
contain its row, and for a list item the sentence that introduces the list.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.prose.passages import Passage, Sentence, passages, shown_sentences


@dataclass(frozen=True, slots=True)
class PlacedPassage:
    """A passage, its sentences, and its surroundings, one line for each kind of surroundings."""

    passage: Passage
    sentences: tuple[Sentence, ...]
    surroundings: tuple[str, ...]


def placed_passages(markdown: str) -> Iterator[PlacedPassage]:
    r"""Yield the passages of a page in order.

    >>> page = "# Page\n\n## Part\n\nIt is red if:\n\n- it is hot\n\n| a | b |\n|---|---|\n| c | d |"
    >>> [(placed.sentences[0].text, *placed.surroundings) for placed in placed_passages(page)][3:6]
    [('it is hot', 'Page > Part', 'It is red if:'), ('a', 'Page > Part', 'a; b'), ('b', 'Page > Part', 'a; b')]
    """
    found = list(passages(markdown))
    rows = _rows(found)
    above: dict[int, str] = {}
    lists = _Lists()
    for passage in found:
        sentences = tuple(shown_sentences(passage))
        if passage.form == "heading":
            above = {level: text for level, text in above.items() if level < passage.depth}
        headings = " > ".join(above.values())
        if passage.form == "heading":
            above[passage.depth] = _text(passage)
        near = rows[passage.line] if passage.form == "cell" else lists.introduction(passage, sentences)
        yield PlacedPassage(passage, sentences, tuple(line for line in (headings, near) if line))


@dataclass(slots=True)
class _Lists:
    """The sentences that may introduce the next list item. They come from the paragraph before the list, and from the
    list items that enclose the next item.
    """

    open: list[tuple[int, str]] = field(default_factory=list)

    def introduction(self, passage: Passage, sentences: tuple[Sentence, ...]) -> str:
        """Process the next passage of the page. If the passage is a list item, return the sentence that introduces the
        item. Otherwise, return an empty text.
        """
        last = " ".join(sentences[-1].text.split()) if sentences else ""
        if passage.form == "item":
            self.open = [(depth, text) for depth, text in self.open if depth < passage.depth]
            introduction = self.open[-1][1] if self.open else ""
            self.open.append((passage.depth, last))
            return introduction
        if passage.form == "heading":
            self.open = []
        elif passage.form == "paragraph" and not passage.depth:
            self.open = [(-1, last)]
        return ""


def _rows(found: list[Passage]) -> dict[int, str]:
    """Return the text of each table row, by line number. Before the text of each cell is the title of its column, from
    the table's first row.
    """
    cells: dict[int, dict[int, str]] = {}
    for passage in found:
        if passage.form == "cell":
            cells.setdefault(passage.line, {})[passage.depth] = _text(passage)
    rows: dict[int, str] = {}
    header, last = 0, -2
    for line, row in cells.items():
        # A delimiter line separates the header row from the second row, so their line numbers differ by 2.
        if line - last > (2 if header == last else 1):
            header = line
        titles = {} if header == line else cells[header]
        rows[line] = "; ".join(
            f"{titles[column]}: {cell}" if column in titles else cell for column, cell in row.items()
        )
        last = line
    return rows


def _text(passage: Passage) -> str:
    return " ".join(" ".join(sentence.text for sentence in shown_sentences(passage)).split())
