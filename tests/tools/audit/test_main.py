"""The whole audit of what is installed: its files, its lines, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from tools.audit.__main__ import main, report
from tools.audit.component import Component, everything
from tools.audit.osv import look_up
from tools.audit.policy import POLICY_FILE, Judgement, Policy, read_policy

ROOT = Path(__file__).parents[3]
RECORDS = Path(__file__).with_name("osv")
JACKSON = "org.codehaus.jackson:jackson-mapper-asl"
JUDGED = f"""
[[judged]]
vulnerability = "CVE-2019-10202"
packages = ["Maven/{JACKSON}"]
reason = "Hive's, which nothing here calls"
until = 2999-12-31
"""


def judging(until: date) -> Policy:
    judgement = Judgement("CVE-2019-10202", (f"Maven/{JACKSON}",), "Hive's, which nothing here calls", until)
    return replace(read_policy(), judged=(judgement,))


def report_of(components: list[Component], policy: Policy, folder: Path = RECORDS) -> int:
    return report(components, policy, lambda: look_up(everything(components), folder))


@pytest.mark.nightly
@pytest.mark.usefixtures("components")
def test_the_audit_of_a_judged_vulnerability_passes(tmp_path: Path) -> None:
    policy, out = tmp_path / "policy.toml", tmp_path / "out"
    policy.write_text(POLICY_FILE.read_text().replace("\n[[exceptions]]", f"{JUDGED}\n[[exceptions]]", 1))
    command = [sys.executable, "-m", "tools.audit", "--out", out, "--osv", RECORDS, "--policy", policy]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "licences: 0 refused" in done.stdout
    assert "vulnerabilities: 1 known, 1 of them judged" in done.stdout
    assert "OSV has nothing of" in done.stdout
    content = json.loads((out / "sbom.cdx.json").read_text())
    assert content["bomFormat"] == "CycloneDX"
    assert "pkg:pypi/pyspark@4.0.0" in {component.get("purl") for component in content["components"]}


def test_a_judgement_that_has_ended(components: list[Component], capsys: pytest.CaptureFixture[str]) -> None:
    assert report_of(components, judging(date(2020, 12, 31))) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {JACKSON} 1.9.13 (pyspark/jars/")
    assert line.endswith("judged until 2020-12-31 alone: judge it again")


def test_without_data_nothing_is_claimed(
    components: list[Component], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report_of(components, read_policy(), tmp_path / "gone") == 3
    out, err = capsys.readouterr()
    assert "vulnerabilities: not known, whether there are any or not" in out
    (line,) = err.splitlines()
    assert "has no record of Maven" in line


def test_a_refused_licence(components: list[Component], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = judging(date.max)
    policy = replace(policy, allowed=policy.allowed - {"0BSD"})
    assert report_of(components, policy) == 1
    lines = capsys.readouterr().err.splitlines()
    assert "error: licence '0BSD' of 'Maven/org.tukaani:xz' 1.10 is not allowed: do without, or except it" in lines
    assert all("0BSD" in line for line in lines)
    assert report_of(components, policy, tmp_path / "gone") == 1


def test_a_policy_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--policy", str(tmp_path / "gone.toml")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("error: policy ")
