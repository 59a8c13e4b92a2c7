"""Trials of inputs, one after the other, in the process that may crash."""

from __future__ import annotations

import itertools
import resource
import time
from collections.abc import Callable

from tools.fuzz.journal import Journal
from tools.fuzz.target import Target, Violation

_PEAK_MB = 256
"""The most MB by which one input may increase the peak memory of the process."""

_WARM_INPUTS = 200
"""The number of inputs before which memory is not checked, because one-time initialisation needs memory."""

_ROUND_INPUTS = 200


def one_line(error: BaseException) -> str:
    """Return the message of an exception in one line, with its kind unless it is a Violation."""
    text = " ".join(str(error).split())
    return text if isinstance(error, Violation) else f"{type(error).__name__}: {text}"


class Trials:
    """Runner that writes each input to a journal and then tries it on a target. It also raises Violation if an input
    increases the peak memory too much.
    """

    def __init__(self, target: Target, journal: Journal) -> None:
        self._target = target
        self._journal = journal
        self._count = 0

    def __call__(self, given: bytes) -> None:
        """Try one input. If it raises an exception, the journal has the exception."""
        before_kb = _peak_kb()
        self._journal.begin(given)
        try:
            self._target.check(given)
            self._count += 1
            more_mb = (_peak_kb() - before_kb) / 1024
            if more_mb > _PEAK_MB and self._count > _WARM_INPUTS:
                raise Violation(f"took {more_mb:.0f} MB of memory, more than {_PEAK_MB}")
        except Exception as error:
            if isinstance(error, Violation) and error.given is not None:
                self._journal.begin(error.given)
            self._journal.find(one_line(error))
            raise
        self._journal.end()


def generate(target: Target, trial: Callable[[bytes], None], *, seconds: float, seed: int) -> None:
    """Let Hypothesis generate inputs for ``seconds``, and try them. If an input raises an exception, raise it. The
    smallest failing input is tried last.
    """
    end = time.monotonic() + seconds
    for number in itertools.count(seed):
        generate_round(target, trial, inputs=_ROUND_INPUTS, seed=number, until=end)
        target.settle()
        if time.monotonic() >= end:
            return


def generate_round(
    target: Target, trial: Callable[[bytes], None], *, inputs: int, seed: int, until: float = float("inf")
) -> None:
    """Try ``inputs`` generated inputs, the same inputs for the same seed.

    No input is started after ``until``, but a failing input is still shrunk.
    """
    import hypothesis
    from hypothesis import HealthCheck, Phase, given, settings

    failed = False
    phases = [Phase.generate, Phase.shrink] if target.is_shrunk else [Phase.generate]

    @hypothesis.seed(seed)
    @settings(
        max_examples=inputs,
        phases=phases,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(target.inputs())
    def one(given: bytes) -> None:
        nonlocal failed
        if failed or time.monotonic() < until:
            try:
                trial(given)
            except Exception:
                failed = True
                raise

    one()


def _peak_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
