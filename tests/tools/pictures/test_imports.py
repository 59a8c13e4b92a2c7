"""Imports as the source has them."""

from __future__ import annotations

from graphlib import CycleError
from pathlib import Path

import pytest

from tools.pictures.imports import imports_in, subpackages, top_packages


def write(root: Path, **modules: str) -> None:
    """Write modules, with a dot as two underscores in their names."""
    for name, text in modules.items():
        path = root.joinpath(*name.split("__")).with_suffix(".py")
        for folder in [*path.relative_to(root).parents][:-1]:
            (root / folder).mkdir(parents=True, exist_ok=True)
            (root / folder / "__init__.py").touch()
        path.write_text(text, encoding="utf-8")


def test_imports_of_all_forms_count(tmp_path: Path) -> None:
    write(tmp_path, a__one="import b.two\nimport json", b__two="def load():\n    from c import three", c__three="")
    assert top_packages(tmp_path, imports_in(tmp_path)).edges == {("a", "b"), ("b", "c")}


def test_tests_are_no_package(tmp_path: Path) -> None:
    write(tmp_path, a__one="", tests__test_one="from a import one")
    assert top_packages(tmp_path, imports_in(tmp_path)).names == ("a",)


def test_an_import_for_the_type_checker_counts(tmp_path: Path) -> None:
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a.y.two import Two"
    write(tmp_path, a__x__one=text, a__y__two="")
    assert subpackages(tmp_path, "a", imports_in(tmp_path)).edges == {("x", "y")}


def test_an_import_through_a_module_counts_and_the_module_is_not_shown(tmp_path: Path) -> None:
    write(tmp_path, a__x__one="from a import between", a__between="from a.y import two", a__y__two="")
    found = subpackages(tmp_path, "a", imports_in(tmp_path))
    assert (found.names, found.edges) == (("x", "y"), {("x", "y")})


def test_packages_that_import_each_other_are_refused(tmp_path: Path) -> None:
    write(tmp_path, a__x__one="import a.y.two", a__y__two="import a.x.one")
    with pytest.raises(CycleError):
        subpackages(tmp_path, "a", imports_in(tmp_path))
