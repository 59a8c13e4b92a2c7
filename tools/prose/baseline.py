"""The baseline: the number of findings of each rule that a file may have. A number may only decrease.

A file without an entry may have none. The command that writes the baseline moves the numbers of a renamed file, and
refuses a larger total of any rule.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from tools.prose.errors import ProseError
from tools.prose.finding import Finding

BASELINE_FILE = Path(__file__).with_name("baseline.json")
WRITE = "python -m tools.prose --write-baseline"

Counts = Mapping[str, Mapping[str, int]]
"""The number of findings, by path and then by rule."""


def counted(findings: Sequence[Finding]) -> Counts:
    """Return the number of findings of each file by rule. Findings of commits are omitted, because nobody can mend them
    later.
    """
    counts: dict[str, Counter[str]] = {}
    for finding in findings:
        if finding.rule != "commit":
            counts.setdefault(finding.path, Counter())[finding.rule] += 1
    return counts


def read_baseline(path: Path = BASELINE_FILE) -> Counts:
    """Return the baseline in a file. Raise ProseError if the file is not a baseline."""
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): {str(rule): int(number) for rule, number in rules.items()} for name, rules in held.items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise ProseError("baseline", str(path), f"take it from version control ({error})") from None


def baseline_text(counts: Counts) -> str:
    """Return the text of a baseline, with one line for each file, in order, so that changes of several files can be
    merged.

    >>> print(baseline_text({"b.md": {"long": 2, "clause": 1}, "a.md": {"term": 1}}), end="")
    {
    "a.md": {"term": 1},
    "b.md": {"clause": 1, "long": 2}
    }
    """
    rows = (f"{json.dumps(path)}: {json.dumps(dict(sorted(counts[path].items())))}" for path in sorted(counts))
    return "{\n" + ",\n".join(rows) + "\n}\n"


def above(findings: Sequence[Finding], baseline: Counts) -> list[Finding]:
    """Return the findings of each file and rule for which there are more findings than in the baseline."""
    counts = counted(findings)

    def allowed(finding: Finding) -> bool:
        held = baseline.get(finding.path, {}).get(finding.rule, 0)
        return finding.rule != "commit" and counts[finding.path][finding.rule] <= held

    return [finding for finding in findings if not allowed(finding)]


def below(findings: Sequence[Finding], baseline: Counts, checked: Collection[str] | None) -> Iterator[str]:
    """Yield a line for each file and rule whose baseline is too high. ``checked``: the files that were checked; None
    means all files.
    """
    counts = counted(findings)
    for path, rules in baseline.items():
        for rule, held in rules.items():
            found = counts.get(path, {}).get(rule, 0)
            if found < held and (checked is None or path in checked):
                yield f"{path}:1: baseline: {rule} has {found} and may have {held}: lower it with `{WRITE}`"


def risen(findings: Sequence[Finding], baseline: Counts) -> list[str]:
    """Return the rules that have more findings in total than the baseline permits. If there are such rules, the caller
    does not write the baseline.
    """
    now = Counter(finding.rule for finding in findings if finding.rule != "commit")
    before: Counter[str] = Counter()
    for rules in baseline.values():
        before.update(rules)
    return sorted(rule for rule, number in now.items() if number > before[rule])
