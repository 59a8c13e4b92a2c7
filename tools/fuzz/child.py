"""``python -m tools.fuzz.child``: the process that tries inputs, watched by :mod:`tools.fuzz.watch`."""

from __future__ import annotations

import sys
from pathlib import Path


def main(name: str, journal_path: str, seconds: str, seed: str) -> None:
    """Try inputs on a target for the given seconds. Exit with FOUND if one fails."""
    if name == "coverage":
        # Call this before any other import, because it instruments the modules under test when they are imported.
        from tools.fuzz.coverage import follow

        follow(Path(journal_path), float(seconds), int(seed))
        return
    from tools.fuzz.journal import FOUND, Journal
    from tools.fuzz.targets import target_named
    from tools.fuzz.trials import Trials, generate, one_line

    journal = Journal(Path(journal_path))
    target = target_named(name)
    try:
        with target:
            journal.weigh(target.weighed())
            generate(target, Trials(target, journal), seconds=float(seconds), seed=int(seed))
    except Exception as error:
        import traceback

        traceback.print_exc()
        journal.find(one_line(error))
        sys.exit(FOUND)


if __name__ == "__main__":
    main(*sys.argv[1:])
