"""What is tried of an installed wheel, over the environment that runs the tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cli.version import version_of
from tools.release.empty_environment import try_installed
from tools.release.errors import ReleaseError


@pytest.mark.nightly
def test_what_is_installed_is_tried(tmp_path: Path) -> None:
    try_installed(Path(sys.executable), tmp_path, version_of("asc-broker"))
    assert (tmp_path / "work" / "flights.ddl").read_text("utf-8").strip()


def test_another_version_is_told(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"output of asc version '.*': has no '0\.0\.7'"):
        try_installed(Path(sys.executable), tmp_path, "0.0.7")


def test_a_command_that_fails_is_told_with_its_last_line(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "asc").write_text("#!/bin/sh\necho first >&2\necho last >&2\nexit 3\n", encoding="utf-8")
    (tmp_path / "asc").chmod(0o755)
    with pytest.raises(ReleaseError, match=r"command .*asc --help': ended with 3: last"):
        try_installed(tmp_path / "python", tmp_path, "0.1.0")
