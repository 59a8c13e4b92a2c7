"""Every benchmark after the other, each in a process of its own: ``asc bench all``."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cli.failure import one_line

_PROGRAM = "import sys; sys.path[:] = {path!r}; from cli.main import main; main()"


@dataclass(frozen=True, slots=True)
class BenchmarkRun:
    """One benchmark that ended: its exit code (negative where a signal ended it), time, and the file of its output."""

    name: str
    exit_code: int
    seconds: float
    log: Path

    @property
    def reason(self) -> str:
        """The last line that a failed benchmark printed; empty for one that succeeded."""
        if not self.exit_code:
            return ""
        lines = [line for line in self.log.read_text("utf-8", "replace").splitlines() if line.strip()]
        return one_line(lines[-1]) if lines else f"ended with {self.exit_code}"

    def __str__(self) -> str:
        """Return one line for the terminal.

        >>> print(BenchmarkRun("match", 0, 41.2, Path("results/match.log")))
        match         done       41 s  results/match.log
        """
        outcome = "failed" if self.exit_code else "done"
        more = f": {self.reason}" if self.exit_code else ""
        return f"{self.name:<12}  {outcome:<6}  {self.seconds:5.0f} s  {self.log}{more}"


def run_each(names: Sequence[str], output_dir: Path, *, quick: bool) -> Iterator[BenchmarkRun]:
    """Run benchmarks in order, and yield each when it has ended; one that fails does not stop the next ones.

    A process for each keeps memory, JVM and ports of one from the figures of the next. Its output goes to ``NAME.log``
    beside its result.
    """
    output_dir.mkdir(parents=True, exist_ok=True)
    for name in names:
        log = output_dir / f"{name}.log"
        command = [sys.executable, "-c", _PROGRAM.format(path=sys.path), "bench", name, "--output", str(output_dir)]
        begin_s = time.monotonic()
        exit_code = _exit_code([*command, *(["--quick"] if quick else [])], log)
        yield BenchmarkRun(name, exit_code, time.monotonic() - begin_s, log)


def _exit_code(command: Sequence[str], log: Path) -> int:
    """Run a command with its output in a file. A first Ctrl-C interrupts it and waits for its end, a second kills."""
    with log.open("w", encoding="utf-8") as out:
        process = None
        try:
            with _interrupt_deferred():
                process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
            return process.wait()
        except BaseException:
            if process is None:
                raise
            process.send_signal(signal.SIGINT)
            try:
                process.wait()
            finally:
                process.kill()
            raise


@contextmanager
def _interrupt_deferred() -> Iterator[None]:
    """Raise the KeyboardInterrupt of a Ctrl-C at the end: within, it would leave a process that nobody knows."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupts:
        raise KeyboardInterrupt
