"""The watcher of the process that tries inputs, which detects crashes, hangs and memory growth."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.fuzz.journal import Entry, Journal
from tools.fuzz.target import Target

_LOOK_S = 0.2
_START_S = 300.0
_OVER_S = 330.0
"""The time in seconds for which a process may continue after the end of its run. Hypothesis may take five minutes to
shrink an input.
"""

_WARM_SHARE = 0.3
_WINDOW_SHARE = 0.1
_LINES_SHOWN = 5

Tell = Callable[[Entry], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run. ``finding``: one line, or None if nothing was found. ``kept``: the file of the failing
    input.
    """

    run: str
    tried: int
    seconds: float
    slowest_s: float
    warm_mb: float | None
    end_mb: float | None
    finding: str | None = None
    kept: Path | None = None


class Weights:
    """The memory of the watched processes during a run, in MB: after 30 % of the run, when caches are filled, and at
    the end.
    """

    def __init__(self) -> None:
        self._readings: list[float] = []

    def add(self, megabytes: float) -> None:
        """Add a measurement; measurements are made at regular intervals."""
        self._readings.append(megabytes)

    def warm_mb(self) -> float | None:
        """Return the median over a tenth of the run, beginning after 30 % of the run. Return None if there are no
        measurements.
        """
        return self._median(_WARM_SHARE)

    def end_mb(self) -> float | None:
        """Return the median over the last tenth of the run. Return None if there are no measurements."""
        return self._median(1 - _WINDOW_SHARE)

    def _median(self, share: float) -> float | None:
        count = len(self._readings)
        found = self._readings[round(share * count) : round((share + _WINDOW_SHARE) * count)]
        return statistics.median(found) if found else None


def watch(name: str, kind: type[Target], *, seconds: float, seed: int, folder: Path, tell: Tell) -> Outcome:
    """Run a target for ``seconds`` in a separate process, and return the result. ``tell`` is called five times a second
    with the state of the run.

    ``kind``: the class of the target of the run ``name``. The input of a finding is stored in ``folder``, and beside it
    the output of the process.
    """
    with tempfile.TemporaryDirectory(prefix="asc-fuzz-") as work:
        path, log = Path(work) / "journal", Path(work) / "log"
        journal, weights = Journal(path), Weights()
        start_s = time.monotonic()
        with log.open("wb") as output:
            command = [sys.executable, "-m", "tools.fuzz.child", name, str(path), str(seconds), str(seed)]
            # A separate process group, so that all processes of the child end with it.
            child = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
        try:
            finding = _awaited(child, journal, weights, input_s=kind.input_s, seconds=seconds, tell=tell)
        finally:
            _end(child)
        entry = journal.entry()
        if finding is None and child.returncode != 0:
            lines = log.read_text("utf-8", "replace").splitlines()[-_LINES_SHOWN:]
            finding = journal.found() or f"ended with {child.returncode}: {' / '.join(lines)}"
        warm, end = weights.warm_mb(), weights.end_mb()
        if finding is None and not entry.tried:
            finding = "no input was tried"
        if finding is None and warm is not None and end is not None and end - warm > kind.growth_mb:
            finding = f"grew from {warm:.0f} to {end:.0f} MB, by more than {kind.growth_mb}"
        kept = None if finding is None else _kept(folder, kind.name, journal.given(), log)
        return Outcome(name, entry.tried, time.monotonic() - start_s, entry.slowest_s, warm, end, finding, kept)


def _awaited(
    child: subprocess.Popen[bytes], journal: Journal, weights: Weights, *, input_s: float, seconds: float, tell: Tell
) -> str | None:
    """Wait until the process has ended. Return the fault if the process has to be killed."""
    start_s = time.monotonic()
    first: float | None = None
    while child.poll() is None:
        now, entry = time.monotonic(), journal.entry()
        tell(entry)
        if entry.busy_s > input_s:
            return f"an input takes more than {input_s:g} s"
        if first is None and entry.tried:
            first = now
        if first is not None:
            weights.add(sum(map(_resident_mb, (child.pid, *entry.pids))))
            if now - first > seconds + _OVER_S:
                return f"not ended {_OVER_S:g} s after its time"
        elif now - start_s > _START_S:
            return f"not started within {_START_S:g} s"
        time.sleep(_LOOK_S)
    return None


def _end(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _kept(folder: Path, name: str, given: bytes, log: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{hashlib.sha256(given).hexdigest()[:12]}"
    path.write_bytes(given)
    path.with_suffix(".log").write_bytes(log.read_bytes())
    return path


def _resident_mb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
