"""The design records, and the documents beside them: whole, listed, and true of the places that they name."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "design"
RECORDS = sorted(FOLDER.glob("[0-9]*.md"))
SECTIONS = ["Status", "Context", "Decision", "Rejected", "Evidence"]
WORDS_MAX = 250
SENTENCE_WORDS_MAX = 30

ARCHITECTURE = ROOT / "ARCHITECTURE.md"
GLOSSARY = ROOT / "docs" / "glossary.md"
ARCHITECTURE_LINES_MAX = 300

CITING = [*RECORDS, FOLDER / "README.md", ARCHITECTURE, GLOSSARY]
PATH = re.compile(r"`((?:asc|bench|broker|cli|deploy|docs|monitor|tests|tools|workloads)/[\w./-]+)`")
PLACE = re.compile(r"`([\w/]+\.py)::([\w.]+)`")
"""A function, class or method, as ``path.py::Class.method``."""
RECORD_LINK = re.compile(r"\[(?:record )?(\d{3})\]\((?:docs/|\.\./)?(?:design/)?(\d{3})-[\w-]+\.md\)")
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


def names_in(source: str) -> set[str]:
    r"""The functions, classes, methods and names of a module.

    >>> sorted(names_in("FEW = 4\nclass A:\n    def b(self): ..."))
    ['A', 'A.b', 'FEW']
    """
    found: set[str] = set()

    def walk(body: list[ast.stmt], above: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(f"{above}{node.name}")
                walk(node.body if isinstance(node, ast.ClassDef) else [], f"{above}{node.name}.")
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.update(f"{above}{target.id}" for target in targets if isinstance(target, ast.Name))

    walk(ast.parse(source).body, "")
    return found


@pytest.mark.parametrize("page", [ARCHITECTURE, GLOSSARY], ids=lambda page: page.stem)
def test_every_place_that_is_looked_up_is_in_its_module(page: Path) -> None:
    places = PLACE.findall(page.read_text("utf-8"))
    assert len(places) > 10
    assert [(path, name) for path, name in places if name not in names_in((ROOT / path).read_text("utf-8"))] == []


@pytest.mark.parametrize("page", [ARCHITECTURE, GLOSSARY], ids=lambda page: page.stem)
def test_a_link_named_by_a_number_leads_to_that_record(page: Path) -> None:
    links = RECORD_LINK.findall(page.read_text("utf-8"))
    assert len(links) > 3
    assert [link for link in links if link[0] != link[1]] == []


def test_the_architecture_is_short_and_has_every_folder() -> None:
    text = ARCHITECTURE.read_text("utf-8")
    assert len(text.splitlines()) <= ARCHITECTURE_LINES_MAX
    table = text.partition("## Folders")[2]
    roots = [ROOT / name for name in ("asc", "bench", "broker", "cli", "monitor", "tools", "workloads")]
    folders = [*roots, *(path for root in roots for path in root.iterdir() if (path / "__init__.py").exists())]
    named = {f"`{path.relative_to(ROOT)}/`" for path in folders} - {"`cli/operators/`"}
    assert sorted(name for name in named if name not in table) == []
