"""The project's own policy, and what a policy allows, refuses and cannot be."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from tools.audit.component import Component
from tools.audit.errors import AuditError
from tools.audit.policy import Policy, read_policy

POLICY = """
allowed = ["MIT", "Zlib"]

[[declared]]
packages = ["Maven/org.x:*"]
licence = "mit"
reason = "says its home page"

[[exceptions]]
packages = ["PyPI/copied"]
licence = "GPL-3.0-only"
reason = "a process of its own"

[[judged]]
vulnerability = "CVE-1"
packages = ["Maven/org.x:*"]
reason = "not reached"
until = 2030-01-31

[groups]
"org.x" = ["x-*"]
"""


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    return written(tmp_path, POLICY)


def written(tmp_path: Path, text: str) -> Policy:
    path = tmp_path / "policy.toml"
    path.write_text(text)
    return read_policy(path)


def package(name: str, licence: str | None, *parts: Component) -> Component:
    return Component("PyPI", name, "1", "", licence=licence, parts=parts)


def test_the_policy_of_the_project_gives_a_reason_for_everything() -> None:
    policy = read_policy()
    assert "MIT" in policy.allowed
    assert all(len(ruling.reason) > 10 for ruling in (*policy.declared, *policy.exceptions, *policy.judged))
    assert policy.groups["jsr305"] == "com.google.code.findbugs"


@pytest.mark.parametrize("licence", ["MIT", "MIT AND Zlib", "GPL-3.0-only OR MIT"])
def test_allowed(policy: Policy, licence: str) -> None:
    assert policy.refusal(package("a", licence)) is None


@pytest.mark.parametrize("licence", ["GPL-3.0-only", "MIT AND GPL-3.0-only", "GPL-3.0-only OR Apache-2.0"])
def test_refused(policy: Policy, licence: str) -> None:
    refusal = policy.refusal(package("a", licence))
    assert refusal == f"licence '{licence}' of 'PyPI/a' 1 is not allowed: do without, or except it"


def test_an_exception_is_for_its_package_and_licence_alone(policy: Policy) -> None:
    assert policy.refusal(package("copied", "GPL-3.0-only")) is None
    assert policy.refusal(package("copied", "AGPL-3.0-only"))
    assert policy.refusal(package("copied-too", "GPL-3.0-only"))


def test_what_is_declared_holds_where_nothing_was_read(policy: Policy) -> None:
    silent = Component("Maven", "org.x:a", "1", "a.jar")
    unread = Component("Maven", "org.x:b", "1", "b.jar", licence="Zlib", licence_source="POM")
    holder = policy.declare(package("holder", None, silent, unread))
    assert [(part.licence, part.licence_source) for part in holder.parts] == [("MIT", "policy"), ("Zlib", "POM")]
    assert holder.licence is None
    assert policy.refusal(holder) == "licence of 'PyPI/holder' 1 is not known: declare it in tools/audit/policy.toml"
    assert policy.refusal(silent) == (
        "licence of 'Maven/org.x:a' 1 (a.jar) is not known: declare it in tools/audit/policy.toml"
    )


def test_a_judgement_is_found_by_any_name_of_the_vulnerability(policy: Policy) -> None:
    component = Component("Maven", "org.x:a", "1", "")
    judged = policy.judgement(["GHSA-1", "CVE-1"], component)
    assert judged is not None
    assert judged.until == date(2030, 1, 31)
    assert policy.judgement(["CVE-2"], component) is None
    assert policy.judgement(["CVE-1"], package("org.x:a", None)) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("allowed = [", "cannot be read"),
        ('alowed = ["MIT"]', "key 'alowed': is not one of a policy"),
        ('allowed = ["Mine"]', "licence 'Mine': is no SPDX expression"),
        (POLICY.replace('reason = "a process of its own"', 'reason = ""'), "'reason' is missing, empty or no str"),
        (POLICY.replace("until = 2030-01-31", ""), "'until' is missing, empty or no date"),
        (POLICY.replace("2030-01-31", '"2030-01-31"'), "'until' is missing, empty or no date"),
        (POLICY.replace('"mit"', '"mit"\nwhy = "so"'), "key 'why': is not one of"),
        (POLICY.replace('["x-*"]', '"x-*"'), "'org.x': is no list"),
    ],
)
def test_what_is_no_policy(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(AuditError) as raised:
        written(tmp_path, text)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
