"""The design records, and the documents beside them: whole, listed, and true of the places that they name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "design"
RECORDS = sorted(FOLDER.glob("[0-9]*.md"))
SECTIONS = ["Status", "Context", "Decision", "Rejected", "Evidence"]
WORDS_MAX = 250
SENTENCE_WORDS_MAX = 30

CITING = [*RECORDS, FOLDER / "README.md"]
PATH = re.compile(r"`((?:asc|bench|broker|cli|deploy|docs|monitor|tests|tools|workloads)/[\w./-]+)`")
HOLDING = re.compile(r"`(?:tests|bench|tools)/[\w./-]+\.py`")


def sections_of(record: Path) -> dict[str, str]:
    parts = re.split(r"^## (.+)\n", record.read_text("utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def sentences_of(text: str) -> list[str]:
    r"""The sentences of a text, a span of code counting one word.

    >>> sentences_of("It is `a b`. So\n\nbe it: done")
    ['It is x.', 'So', 'be it:', 'done']
    """
    return [found for found in re.split(r"(?<=[.:;?!])\s+|\n+", re.sub(r"`[^`]*`", "x", text)) if found]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_a_record_is_whole_and_short(record: Path) -> None:
    found = sections_of(record)
    assert list(found) == SECTIONS
    assert all(text.strip() for text in found.values())
    assert HOLDING.search(found["Evidence"]), "no test or benchmark holds it"
    text = " ".join(found[name] for name in ("Context", "Decision", "Rejected"))
    assert len(text.split()) <= WORDS_MAX
    assert [own for own in sentences_of(text) if len(own.split()) > SENTENCE_WORDS_MAX] == []


@pytest.mark.parametrize("page", CITING, ids=lambda page: page.stem)
def test_every_path_that_a_page_cites_is_there(page: Path) -> None:
    cited = PATH.findall(page.read_text("utf-8"))
    assert [path for path in cited if not (ROOT / path).exists()] == []


def test_every_record_is_in_the_index_under_its_area_and_in_the_navigation() -> None:
    index = (FOLDER / "README.md").read_text("utf-8")
    listed: dict[str, str] = {}
    for area, table in re.findall(r"^## (.+)\n([^#]*)", index, re.MULTILINE):
        for number, title, name in re.findall(r"^\| (\d{3}) \| \[(.+)\]\((.+\.md)\) \|$", table, re.MULTILINE):
            record = (FOLDER / name).read_text("utf-8")
            assert name.startswith(f"{number}-")
            assert record.startswith(f"# {title}\n")
            assert f"area: {area.lower()}." in record.lower()
            listed[name] = number
    names = [record.name for record in RECORDS]
    assert sorted(listed) == names
    assert len(set(listed.values())) == len(names)
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert re.findall(r"- design/(\d.+\.md)$", navigation, re.MULTILINE) == names
