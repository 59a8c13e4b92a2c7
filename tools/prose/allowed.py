"""The list of exceptions: findings that are permitted, each with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from broker.toml_text import parse_toml
from tools.prose.errors import ProseError
from tools.prose.finding import RULES, Finding

ALLOWED_FILE = Path(__file__).with_name("allowed.toml")


@dataclass(frozen=True, slots=True)
class Exemption:
    """An exception to a rule. In files whose paths match the pattern ``path``, it permits the findings of ``rule``
    whose text contains ``words``. ``reason``: why the findings are permitted.
    """

    path: str
    rule: str
    words: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Return whether the exception covers a finding."""
        return finding.rule == self.rule and self.words in finding.text and fnmatchcase(finding.path, self.path)


def read_exemptions(path: Path = ALLOWED_FILE) -> list[Exemption]:
    """Return the exceptions in a file. Raise ProseError if an exception has no reason."""
    try:
        rows = parse_toml(path.read_text(encoding="utf-8")).get("allowed", [])
        exemptions = [Exemption(**row) for row in rows]
    except (OSError, ValueError, TypeError) as error:
        raise ProseError("list of exceptions", str(path), f"write path, rule, words and reason ({error})") from None
    for exemption in exemptions:
        if exemption.rule not in RULES or not exemption.reason:
            raise ProseError("exception", exemption.path, f"name a rule ({', '.join(RULES)}) and give a reason")
    return exemptions


def without_allowed(findings: Sequence[Finding], exemptions: Sequence[Exemption]) -> list[Finding]:
    """Return the findings that no exception covers."""
    return [finding for finding in findings if not any(exemption.covers(finding) for exemption in exemptions)]
