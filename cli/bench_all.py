"""``asc bench all``: run all benchmarks in sequence, each in a separate process."""

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
    """A finished benchmark: its exit code (negative if a signal ended it), its duration, and the file with its
    output.
    """

    name: str
    exit_code: int
    seconds: float
    log: Path

    @property
    def reason(self) -> str:
        """The last line that a failed benchmark printed, or its exit code if it printed nothing. The text is empty for
        a successful benchmark.
        """
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
    """Run benchmarks in order, and yield each when it has ended. If a benchmark fails, continue with the next."""
    output_dir.mkdir(parents=True, exist_ok=True)
    for name in names:
        log = output_dir / f"{name}.log"
        command = [sys.executable, "-c", _PROGRAM.format(path=sys.path), "bench", name, "--output", str(output_dir)]
        begin_s = time.monotonic()
        exit_code = _exit_code([*command, *(["--quick"] if quick else [])], log)
        yield BenchmarkRun(name, exit_code, time.monotonic() - begin_s, log)


def _exit_code(command: Sequence[str], log: Path) -> int:
    """Run a command, write its output to ``log``, and return its exit code. The first Ctrl-C interrupts the command and
    waits until it has ended. The second Ctrl-C kills the command.
    """
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
    """Defer the KeyboardInterrupt of a Ctrl-C to the end of the ``with`` block. An interrupt within the block could
    leave a started process that nobody stops.
    """
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
