"""The policy: permitted licences, exceptions, and decisions on vulnerabilities by package, each with a reason."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tools.audit.component import Component
from tools.audit.errors import AuditError
from tools.audit.licences import alternatives, from_expression

POLICY_FILE = Path(__file__).with_name("policy.toml")


@dataclass(frozen=True, slots=True)
class Ruling:
    """A licence for the packages whose `Component.key` matches a pattern, and the reason."""

    packages: tuple[str, ...]
    licence: str
    reason: str

    def concerns(self, component: Component) -> bool:
        return any(fnmatchcase(component.key, pattern) for pattern in self.packages)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A known vulnerability that does no harm here, with the reason, and the last day on which the decision holds."""

    vulnerability: str
    packages: tuple[str, ...]
    reason: str
    until: date


@dataclass(frozen=True, slots=True)
class Policy:
    """The permitted licences, the declared licences, the exceptions, the decisions on vulnerabilities, and Maven's
    groups.

    A licence is declared for a package that states none. Invariant: every licence is an SPDX expression in SPDX's own
    spelling.
    """

    allowed: frozenset[str]
    declared: tuple[Ruling, ...]
    exceptions: tuple[Ruling, ...]
    judged: tuple[Judgement, ...]
    groups: Mapping[str, str]

    def declare(self, component: Component) -> Component:
        """Return the component and its parts, with the declared licence if no source states a licence."""
        parts = tuple(self.declare(part) for part in component.parts)
        ruling = next((ruling for ruling in self.declared if ruling.concerns(component)), None)
        if component.licence is None and ruling is not None:
            return replace(component, licence=ruling.licence, licence_source="policy", parts=parts)
        return replace(component, parts=parts)

    def refusal(self, component: Component) -> str | None:
        """Return the reason, in one line, why the policy refuses the component's licence. Return None if the licence is
        permitted.
        """
        licence = component.licence
        if licence is None:
            place = f" ({component.place})" if component.place else ""
            subject = f"licence of '{component.key}' {component.version}{place}"
            return f"{subject} is not known: declare it in tools/audit/policy.toml"
        excepted = (ruling for ruling in self.exceptions if ruling.concerns(component))
        if any(ruling.licence == licence for ruling in excepted):
            return None
        if any(licences <= self.allowed for licences in alternatives(licence)):
            return None
        return f"licence '{licence}' of '{component.key}' {component.version} is not allowed: do without, or except it"

    def judgement(self, names: Sequence[str], component: Component) -> Judgement | None:
        """Return the decision on a vulnerability of this component. ``names``: all names of the vulnerability. Return
        None if there is no decision.
        """
        return next(
            (
                judged
                for judged in self.judged
                if judged.vulnerability in names
                and any(fnmatchcase(component.key, pattern) for pattern in judged.packages)
            ),
            None,
        )


def read_policy(path: Path = POLICY_FILE) -> Policy:
    """Return the policy in a file. Raises AuditError for an entry that is missing, unknown or without a reason, and for
    an invalid licence.
    """
    tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AuditError("policy", str(path), f"cannot be read ({error}): mend it") from error
    unknown = content.keys() - {"allowed", "declared", "exceptions", "judged", "groups"}
    if unknown:
        raise AuditError("key", sorted(unknown)[0], f"is not one of a policy: take it out of {path}")
    return Policy(
        allowed=frozenset(_spdx(licence, path) for licence in content.get("allowed", [])),
        declared=tuple(_ruling(table, path) for table in content.get("declared", [])),
        exceptions=tuple(_ruling(table, path) for table in content.get("exceptions", [])),
        judged=tuple(_judged(table, path) for table in content.get("judged", [])),
        groups=MappingProxyType(dict(_groups(content.get("groups", {}), path))),
    )


def _groups(table: Mapping[str, Any], path: Path) -> Iterator[tuple[str, str]]:
    for group, patterns in table.items():
        if not isinstance(patterns, list):
            raise AuditError("group", group, f"is no list of artifacts: mend {path}")
        yield from ((pattern, group) for pattern in patterns)


def _ruling(table: Mapping[str, Any], path: Path) -> Ruling:
    _check(table, {"packages": list, "licence": str, "reason": str}, path)
    return Ruling(tuple(table["packages"]), _spdx(table["licence"], path), table["reason"])


def _judged(table: Mapping[str, Any], path: Path) -> Judgement:
    _check(table, {"vulnerability": str, "packages": list, "reason": str, "until": date}, path)
    return Judgement(table["vulnerability"], tuple(table["packages"]), table["reason"], table["until"])


def _check(table: Mapping[str, Any], kinds: Mapping[str, type], path: Path) -> None:
    """Raise AuditError if the keys of a TOML table differ from the keys of ``kinds``, if a value has another type than
    ``kinds`` states, or if a value is empty.
    """
    for key, kind in kinds.items():
        if not isinstance(table.get(key), kind) or not table[key]:
            raise AuditError("table", dict(table), f"'{key}' is missing, empty or no {kind.__name__}: mend {path}")
    if unknown := table.keys() - kinds.keys():
        raise AuditError("key", sorted(unknown)[0], f"is not one of {sorted(kinds)}: take it out of {path}")


def _spdx(text: str, path: Path) -> str:
    expression = from_expression(text)
    if expression is None:
        raise AuditError("licence", text, f"is no SPDX expression: mend {path}")
    return expression
