"""``python -m tools.faults.soak --minutes 30``: inject random faults into a broker for a given time, and audit all
deliveries at the end.
"""

from __future__ import annotations

import logging
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from tools.faults.cube_ledger import CubeAudit
from tools.faults.delivery_ledger import DeliveryAudit
from tools.faults.faults import FAULTS, Fault
from tools.faults.outputs import OutputAudit
from tools.faults.rig import Rig

_QUIET_S = 3.0
_COMPARED_EVERY = 4
"""The number of faults between two comparisons of the cubes. Publishing pauses during a comparison, which a soak test
should rarely do.
"""


@dataclass(frozen=True, slots=True)
class Made:
    """An injected fault, and the seconds from its beginning to the delivery of a record published after its end.

    ``ready_s``: the duration of the fault itself, with all restarts.
    """

    fault: str
    ready_s: float
    delivered_s: float

    def __str__(self) -> str:
        return f"{self.fault:<42} ready after {self.ready_s:6.1f} s, delivering after {self.delivered_s:6.1f} s"


def soak(
    rig: Rig, faults: Sequence[Fault], minutes: float, *, tell: bool = True
) -> tuple[list[Made], DeliveryAudit, OutputAudit, CubeAudit]:
    """Run random faults until ``minutes`` are over. Begin with each possible fault once, in random order. At the end,
    audit the deliveries, the outputs of operators, and the cubes. Raise RuntimeError if the broker does not recover, or
    the API gave a wrong answer.

    After some faults a cube is paused for a while, and all cubes are compared with DuckDB.
    """
    made: list[Made] = []
    end = time.monotonic() + minutes * 60
    due = [fault for fault in faults if fault.possible(rig)]
    for fault in (fault for fault in faults if not fault.possible(rig)):
        _say(f"{fault.name:<42} left out: only root can mount a file system", tell)
    turns = iter(rig.random.sample(due, len(due)))
    while time.monotonic() < end:
        fault = next(turns, None) or rig.random.choice(due)
        made.append(suffer(rig, fault))
        _say(str(made[-1]), tell)
        if len(made) % _COMPARED_EVERY == 1:
            rig.rest_cube()
            _say(str(rig.compare_cubes()), tell)
        time.sleep(_QUIET_S)
    return made, *settled(rig)


def suffer(rig: Rig, fault: Fault) -> Made:
    """Run a fault, and wait until records are delivered again. Return the durations of the fault and of the wait."""
    rig.disturb()
    start_s = time.monotonic()
    fault.make(rig)
    ready_s = time.monotonic() - start_s
    rig.await_delivery()
    return Made(fault.name, ready_s, time.monotonic() - start_s)


def settled(rig: Rig) -> tuple[DeliveryAudit, OutputAudit, CubeAudit]:
    """Return the audits of a rig: deliveries, operators and cubes. Raise RuntimeError if the API gave a
    wrong answer.
    """
    audits = rig.settle()
    if rig.subscribers.failures:
        raise RuntimeError(f"the API: {rig.subscribers.failures[0]} (seen: {len(rig.subscribers.failures)})")
    return audits


def _say(line: str, tell: bool) -> None:
    if tell:
        print(f"{time.strftime('%H:%M:%S')}  {line}", flush=True)


@click.command()
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), default=30.0, show_default=True)
@click.option("--seed", type=int, default=None, help="Which faults come in which order; drawn where it is not given.")
@click.option(
    "--per-s",
    type=click.FloatRange(min=1),
    default=300.0,
    show_default=True,
    help="Records a second, at most: no more than 5,000 wait to be delivered.",
)
def main(minutes: float, seed: int | None, per_s: float) -> None:
    """Make random faults in a broker under load, and check that no record was lost."""
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    seed = random.randrange(1 << 30) if seed is None else seed
    _say(f"seed {seed}, {per_s:g} records a second, for {minutes:g} minutes", True)
    with tempfile.TemporaryDirectory(prefix="asc-soak-", ignore_cleanup_errors=True) as folder:
        rig = Rig(Path(folder), seed=seed, per_s=per_s)
        try:
            rig.start()
            made, audit, outputs, cubes = soak(rig, FAULTS, minutes)
        except RuntimeError as error:
            click.echo(f"Error: {error}", err=True)
            sys.exit(1)
        finally:
            rig.close()
    slowest = max(made, key=lambda one: one.delivered_s)
    _say(f"{len(made)} faults; slowest: {slowest}", True)
    _say(f"{rig.subscribers.changes:,} changes of queries, {rig.subscribers.sent_again:,} requests sent again", True)
    _say(str(audit), True)
    _say(str(outputs), True)
    _say(str(cubes), True)
    sys.exit(0 if audit.sound and outputs.sound and cubes.sound else 1)


if __name__ == "__main__":
    main()
