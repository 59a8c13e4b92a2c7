"""``python -m tools.fuzz --minutes 10``: fuzz every target for the given time."""

from __future__ import annotations

import random
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
from tqdm import tqdm

from tools.fuzz.coverage import has_atheris
from tools.fuzz.journal import Entry
from tools.fuzz.targets import TARGETS, target_named
from tools.fuzz.trials import one_line
from tools.fuzz.watch import Outcome, watch

FOLDER = Path("artifacts/fuzz")
_COLUMNS = "{:<10} {:>10} {:>9} {:>12} {:>12} {:>12}  {}"


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a table of the runs, with one line for each."""
    lines = [_COLUMNS.format("run", "inputs", "seconds", "slowest (s)", "warm (MB)", "end (MB)", "found")]
    for one in outcomes:
        warm, end = ("-" if each is None else f"{each:.0f}" for each in (one.warm_mb, one.end_mb))
        found = "nothing" if one.finding is None else f"see {one.kept}"
        lines.append(
            _COLUMNS.format(one.run, f"{one.tried:,}", f"{one.seconds:.0f}", f"{one.slowest_s:.3f}", warm, end, found)
        )
    return "\n".join(lines)


def finding_text(outcome: Outcome) -> str:
    """Return a text about the finding of a run in one line, with the command that tries the failing input again."""
    return f"{outcome.run}: {outcome.finding}; again: python -m tools.fuzz --again {outcome.kept}"


def runs_of(only: Sequence[str]) -> list[tuple[str, str]]:
    """Return the runs of the targets ``only``, or of all targets if ``only`` is empty. Each run is a pair: the name of
    the run and the name of its target.
    """
    found = []
    for name in only or TARGETS:
        found.append((name, name))
        if name == "parser" and has_atheris():
            found.append(("coverage", name))
    return found


def run(name: str, target: str, seconds: float, seed: int, folder: Path) -> Outcome:
    """Execute one run, with a progress bar."""
    start_s = time.monotonic()
    with tqdm(
        total=round(seconds), desc=f"{name:<8}", unit="s", bar_format="{desc} {n}/{total} s |{bar}|{postfix}"
    ) as bar:

        def tell(entry: Entry) -> None:
            bar.n = min(round(seconds), round(time.monotonic() - start_s))
            bar.set_postfix_str(f"{entry.tried:,} inputs" if entry.tried else "starting")

        return watch(name, type(target_named(target)), seconds=seconds, seed=seed, folder=folder, tell=tell)


def again(path: Path) -> str | None:
    """Try a stored input once more, in this process. Return its fault, or None if there is none."""
    with target_named(path.name.partition("-")[0]) as target:
        try:
            target.check(path.read_bytes())
        except Exception as error:
            return one_line(error)
    return None


@click.command()
@click.option(
    "--minutes", type=click.FloatRange(min=0, min_open=True), default=10.0, show_default=True, help="Of each run."
)
@click.option("--only", type=click.Choice(list(TARGETS)), multiple=True, help="These targets and no others.")
@click.option("--seed", type=int, default=None, help="Of the inputs; drawn where it is not given.")
@click.option(
    "--again", "kept", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Try one kept input."
)
def main(minutes: float, only: tuple[str, ...], seed: int | None, kept: Path | None) -> None:
    """Try random inputs on every target. The exit code is 1 if there is a finding."""
    if kept is not None:
        if kept.name.partition("-")[0] not in TARGETS:
            raise click.UsageError(f"{kept}: the name of a kept input begins with {', '.join(TARGETS)}")
        wrong = again(kept)
        click.echo(f"{kept}: {wrong or 'nothing is wrong'}")
        sys.exit(0 if wrong is None else 1)
    # Exit on SIGTERM, so that the children end with this process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    seed = random.randrange(1 << 30) if seed is None else seed
    click.echo(f"seed {seed}, {minutes:g} minutes a run" + ("" if has_atheris() else "; without atheris"))
    outcomes = []
    for name, target in runs_of(only):
        outcomes.append(run(name, target, minutes * 60, seed, FOLDER))
        if outcomes[-1].finding is not None:
            click.echo(finding_text(outcomes[-1]))
    click.echo(table(outcomes))
    sys.exit(0 if all(one.finding is None for one in outcomes) else 1)


if __name__ == "__main__":
    main()
