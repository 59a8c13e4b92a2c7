"""Durations by test and by fixture: written to ``build/durations.json``, the slowest files printed after a run.

Each process of a run measures what it does; reports carry the figures, so that a run on several has them all.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Generator
from dataclasses import dataclass, field

# Bound here, for a test may put a clock of its own in the place of the module's.
from time import perf_counter
from typing import Any

import pytest

FILE = "build/durations.json"
SLOWEST_FILES = 20
PHASES = ("setup", "call", "teardown")

_OF_PARAMETERS = "get_direct_param_fixture_func"
"""What pytest calls for each value of a parametrised test: no fixture that anyone wrote."""


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(FixtureClock())
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(config))


@dataclass(eq=False)
class FixtureClock:
    """Stopwatch of the fixtures of one process; a fixture that asks for another one by name pays for itself alone."""

    _spent: list[tuple[str, str, float]] = field(default_factory=list)
    """Fixture, phase and seconds, since the last report."""
    _inner_s: list[float] = field(default_factory=list)
    """What each fixture that is being set up has spent in others so far, the outermost first."""

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        if fixturedef.func.__name__ == _OF_PARAMETERS:
            return (yield)
        name = _name_of(fixturedef)
        # Finalizers run last in, first out: what the fixture itself adds runs between these two.
        starts_s: list[float] = []
        fixturedef.addfinalizer(lambda: self._spent.append((name, "teardown", perf_counter() - starts_s[0])))
        self._inner_s.append(0.0)
        start_s = perf_counter()
        try:
            return (yield)
        finally:
            whole_s = perf_counter() - start_s
            self._spent.append((name, "setup", whole_s - self._inner_s.pop()))
            if self._inner_s:
                self._inner_s[-1] += whole_s
            fixturedef.addfinalizer(lambda: starts_s.append(perf_counter()))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        report.fixture_seconds, self._spent = self._spent, []  # type: ignore[attr-defined]
        return report


def _name_of(fixturedef: pytest.FixtureDef[Any]) -> str:
    return f"{fixturedef.baseid}::{fixturedef.argname}" if fixturedef.baseid else fixturedef.argname


@dataclass(eq=False)
class Durations:
    """Collected durations of a whole run, in the process that prints its summary."""

    config: pytest.Config
    _started_s: float = field(default_factory=perf_counter)
    _tests: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(lambda: dict.fromkeys(PHASES, 0.0)))
    _fixtures: dict[str, dict[str, float]] = field(
        default_factory=lambda: defaultdict(lambda: {"setups": 0, "setup": 0.0, "teardown": 0.0})
    )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # Of a test that ended its process a report comes as well, of no phase.
        if report.when in PHASES:
            self._tests[report.nodeid][report.when] += report.duration
        for name, phase, seconds in getattr(report, "fixture_seconds", ()):
            self._fixtures[name][phase] += seconds
            self._fixtures[name]["setups"] += phase == "setup"

    def pytest_sessionfinish(self) -> None:
        if self.config.option.collectonly:
            return
        file = self.config.rootpath / FILE
        file.parent.mkdir(exist_ok=True)
        written = {
            "run_s": round(perf_counter() - self._started_s, 3),
            "files": {name: round(seconds, 3) for name, seconds in self._files()},
            "tests": _rounded(self._tests),
            "fixtures": _rounded(self._fixtures),
        }
        file.write_text(json.dumps(written, indent=1) + "\n", "utf-8")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        files = self._files()[:SLOWEST_FILES]
        if files:
            terminalreporter.section(f"slowest {len(files)} files ({FILE} has all tests and fixtures)")
        for name, seconds in files:
            terminalreporter.write_line(f"{seconds:8.2f}s {name}")

    def _files(self) -> list[tuple[str, float]]:
        """Return each file with the seconds of its tests, set-up and tear-down included, the slowest first."""
        seconds: dict[str, float] = defaultdict(float)
        for nodeid, phases in self._tests.items():
            seconds[nodeid.partition("::")[0]] += sum(phases.values())
        return sorted(seconds.items(), key=lambda each: -each[1])


def _rounded(figures: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return figures with seconds in milliseconds' precision, the dearest first."""

    def cost(each: tuple[str, dict[str, float]]) -> float:
        return -sum(each[1].get(phase, 0.0) for phase in PHASES)

    return {
        name: {(f"{key}_s" if key in PHASES else key): round(value, 3) for key, value in values.items()}
        for name, values in sorted(figures.items(), key=cost)
    }
