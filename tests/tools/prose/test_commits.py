"""Subjects of commits since a commit or the tag of a release."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tools.prose.commits import commit_findings, subject_findings


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("docs: name the windows", []),
        ("cli, layer_file: bound the length of a line", []),
        ("Cells are written", ["no 'area: imperative': 'Cells are written'"]),
        ("docs: pages", ["no verb after the area: 'docs: pages'"]),
        (f"docs: name {'x' * 62}", [f"73 characters: 'docs: name {'x' * 62}'"]),
    ],
)
def test_a_subject_is_an_area_and_an_imperative_in_72_characters(subject: str, said: list[str]) -> None:
    assert [finding.text for finding in subject_findings("1a2b", subject)] == said


def test_commits_after_the_named_one_and_after_the_last_tag(tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}

    def git(*words: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        command = ["git", *identity, *words]
        return subprocess.run(command, cwd=tmp_path, check=True, env=clean, capture_output=True, text=True).stdout

    def texts() -> list[str]:
        return [finding.text for finding in commit_findings(tmp_path, first)]

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "Old form")
    first = git("rev-parse", "HEAD").strip()
    assert texts() == []
    git("commit", "-q", "--allow-empty", "-m", "New form")
    assert texts() == ["no 'area: imperative': 'New form'"]
    git("tag", "v0.2.0")
    assert texts() == []
    assert [finding.text for finding in commit_findings(tmp_path, "absent")] == []


def test_a_folder_without_git_has_no_commits(tmp_path: Path) -> None:
    assert list(commit_findings(tmp_path, "HEAD~1")) == []
