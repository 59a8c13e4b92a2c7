"""The imports between packages, read from the source code."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from tools.pictures.graph import Edge, Graph

_INIT = "__init__.py"


def imports_in(root: Path) -> Sequence[Edge]:
    """Return a pair for each import in a repository's packages: the importing module and the imported module. Imports
    that only the type checker uses are included.

    Tests do not count as a package. The import ``from a import b`` has the imported module ``a.b``, even if ``b`` is a
    function or class.
    """
    edges: list[Edge] = []
    for package in _packages(root):
        for path in sorted((root / package).rglob("*.py")):
            module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    edges += ((module, alias.name) for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
                    edges += ((module, f"{node.module}.{alias.name}") for alias in node.names)
    return edges


def top_packages(root: Path, imports: Sequence[Edge]) -> Graph:
    """Return the graph of a repository's packages, with an edge from each package to each package that it imports."""
    found = ((importer.split(".")[0], imported.split(".")[0]) for importer, imported in imports)
    return Graph.of(_packages(root), found)


def subpackages(root: Path, package: str, imports: Sequence[Edge]) -> Graph:
    """Return the graph of a package's subpackages, with an edge from each subpackage to each subpackage that it
    imports.

    An import through a module of the package counts as well. The package's own ``__init__`` is excluded, because it
    names the public functions of all subpackages.
    """
    folder = root / package
    names = [f"{package}.{path.parent.name}" for path in folder.glob(f"*/{_INIT}")]
    modules = [f"{package}.{path.stem}" for path in folder.glob("*.py") if path.name != _INIT]
    found = ((_unit(importer), _unit(imported)) for importer, imported in imports)
    short = {name: name.removeprefix(f"{package}.") for name in names}
    graph = Graph.of([*names, *modules], found).within(names)
    return Graph.of(short.values(), ((short[a], short[b]) for a, b in graph.edges))


def _packages(root: Path) -> list[str]:
    return sorted(path.parent.name for path in root.glob(f"*/{_INIT}") if path.parent.name != "tests")


def _unit(module: str) -> str:
    return ".".join(module.split(".")[:2])
