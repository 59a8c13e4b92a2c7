"""``python -m tools.prose.sample``: draw docstrings, sentences, headings and subjects of commits for readers to rate.

Each text is printed with its location and with what a reader sees around it: the signature that a docstring
documents, the headings above a sentence. The reader knows Kafka, Spark and SQL but not this project. A seed makes the
draw repeatable.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.prose.commits import SINCE
from tools.prose.docstrings import docstrings
from tools.prose.signatures import signatures
from tools.prose.surroundings import placed_passages
from tools.prose.tree import checked_files

ROOT = Path(__file__).parents[2]
NUMBERS = {"docstring": 20, "sentence": 20, "heading": 10, "commit": 10}
"""The number of texts of each kind in a draw."""
_WORDS_MIN = 5
"""The least number of words of a sentence; shorter cells of tables and items of lists are not drawn."""
_GENERATED = frozenset({"docs/cli.md"})
"""The pages that are generated from docstrings. Their sentences are not drawn, because the docstrings themselves are
drawn.
"""
_FORM_HEADINGS = frozenset(
    {"Status", "Context", "Decision", "Rejected", "Evidence"}
    | {"Unreleased", "Added", "Breaking", "Changed", "Deprecated", "Fixed", "Removed", "Security"}
)
"""The headings that the forms of design records and of the changelog prescribe. They are not drawn."""
_EXAMPLES = """examples:
  python -m tools.prose.sample --seed 20261127
  python -m tools.prose.sample --seed 1 --since v0.1.0     commits since a release
"""


@dataclass(frozen=True, slots=True, order=True)
class Text:
    """A text to rate: its kind, its location, its words, and the lines that a reader sees around it."""

    kind: str
    place: str
    words: str
    surroundings: tuple[str, ...] = ()


def texts(root: Path, since: str) -> Iterator[Text]:
    """Yield all texts of a tree, and the subjects of its commits after ``since``."""
    for file in checked_files(root):
        path, content = file.relative_to(root).as_posix(), file.read_text("utf-8")
        if file.suffix == ".py":
            yield from _docstrings(path, content)
        elif path not in _GENERATED:
            yield from _page(path, content)
    yield from _commits(root, since)


def _docstrings(path: str, content: str) -> Iterator[Text]:
    code = signatures(path, content)
    for docstring in docstrings(path, content):
        words = docstring.text.split("\n\n")[0]
        yield Text("docstring", f"{path}:{docstring.line}", words, (code[docstring.line],))


def _page(path: str, content: str) -> Iterator[Text]:
    """Yield the sentences and the headings of a page."""
    for placed in placed_passages(content):
        if placed.passage.form == "heading":
            words = " ".join(sentence.text for sentence in placed.sentences)
            if words not in _FORM_HEADINGS:
                yield Text("heading", f"{path}:{placed.passage.line}", words, placed.surroundings)
            continue
        for sentence in placed.sentences:
            if len(sentence.text.split()) >= _WORDS_MIN:
                yield Text("sentence", f"{path}:{sentence.line}", sentence.text, placed.surroundings)


def _commits(root: Path, since: str) -> Iterator[Text]:
    """Yield the subjects of commits, each with the top folders and files that the commit changes."""
    command = ["git", "log", "--no-merges", "--name-only", "--format=%x00%h %s", f"{since}..HEAD"]
    log = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout
    for entry in log.split("\0")[1:]:
        first, *paths = entry.splitlines()
        commit, _, subject = first.partition(" ")
        folders = sorted({path.partition("/")[0] for path in paths if path})
        yield Text("commit", commit, subject, (f"changes {', '.join(folders)}",) if folders else ())


def drawn(candidates: Sequence[Text], seed: int) -> list[Text]:
    """Return a random draw of texts. It has the number of texts of each kind that NUMBERS states, or all texts of a
    kind if there are fewer.

    >>> some = [Text("heading", f"{number}.md", str(number // 2)) for number in range(60)]
    >>> len(drawn(some, 1)), drawn(some, 1) == drawn(some, 1)
    (10, True)
    """
    picks = random.Random(seed)
    found: list[Text] = []
    for kind, number in NUMBERS.items():
        # A text that several pages contain counts once.
        of_kind = sorted({text.words: text for text in sorted(candidates) if text.kind == kind}.values())
        found += picks.sample(of_kind, min(number, len(of_kind)))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a draw with numbers, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.prose.sample",
        description="Draw texts for readers to judge: are they understood at the first reading?",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, required=True, help="seed of the draw")
    parser.add_argument(
        "--since", default=SINCE, metavar="COMMIT", help="draw commits after this (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    for number, text in enumerate(drawn(list(texts(ROOT, options.since)), options.seed), 1):
        print(f"{number}. [{text.kind}, {text.place}]")
        for line in text.surroundings:
            print(f"   | {line}")
        print(f"   {' '.join(text.words.split())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
