"""The report of the audit: the licences, the vulnerabilities, and the findings that forbid a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from tools.audit.component import FILE, Component, everything
from tools.audit.osv import Found, Vulnerability, key
from tools.audit.policy import Policy


@dataclass(frozen=True, slots=True)
class Finding:
    """A known vulnerability of a component. ``why``: the reason for which the policy permits a release with it. If
    ``why`` is None, the vulnerability forbids a release, and ``missing`` says what would permit one.
    """

    component: Component
    vulnerability: Vulnerability
    why: str | None
    missing: str = ""

    def __str__(self) -> str:
        return f"{self.component}: {self.vulnerability}: {self.why or self.missing}"


def licence_lines(components: Sequence[Component]) -> list[str]:
    """Return a line for each licence with its number of packages and jars, the most frequent first."""
    counted = Counter(component.licence or "not known" for component in everything(components))
    return [
        f"{count:6,}  {licence}" for licence, count in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    ]


def refusals(components: Sequence[Component], policy: Policy) -> list[str]:
    """Return a line for each licence that is unknown or not permitted."""
    return [line for component in everything(components) if (line := policy.refusal(component))]


def findings(components: Sequence[Component], found: Found, policy: Policy, today: date) -> list[Finding]:
    """Return every known vulnerability of every component and part, with the decision on it."""
    return [
        _finding(component, vulnerability, policy, today)
        for component in everything(components)
        for vulnerability in found.get(key(component), ())
    ]


def unknown_parts(components: Sequence[Component]) -> list[Component]:
    """Return the components that belong to no registry, so that their vulnerabilities cannot be looked up."""
    return [component for component in everything(components) if component.ecosystem == FILE]


def _finding(component: Component, vulnerability: Vulnerability, policy: Policy, today: date) -> Finding:
    judged = policy.judgement(vulnerability.names, component)
    if judged is None:
        return Finding(component, vulnerability, None, "not judged: update it, or judge it in tools/audit/policy.toml")
    if judged.until < today:
        return Finding(component, vulnerability, None, f"judged until {judged.until} alone: judge it again")
    return Finding(component, vulnerability, f"judged until {judged.until}: {judged.reason}")
