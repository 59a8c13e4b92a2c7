"""``python -m tools.prose``: check pages, docstrings, comments and subjects of commits for plain English.

The exit code is 0 if no file exceeds the baseline. It is 1 if a file does, if the baseline is too high, or if a file
cannot be read. It is 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from tools.prose.allowed import read_exemptions, without_allowed
from tools.prose.baseline import BASELINE_FILE, above, baseline_text, below, counted, read_baseline, risen
from tools.prose.commits import SINCE, commit_findings
from tools.prose.errors import ProseError
from tools.prose.finding import RULES, Finding
from tools.prose.tree import checked_files, file_findings

ROOT = Path(__file__).parents[2]
_PROCESSES = 2
_FILES_OF_A_PROCESS_MIN = 100
_EXAMPLES = """examples:
  python -m tools.prose                          the whole tree, against the baseline
  python -m tools.prose docs/delivery.md         one page
  python -m tools.prose --all docs/delivery.md   every finding of it, the baseline's as well
  python -m tools.prose --write-baseline         lower the baseline to the findings

rules:
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the findings, and return the exit code."""
    rules = "".join(f"  {rule:<14}{text}\n" for rule, text in RULES.items())
    parser = argparse.ArgumentParser(
        prog="python -m tools.prose",
        description="Check pages, docstrings, comments and subjects of commits for plain English.",
        epilog=_EXAMPLES + rules,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files and folders (default: the tree)")
    parser.add_argument("--all", action="store_true", help="print the findings of the baseline as well")
    parser.add_argument("--write-baseline", action="store_true", help="write the numbers of findings; none may rise")
    parser.add_argument(
        "--since", default=SINCE, metavar="COMMIT", help="check commits after this (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    if options.write_baseline and options.paths:
        parser.error("--write-baseline is of the whole tree: name no PATH")
    try:
        findings, files = _findings(options.paths, options.since)
        return _write(findings) if options.write_baseline else _report(findings, files, options)
    except ProseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _findings(paths: Sequence[Path], since: str) -> tuple[list[Finding], list[Path]]:
    """Return the findings that no exception covers, and the checked files. If no path is named, the findings of commits
    are included.
    """
    files = checked_files(ROOT, paths)
    found = [finding for own in _of_files(files) for finding in own]
    commits = [] if paths else list(commit_findings(ROOT, since))
    return without_allowed([*found, *commits], read_exemptions()), files


def _of_files(files: Sequence[Path]) -> list[list[Finding]]:
    """Return the findings of each file. If there are many files, several processes find them."""
    gc.disable()  # Syntax trees have many small objects and no cycles, so collections would only cost time.
    if len(files) < _FILES_OF_A_PROCESS_MIN:
        return [file_findings(ROOT, file) for file in files]
    with ProcessPoolExecutor(_PROCESSES, mp_context=get_context("fork")) as pool:
        return list(pool.map(partial(file_findings, ROOT), files, chunksize=32))


def _write(findings: Sequence[Finding]) -> int:
    """Write the baseline, and return the exit code. If a rule has more findings in total than the present baseline,
    write nothing.
    """
    if BASELINE_FILE.exists():
        baseline = read_baseline()
        if rules := risen(findings, baseline):
            _print(above(findings, baseline))
            print(f"error: {', '.join(rules)}: more findings than the baseline: mend those above", file=sys.stderr)
            return 1
    BASELINE_FILE.write_text(baseline_text(counted(findings)), encoding="utf-8")
    print(f"{BASELINE_FILE.relative_to(ROOT)}: {len(findings)} findings")
    return 0


def _report(findings: Sequence[Finding], files: Sequence[Path], options: argparse.Namespace) -> int:
    """Print the findings above the baseline, or all findings with ``--all``. Print the lines of the baseline whose
    numbers are too high. Return the exit code.
    """
    baseline = read_baseline()
    over = above(findings, baseline)
    checked = {file.relative_to(ROOT).as_posix() for file in files} if options.paths else None
    too_high = list(below(findings, baseline, checked))
    _print(findings if options.all else over)
    for line in too_high:
        print(line)
    return 1 if over or too_high else 0


def _print(findings: Sequence[Finding]) -> None:
    for finding in findings:
        print(finding)


if __name__ == "__main__":
    sys.exit(main())
