"""The check of the subjects of commits against the rules of prose."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tools.prose.finding import Finding
from tools.prose.rules import is_imperative

MOST_SUBJECT_CHARS = 72
SINCE = "b51641a9"
"""The commit after which the subjects of commits must have the required form. It is used until a release has a tag.
From then on, the commits after the last tag are checked.
"""
_SUBJECT = re.compile(r"(?:[a-z][a-z0-9_.-]*)(?:, [a-z][a-z0-9_.-]*)*: (?P<rest>\S.*)")


def commit_findings(root: Path, since: str) -> Iterator[Finding]:
    """Yield the findings in the subjects of the commits after the last tag of a release. If no release has a tag, check
    the commits after ``since``.

    There are no findings if the tree has no git repository, or if its history does not contain ``since``.
    """
    tag = _git(root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
    begin = tag.strip() if tag else since
    log = _git(root, "log", "--no-merges", "--format=%h %s", f"{begin}..HEAD")
    for line in (log or "").splitlines():
        commit, _, subject = line.partition(" ")
        yield from subject_findings(commit, subject)


def subject_findings(commit: str, subject: str) -> Iterator[Finding]:
    """Yield the findings in the subject of a commit.

    >>> [finding.text for finding in subject_findings("1a2b", "docs: pages that are plain")]
    ["no verb after the area: 'docs: pages that are plain'"]
    """
    parts = _SUBJECT.fullmatch(subject)
    if parts is None:
        yield Finding(commit, 1, "commit", f"no 'area: imperative': '{subject}'")
    elif not is_imperative(parts["rest"]):
        yield Finding(commit, 1, "commit", f"no verb after the area: '{subject}'")
    if len(subject) > MOST_SUBJECT_CHARS:
        yield Finding(commit, 1, "commit", f"{len(subject)} characters: '{subject}'")


def _git(root: Path, *words: str) -> str | None:
    """Return the output of a git command. Return None if the command fails."""
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
