"""What is counted, refused, and let pass, and until when."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from tools.audit.component import Component
from tools.audit.osv import Vulnerability, key
from tools.audit.policy import Judgement, Policy
from tools.audit.report import findings, licence_lines, refusals, unknown_parts

PART = Component("Maven", "org.x:part", "2", "a.jar", licence="GPL-3.0-only")
LIBRARY = Component("", "libx.so", "", "p.libs/libx.so", licence="MIT")
PACKAGE = Component("PyPI", "p", "3", "", licence="MIT", parts=(PART, LIBRARY))
UNTIL = date(2030, 1, 31)
POLICY = Policy(frozenset({"MIT"}), (), (), (Judgement("CVE-1", ("Maven/org.x:*",), "not reached", UNTIL),), {})
FOUND = {key(PART): [Vulnerability(("GHSA-1", "CVE-1"), "high, Bad")]}


def test_licences_of_parts_count() -> None:
    assert licence_lines([PACKAGE]) == ["     2  MIT", "     1  GPL-3.0-only"]
    (line,) = refusals([PACKAGE], POLICY)
    assert "'Maven/org.x:part' 2" in line


@pytest.mark.parametrize(
    ("today", "policy", "said"),
    [
        (UNTIL, POLICY, "judged until 2030-01-31: not reached"),
        (UNTIL + timedelta(days=1), POLICY, "judged until 2030-01-31 alone: judge it again"),
        (UNTIL, Policy(frozenset(), (), (), (), {}), "not judged: update it, or judge it in tools/audit/policy.toml"),
    ],
)
def test_a_judgement_ends(today: date, policy: Policy, said: str) -> None:
    (finding,) = findings([PACKAGE], FOUND, policy, today)
    assert str(finding) == f"org.x:part 2 (a.jar): CVE-1 (high, Bad): {said}"
    assert (finding.why is None) == ("not reached" not in said)


def test_what_nobody_can_be_asked_about() -> None:
    assert unknown_parts([PACKAGE]) == [LIBRARY]
