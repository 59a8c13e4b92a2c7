"""The page on troubleshooting and the errors of the code, each against the other."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.test_errors import classes

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for name in ("asc", "broker", "cli") for path in (ROOT / name).rglob("*.py"))

WITHOUT_ENTRY = {
    "ConfigFaultsError": "is several errors of the configuration, which have entries",
    "DiagnosisError": "is a line of the log, after the entry for the failed batch",
    "SchemaAnswerError": "becomes the reason of dead letters, which has an entry",
}
"""The classes of errors for which no message is found, each with the reason."""


def messages() -> list[str]:
    page = (ROOT / "docs" / "operate" / "troubleshooting.md").read_text(encoding="utf-8")
    tables = re.findall(r"^\| (?:message|message of a trace|reason) \|.*?\n\n", page, re.MULTILINE | re.DOTALL)
    cells = re.findall(r"^\| (`[^|]+`) \|", "".join(tables), re.MULTILINE)
    return [message for cell in cells for message in re.findall(r"`([^`]+)`", cell)]


def test_every_message_of_the_page_is_one_of_the_code() -> None:
    assert len(messages()) > 140
    code = "\n".join(path.read_text("utf-8") for path in SOURCES)
    parts = {part.strip() for message in messages() for part in message.split("...")}
    assert sorted(part for part in parts if part.strip(" ,:") not in code) == []


def test_every_class_of_errors_has_a_message_on_the_page() -> None:
    kinds = {kind.__name__ for kind in classes()}
    raised = defaultdict(list)
    for path in SOURCES:
        for name, text in raised_errors(ast.parse(path.read_text("utf-8"))):
            if name in kinds:
                raised[name].append(text)
    assert len(raised) > 45
    without = {name for name, texts in raised.items() if not any(map(has_entry, texts))}
    assert without == set(WITHOUT_ENTRY), {name: raised[name] for name in without ^ set(WITHOUT_ENTRY)}


def raised_errors(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each call of an error with subject, value and remedy: its class, and the texts that it is made of."""
    named: dict[str, list[str]] = defaultdict(list)
    for node in ast.walk(module):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    named[target.id] += texts_in(node.value)
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and len(node.args) >= 3:
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if re.fullmatch(r"[A-Z]\w+Error", name):
                names = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
                yield name, "\n".join([*texts_in(node), *(text for each in names for text in named[each])])


def texts_in(node: ast.AST) -> list[str]:
    return [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def has_entry(text: str) -> bool:
    """Return whether a message of the page is in the texts of an error: all of its parts between ``...``."""
    return any(all(part.strip() in text for part in message.split("...")) for message in messages())
