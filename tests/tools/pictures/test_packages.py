"""The picture of the packages: that of the repository is the one that its source gives."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools.pictures.packages import PICTURE, ROOT, main, picture


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("images") / "packages.svg"
    assert main(["--out", str(file)]) == 0
    return file.read_text("utf-8")


def test_the_committed_picture_is_that_of_the_source(drawn: str) -> None:
    remedy = "an import between packages came or went: python -m tools.pictures.packages, and commit the picture"
    assert PICTURE.read_text("utf-8") == drawn, remedy


def test_it_has_every_package_of_the_broker(drawn: str) -> None:
    shown = {element.text for element in ElementTree.fromstring(drawn).iter() if element.tag.endswith("text")}
    assert {path.parent.name for path in (ROOT / "broker").glob("*/__init__.py")} <= shown
    assert {"asc", "monitor", "broker", "cli", "workloads", "bench", "tools"} <= shown


def test_an_import_is_an_arrow(tmp_path: Path) -> None:
    for name in ("asc", "broker", "cli"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    without = picture(tmp_path)
    (tmp_path / "cli" / "main.py").write_text("import broker\n", encoding="utf-8")
    assert len(re.findall('class="tip"', picture(tmp_path))) == len(re.findall('class="tip"', without)) + 1
