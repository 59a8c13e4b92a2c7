"""Subjects of commits, as git has them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tools.prose.finding import Finding
from tools.prose.rules import is_imperative

MOST_SUBJECT_CHARS = 72
SINCE = "b51641a9"
"""The commit after which the form of subjects holds, until a release has a tag."""
_SUBJECT = re.compile(r"(?:[a-z][a-z0-9_.-]*)(?:, [a-z][a-z0-9_.-]*)*: (?P<rest>\S.*)")


def commit_findings(root: Path, since: str) -> Iterator[Finding]:
    """Yield the subjects at fault of the commits after ``since``, or after a later tag of a release.

    A tree without git, or whose history does not reach as far, has none.
    """
    tag = _git(root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
    begin = tag.strip() if tag else since
    log = _git(root, "log", "--no-merges", "--format=%h %s", f"{begin}..HEAD")
    for line in (log or "").splitlines():
        commit, _, subject = line.partition(" ")
        yield from subject_findings(commit, subject)


def subject_findings(commit: str, subject: str) -> Iterator[Finding]:
    """Yield what is wrong with the subject of a commit.

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
    """Return what a command of git prints; None where it fails."""
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
