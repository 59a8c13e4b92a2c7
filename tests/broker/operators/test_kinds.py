"""The table of kinds, and the definitions that records and the API have."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import broker
from broker.config.sections import LimitsConfig
from broker.errors import QueryError
from broker.operators.events.definition import EventsDefinition
from broker.operators.kinds import OPERATORS, definition_of, kind_of
from broker.operators.near.definition import NearDefinition

ROOT = Path(broker.__file__).parents[1]
NEAR = {"name": "near", "key": "k", "distance_m": 5, "window_s": 30, "every_s": 10}


def test_a_definition_is_of_the_kind_of_its_name() -> None:
    assert definition_of({"name": "events", "key": "k"}) == EventsDefinition("k")
    assert definition_of(NEAR) == NearDefinition("k", 5, 30, 10)
    assert kind_of(NearDefinition("k", 5, 30, 10)).name == "near"
    assert definition_of({"name": "route"}) is None


def test_an_operator_without_a_name_is_refused() -> None:
    for plain in ({"key": "k"}, {**NEAR, "name": None}):
        with pytest.raises(QueryError, match="operator: has no name: known are route, events, near, dbscan, cube"):
            definition_of(plain)


@pytest.mark.parametrize("name", ["", "cubes", 7, ["near"]])
def test_a_kind_that_is_not_known_is_refused(name: object) -> None:
    with pytest.raises(QueryError, match="is not known: known are route, events, near, dbscan, cube"):
        definition_of({**NEAR, "name": name})


def test_a_field_of_another_operator_is_refused() -> None:
    with pytest.raises(QueryError, match="field operator 'dwell_s': is not known: known are name, key"):
        definition_of({**NEAR, "dwell_s": 1})
    with pytest.raises(QueryError, match="field operator 'key': is not known: route has no parameters"):
        definition_of({"name": "route", "key": "k"})


@pytest.mark.parametrize("name", OPERATORS)
def test_every_kind_is_whole(name: str) -> None:
    kind = OPERATORS[name]
    assert kind.name == name == kind.definition.name
    assert kind.limits
    assert all(isinstance(getattr(LimitsConfig(), limit), int) for limit in kind.limits)
    for package in (f"asc/operators/{name}", f"broker/operators/{name}"):
        assert (ROOT / package / "__init__.py").is_file()


def shared_modules() -> list[Path]:
    """The modules of the product that are no kind's own. Demos are users: what they compare are outputs."""
    names = "|".join(OPERATORS)
    own_place = rf"(broker(/http(/console)?)?|asc|cli)/operators/({names})(/|\.py|_\w+\.py)"
    own = re.compile(rf"{own_place}|broker/operators/kinds\.py|cli/demo/")
    paths = [path for package in ("asc", "broker", "monitor", "cli") for path in (ROOT / package).rglob("*.py")]
    return [path for path in paths if not own.match(str(path.relative_to(ROOT)))]


@dataclass
class Mentions:
    """The parts of a module that can name a kind: each with its line."""

    place: str
    imports: list[tuple[int, str]] = field(default_factory=list)
    compared: list[tuple[int, str]] = field(default_factory=list)
    texts: list[tuple[int, str]] = field(default_factory=list)

    @classmethod
    def of(cls, path: Path) -> Mentions:
        mentions = cls(str(path.relative_to(ROOT)))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                mentions.imports.append((node.lineno, node.module or ""))
            elif isinstance(node, ast.Compare):
                sides = [side.value for side in (node.left, *node.comparators) if isinstance(side, ast.Constant)]
                mentions.compared += [(node.lineno, side) for side in sides if isinstance(side, str)]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                mentions.texts.append((node.lineno, node.value))
        return mentions


@pytest.fixture(scope="module")
def mentions() -> list[Mentions]:
    return [own for own in map(Mentions.of, shared_modules()) if own.place not in ALLOWED]


@pytest.mark.parametrize("name", OPERATORS)
def test_no_shared_module_knows_a_kind(name: str, mentions: list[Mentions]) -> None:
    """A kind is imported, or its name compared or said, in its own packages and in the table alone."""
    imported = re.compile(rf"(asc|broker)\.operators\.{name}(\.|$)")
    found = []
    for own in mentions:
        found += [f"{own.place}:{line} imports {module}" for line, module in own.imports if imported.match(module)]
        found += [f"{own.place}:{line} compares with {name!r}" for line, side in own.compared if side == name]
        for line, text in own.texts:
            found += [f"{own.place}:{line} says {said!r}" for said in _names_in(text, name, own.place)]
    assert found == []


def _names_in(text: str, name: str, place: str) -> list[str]:
    """The places of a literal or docstring that name a kind.

    A name is a common word as well, and the command line has examples of each kind: there the noun alone tells.
    """
    noun = rf"\b{OPERATORS[name].noun}"
    of_name = rf"\A{name}\Z|\b(?:of|operator|kind) `*{name}\b"
    is_of_feeds = place.startswith(("broker/", "asc/operators/"))
    return re.findall(f"{noun}|{of_name}" if is_of_feeds else noun, text)


def test_a_kind_in_a_text_is_found() -> None:
    said = "Records, counted once for each holder: of events the track, of near the query"
    assert _names_in(said, "near", "broker/http/metrics.py") == ["of near"]
    assert _names_in(said, "events", "broker/http/metrics.py") == ["of events"]
    assert _names_in("time for the condition of a near query", "near", "broker/queries/a.py") == ["near query"]
    assert _names_in("the edges near it", "near", "asc/spatial/cell_edges.py") == []


ALLOWED = {
    # Form 1 had no tags: what its messages are of is told by what they hold.
    "asc/operators/feed_form_1.py",
}
