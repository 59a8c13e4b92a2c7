"""A process that fails, dies, hangs or grows is seen, and its input is kept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools.fuzz.target import Target
from tools.fuzz.watch import Outcome, Weights, watch

_BROKEN = """
import os, time
from hypothesis import strategies as st
from tools.fuzz.target import Target, Violation

class Sound(Target):
    name, input_s, growth_mb, is_shrunk = "sound", 2.0, 40, False
    def inputs(self): return st.binary(max_size=9)
    def check(self, given): time.sleep(.002)

class Fails(Sound):
    def check(self, given):
        if len(given) > 3: raise Violation(f"has {len(given)} bytes")

class Dies(Sound):
    def check(self, given):
        if len(given) > 3: os.abort()

class Hangs(Sound):
    def check(self, given):
        if len(given) > 3: time.sleep(60)

class Grows(Sound):
    growth_mb, held = 5, []
    def check(self, given):
        time.sleep(.005)
        self.held.append(bytes(range(256)) * 4000)

class Closed(Sound):
    def __enter__(self): raise RuntimeError("no\\nway in")
"""


@pytest.fixture
def outcome_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    (tmp_path / "broken_targets.py").write_text(_BROKEN, "utf-8")
    root = Path(__file__).parents[3]
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{root}")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "broken_targets", raising=False)

    def run(kind: str, seconds: float = 2.0) -> Outcome:
        target: type[Target] = getattr(__import__("broken_targets"), kind)
        name = f"broken_targets:{kind}"
        return watch(name, target, seconds=seconds, seed=1, folder=tmp_path / "kept", tell=lambda entry: None)

    return run


@pytest.mark.nightly
def test_what_is_sound_has_no_finding(outcome_of: object) -> None:
    found = outcome_of("Sound")  # type: ignore[operator]
    assert (found.finding, found.kept) == (None, None)
    assert found.tried > 1
    assert found.warm_mb > 1
    assert found.slowest_s > 0


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "finding"),
    [("Fails", "has "), ("Dies", "ended with -6"), ("Hangs", "an input takes more than 2 s")],
)
def test_the_input_of_a_finding_is_kept(outcome_of: object, kind: str, finding: str) -> None:
    found = outcome_of(kind, 20.0)  # type: ignore[operator]
    assert found.finding.startswith(finding)
    assert len(found.kept.read_bytes()) > 3
    assert found.kept.with_suffix(".log").exists()


@pytest.mark.nightly
def test_growth_is_seen(outcome_of: object) -> None:
    assert outcome_of("Grows", 3.0).finding.startswith("grew from ")  # type: ignore[operator]


def test_a_target_that_does_not_begin_is_a_finding(outcome_of: object) -> None:
    assert outcome_of("Closed").finding == "RuntimeError: no way in"  # type: ignore[operator]


def test_weights_are_those_of_a_third_and_of_the_end() -> None:
    weights = Weights()
    assert (weights.warm_mb(), weights.end_mb()) == (None, None)
    for megabytes in range(100):
        weights.add(megabytes)
    assert (weights.warm_mb(), weights.end_mb()) == (34.5, 94.5)
