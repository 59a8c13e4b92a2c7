"""The table of kinds, and the definitions that records and the API have."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

import broker
from broker.config.sections import LimitsConfig
from broker.errors import QueryError
from broker.operators.events.definition import EventsDefinition
from broker.operators.kinds import OPERATORS, ROUTE, daemon_parts, definition_of, kind_of
from broker.operators.near.definition import NearDefinition

ROOT = Path(broker.__file__).parents[1]
KNOWN = f"known are {', '.join((ROUTE, *OPERATORS))}$"
NEAR = {"name": "near", "key": "k", "distance_m": 5, "window_s": 30, "every_s": 10}


def test_a_definition_is_of_the_kind_of_its_name() -> None:
    assert definition_of({"name": "events", "key": "k"}) == EventsDefinition("k")
    assert definition_of(NEAR) == NearDefinition("k", 5, 30, 10)
    assert kind_of(NearDefinition("k", 5, 30, 10)).name == "near"
    assert definition_of({"name": "route"}) is None


def test_an_operator_without_a_name_is_refused() -> None:
    for plain in ({"key": "k"}, {**NEAR, "name": None}):
        with pytest.raises(QueryError, match=f"operator: has no name: {KNOWN}"):
            definition_of(plain)


@pytest.mark.parametrize("name", ["", "cubes", 7, ["near"]])
def test_a_kind_that_is_not_known_is_refused(name: object) -> None:
    with pytest.raises(QueryError, match=f"is not known: {KNOWN}"):
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


def test_only_kinds_with_a_part_for_the_daemon_give_one() -> None:
    # Without any cluster, because creating a part opens no connection.
    parts = daemon_parts(cast(Any, None))
    assert set(parts) < set(OPERATORS)
    assert all(type(part).__module__.startswith(f"broker.operators.{name}.") for name, part in parts.items())
    for part in parts.values():
        part.close()


OF_A_KIND = re.compile(
    rf"(broker(/http(/console)?)?|asc|cli)/operators/(?P<kind>{'|'.join(OPERATORS)})(/|\.py|_\w+\.py)"
)
"""The modules of a kind."""

OTHERS = re.compile(r"broker/operators/kinds\.py|cli/demo/")
"""The table of kinds, and demos. These are users: what they compare are outputs."""


@dataclass
class Mentions:
    """The parts of a module that can name a kind: each with its line. ``tested``: the classes that a value is tested
    for.
    """

    place: str
    imports: list[tuple[int, str]] = field(default_factory=list)
    compared: list[tuple[int, str]] = field(default_factory=list)
    tested: list[tuple[int, str]] = field(default_factory=list)
    texts: list[tuple[int, str]] = field(default_factory=list)

    @classmethod
    def of(cls, place: str, source: str) -> Mentions:
        mentions = cls(place)
        for node in ast.walk(ast.parse(source)):
            mentions._note(node)
        return mentions

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            self.imports += [(node.lineno, each.name) for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            # What is imported may be a module as well: from broker.operators import near.
            assert not node.level, f"{self.place}:{node.lineno}: a relative import"
            self.imports += [(node.lineno, f"{node.module}.{each.name}") for each in node.names]
        elif isinstance(node, ast.Compare):
            sides = [side.value for side in (node.left, *node.comparators) if isinstance(side, ast.Constant)]
            self.compared += [(node.lineno, side) for side in sides if isinstance(side, str)]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            self.tested += [(node.lineno, each) for each in _class_names(node.args[1])]
        elif isinstance(node, ast.MatchClass):
            self.tested += [(node.lineno, each) for each in _class_names(node.cls)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.texts.append((node.lineno, node.value))

    def of_kind(self, name: str) -> list[str]:
        """Return the mentions of a kind."""
        imported = re.compile(rf"((asc|broker|cli)|broker\.http(\.console)?)\.operators\.{name}(\.|_|$)")
        definition = OPERATORS[name].definition.__name__
        found = [f"{self.place}:{line} imports {module}" for line, module in self.imports if imported.match(module)]
        found += [f"{self.place}:{line} compares with {name!r}" for line, side in self.compared if side == name]
        found += [f"{self.place}:{line} tests for {own}" for line, own in self.tested if own == definition]
        for line, text in self.texts:
            found += [f"{self.place}:{line} says {said!r}" for said in _names_in(text, name, self.place)]
            found += [f"{self.place}:{line} loads {text!r}"] * bool(imported.match(text))
        return found


def _class_names(node: ast.expr) -> list[str]:
    """The names in the class, tuple or union of classes that a value is tested for."""
    found = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    return [*found, *(each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute))]


@pytest.fixture(scope="module")
def modules() -> dict[str, Mentions]:
    """The modules of the product, by their places."""
    paths = [path for package in ("asc", "broker", "monitor", "cli") for path in (ROOT / package).rglob("*.py")]
    places = {str(path.relative_to(ROOT)): path for path in paths}
    return {place: Mentions.of(place, path.read_text("utf-8")) for place, path in places.items()}


@pytest.mark.parametrize("name", OPERATORS)
def test_no_shared_module_knows_a_kind(name: str, modules: dict[str, Mentions]) -> None:
    """A kind is imported, tested for, or its name compared or said, in its own packages and in the table alone."""
    shared = [own for place, own in modules.items() if not OF_A_KIND.match(place) and not OTHERS.match(place)]
    assert [found for own in shared if own.place not in ALLOWED for found in own.of_kind(name)] == []


def reached(modules: dict[str, Mentions], package: str) -> set[str]:
    """The places of the modules that those of a package import, directly or not."""
    known = {place.removesuffix(".py").removesuffix("/__init__").replace("/", "."): place for place in modules}
    found = {place for place in modules if place.startswith(f"{package}/")}
    pending = list(found)
    while pending:
        for _, name in modules[pending.pop()].imports:
            # What a module has is imported by its name as well.
            place = known.get(name) or known.get(name.rpartition(".")[0])
            if place is not None and place not in found:
                found.add(place)
                pending.append(place)
    return found


@pytest.mark.parametrize("package", [f"{layer}/operators/{name}" for layer in ("asc", "broker") for name in OPERATORS])
def test_the_packages_of_two_kinds_do_not_import_each_other(package: str, modules: dict[str, Mentions]) -> None:
    others = {
        place
        for place in reached(modules, package)
        if (own := OF_A_KIND.match(place)) and not package.endswith(f"/{own['kind']}")
    }
    assert others == set()


def test_an_import_by_way_of_another_module_is_found() -> None:
    imports = {
        "broker/operators/near/kind.py": "import broker.shared",
        "broker/shared.py": "from asc import x",
        "asc/x.py": "",
    }
    modules = {place: Mentions.of(place, source) for place, source in imports.items()}
    assert reached(modules, "broker/operators/near") == set(imports)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("from broker.operators.near.kind import NEAR", "imports broker.operators.near.kind.NEAR"),
        ("from broker.operators import near", "imports broker.operators.near"),
        ("import asc.operators.near.ticks as own", "imports asc.operators.near.ticks"),
        ("import json, cli.operators.near", "imports cli.operators.near"),
        ("from cli.operators.near import near", "imports cli.operators.near.near"),
        ("from broker.http.operators import near_metrics", "imports broker.http.operators.near_metrics"),
        ("import broker.http.console.operators.near", "imports broker.http.console.operators.near"),
        ('import_module("asc.operators.near.ticks")', "loads 'asc.operators.near.ticks'"),
        ("own = isinstance(it, NearDefinition)", "tests for NearDefinition"),
        ("own = isinstance(it, (str, definition.NearDefinition))", "tests for NearDefinition"),
        ("own = issubclass(it, str | NearDefinition)", "tests for NearDefinition"),
        ("match it:\n    case NearDefinition(): pass", "tests for NearDefinition"),
        ('own = it == "near"', "compares with 'near'"),
        ('own = {"near": 1}', "says 'near'"),
    ],
)
def test_each_way_to_know_a_kind_is_found(line: str, said: str) -> None:
    (found, *_) = Mentions.of("broker/stream/job.py", line).of_kind("near")
    assert found.partition(" ")[2] == said
    assert Mentions.of("broker/stream/job.py", line).of_kind("dbscan") == []


@pytest.mark.parametrize(
    "line", ["from broker.operators.kinds import OPERATORS", "import asc.operators.feed", "own = isinstance(it, str)"]
)
def test_what_all_kinds_share_is_no_kind(line: str) -> None:
    assert [Mentions.of("broker/stream/job.py", line).of_kind(name) for name in OPERATORS] == [[]] * len(OPERATORS)


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
