"""``python -m tools.prose.sample``: draw docstrings, sentences, headings and subjects of commits for readers to rate.

Each text is printed with its location, for a reader who knows Kafka, Spark and SQL but not this project. A seed makes
the draw repeatable.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.prose.commits import SINCE
from tools.prose.docstrings import docstrings
from tools.prose.passages import CODE, sentences
from tools.prose.tree import checked_files

ROOT = Path(__file__).parents[2]
NUMBERS = {"docstring": 20, "sentence": 20, "heading": 10, "commit": 10}
"""Texts of each kind in a draw."""
_WORDS_MIN = 5
"""Cells of tables and items of lists with fewer words are no sentences."""
_HEADING = re.compile(r"^#{1,6}\s+(.*)$", re.MULTILINE)
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_EXAMPLES = """examples:
  python -m tools.prose.sample --seed 20261127
  python -m tools.prose.sample --seed 1 --since v0.1.0     commits since a release
"""


@dataclass(frozen=True, slots=True, order=True)
class Text:
    """A text to rate: its kind, its location, and its words."""

    kind: str
    place: str
    words: str


def texts(root: Path, since: str) -> Iterator[Text]:
    """Yield all texts of a tree, and the subjects of its commits after ``since``."""
    for file in checked_files(root):
        path, content = file.relative_to(root).as_posix(), file.read_text("utf-8")
        if file.suffix == ".py":
            for docstring in docstrings(path, content):
                yield Text("docstring", f"{path}:{docstring.line}", docstring.text.split("\n\n")[0])
            continue
        for sentence in sentences(content):
            if sentence.words >= _WORDS_MIN:
                yield Text("sentence", f"{path}:{sentence.line}", sentence.text.replace(CODE, "`...`"))
        for heading in _HEADING.finditer(_FENCED.sub("", content)):
            yield Text("heading", path, heading[1])
    command = ["git", "log", "--no-merges", "--format=%h %s", f"{since}..HEAD"]
    log = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout
    for line in log.splitlines():
        commit, _, subject = line.partition(" ")
        yield Text("commit", commit, subject)


def drawn(candidates: Sequence[Text], seed: int) -> list[Text]:
    """Return a draw: of each kind its number of texts, or all where there are fewer.

    >>> some = [Text("heading", f"{number}.md", str(number // 2)) for number in range(60)]
    >>> len(drawn(some, 1)), drawn(some, 1) == drawn(some, 1)
    (10, True)
    """
    picks = random.Random(seed)
    found: list[Text] = []
    for kind, number in NUMBERS.items():
        # Headings of forms, as those of design records, count once.
        own = sorted({(text.kind, text.words): text for text in sorted(candidates) if text.kind == kind}.values())
        found += picks.sample(own, min(number, len(own)))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a draw with numbers, and give the exit code."""
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
        print(f"{number}. [{text.kind}, {text.place}]\n   {' '.join(text.words.split())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
