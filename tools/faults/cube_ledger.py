"""The ledger of a standing cube. It compares the cube's answers, the numbers of counted and uncounted records, and the
gaps with DuckDB's results over the raw records.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from asc.operators.cube.json_values import instant_of, instant_text
from tools.faults.counted_cubes import CountedCube
from tools.faults.raw_records import Intervals, RawRecords, group_text

Plain = Mapping[str, Any]
Interval = tuple[int | None, int | None]
"""An interval of event time in microseconds, from the first to before the second; None means no bound."""

_LIMIT = 100_000
_NAMED_COUNT = 3
_TERM = re.compile(r"([\d,]+) ([a-z_]+)")


@dataclass(frozen=True, slots=True)
class CubeAudit:
    """The result of a comparison with DuckDB: the differences, one per line, and the numbers of compared values,
    records and windows.
    """

    wrong: list[str] = field(default_factory=list)
    values: int = 0
    records: int = 0
    late: int = 0
    missed: int = 0
    windows: int = 0

    @property
    def sound(self) -> bool:
        """Return whether there is no difference."""
        return not self.wrong

    def __str__(self) -> str:
        detail = "; ".join(self.wrong[:_NAMED_COUNT]) or "equal to DuckDB's"
        more = f"{len(self.wrong)} differences: " if self.wrong else ""
        counted = f"{self.records:,} records ({self.late:,} late, {self.missed:,} missed in pauses)"
        return f"{self.values:,} values of cubes and {self.windows:,} of windows over {counted}; {more}{detail}"

    @staticmethod
    def of(audits: Iterable[CubeAudit]) -> CubeAudit:
        """Merge several audits into one that contains all their comparisons."""
        found = list(audits)
        numbers = {
            name: sum(getattr(own, name) for own in found)
            for name in ("values", "records", "late", "missed", "windows")
        }
        return CubeAudit([line for own in found for line in own.wrong], **numbers)


@dataclass(frozen=True, slots=True)
class CubeLedger:
    """A cube, and the records with which its answers are compared.

    ``ask``: returns the answer to the body of a cube query. ``kept``: returns the API's figures of the cube.
    ``covered``: the offsets that the cube must have folded. ``slack_us``: the event time in microseconds by which a gap
    may extend beyond the missed records.
    """

    cube: CountedCube
    records: RawRecords
    ask: Callable[[Plain], Plain]
    kept: Callable[[], Plain]
    covered: Intervals
    slack_us: int

    def audit(self, intervals: Sequence[Interval]) -> CubeAudit:
        """Compare each measure of each cuboid with DuckDB's result: over all time, over the closed panes, and over each
        of ``intervals``. No record may arrive during the comparison.
        """
        kept = self.kept()
        outcomes = self.records.outcomes(self.cube, self.covered)
        missed_us = self.records.missed_us(self.cube, self.covered)
        wrong = [*self._coverage(kept), *self._accounting(kept, outcomes)]
        values = len(outcomes) + 1
        questions: list[Plain] = [{"live": True}, {}]
        questions += [{"live": True, **_bounds(*interval)} for interval in intervals]
        commits = set()
        for question in questions:
            answer = self.ask({"by": list(self.cube.cuboids()), "limit": _LIMIT, **question})
            compared, lines = self._answer(question, answer)
            values += compared
            wrong += [*lines, *self._wholeness(question, answer, missed_us)]
            commits.add(answer["commit"])
        if len(commits) > 1:
            wrong.append(f"cube {self.cube.query}: has answers of commits {sorted(commits)}, though no record came")
        missed = self.records.outcomes(self.cube, {each: [(0, end)] for each, end in self.records.ends.items()})
        return CubeAudit(
            wrong,
            values,
            records=sum(outcomes.values()),
            late=int(kept["late"]),
            missed=sum(missed.values()) - sum(outcomes.values()),
        )

    def _coverage(self, kept: Plain) -> Iterator[str]:
        intervals = covered_of(kept)
        for partition in sorted(intervals.keys() | self.covered.keys()):
            own, expected = intervals.get(partition, []), list(self.covered.get(partition, ()))
            if own != expected:
                where = f"cube {self.cube.query}, partition {partition}"
                yield f"{where}: offsets {own} are folded, by the books {expected}"
        topics = {own["topic_id"] for own in kept["coverage"]}
        if len(topics) > 1:
            yield f"cube {self.cube.query}: topics {sorted(topics)} are folded, by the books one"
        if kept["parked"] is not None:
            yield f"cube {self.cube.query}: is parked, {kept['parked']}"

    def _accounting(self, kept: Plain, outcomes: Mapping[str, int]) -> Iterator[str]:
        """Yield a line for each number of the cube's accounting line that differs from DuckDB's number. The accounting
        line has the number of accepted records by outcome. Yield another line if the outcomes do not add up.
        """
        line = str(kept["accounting"])
        terms = {name: int(number.replace(",", "")) for number, name in _TERM.findall(line)}
        accepted, late = terms.pop("accepted", None), terms.pop("late", 0)
        if accepted != sum(terms.values()) or not 0 <= late <= terms.get("counted", 0):
            yield f"cube {self.cube.query}: {line}, which does not add up"
        expected = {**dict.fromkeys(terms, 0), **outcomes, "accepted": sum(outcomes.values())}
        sources: dict[str, Plain] = {"line": {**terms, "accepted": accepted}, "status": kept}
        for name, number in sorted(expected.items()):
            for source, counts in sources.items():
                if counts.get(name) != number:
                    yield f"cube {self.cube.query}: {counts.get(name)} {name} by its {source}, by DuckDB {number}"

    def _answer(self, question: Plain, answer: Plain) -> tuple[int, list[str]]:
        """Compare the cube's answer to a question with DuckDB's result. Return the number of compared values, and the
        differences, one per line.
        """
        interval = _interval(question, answer)
        rows: dict[tuple[str, ...], dict[str, Plain]] = {tuple(names): {} for names in self.cube.cuboids()}
        wrong = []
        for row in answer["rows"]:
            group, own = row["group"], {name: value for name, value in row.items() if name != "group"}
            if rows[tuple(group)].setdefault(group_text(group), own) is not own:
                wrong.append(f"cube {self.cube.query}: group {group_text(group)} has two rows")
        values = 0
        for names, found in rows.items():
            expected = self._expected(names, interval)
            values += sum(map(len, expected.values()))
            where = f"cube {self.cube.query} by ({', '.join(names)}), {_interval_text(interval)}"
            wrong += differences(self.cube, where, found, expected)
        return values, wrong

    def _expected(self, names: Sequence[str], interval: Interval | None) -> dict[str, dict[str, Any]]:
        bounds = (0, 0) if interval is None else interval
        return self.records.groups(self.cube, names, self.covered, *bounds)

    def _wholeness(self, question: Plain, answer: Plain, missed_us: Sequence[int]) -> Iterator[str]:
        """Yield a line for each error in what an answer says about gaps and about completeness. ``missed_us``: the
        event times, in microseconds, of the records that the cube has not counted.
        """
        gaps = [_gap(gap) for gap in answer["gaps"]]
        if answer["whole"] != (not gaps):
            yield f"cube {self.cube.query}: whole is {answer['whole']} with gaps {answer['gaps']}"
        asked = _asked(question)
        for time_us in (own for own in missed_us if _is_within(own, asked)):
            if not any(_is_within(time_us, gap) for gap in gaps):
                yield f"cube {self.cube.query}: no gap at {instant_text(time_us)}, where a record is missing"
        for gap, claim in zip(gaps, answer["gaps"], strict=True):
            near = [own for own in missed_us if _is_within(own, _widened(gap, self.slack_us))]
            first, end = gap
            if not near or first is None or end is None:
                yield f"cube {self.cube.query}: a gap {json.dumps(claim)}, by the books no record is missing there"
            elif first < near[0] - self.slack_us or end > near[-1] + self.slack_us:
                yield f"cube {self.cube.query}: a gap {json.dumps(claim)}, by the books from {instant_text(near[0])} on"


def differences(
    cube: CountedCube, where: str, found: Mapping[Any, Plain], expected: Mapping[Any, Plain]
) -> Iterator[str]:
    """Yield a line for each group or measure of a cuboid that differs from DuckDB's, with both values."""
    for group in sorted(found.keys() | expected.keys(), key=str):
        actual, other = found.get(group), expected.get(group)
        if actual is None or other is None:
            both = ["no row" if each is None else json.dumps(shown(cube, each)) for each in (actual, other)]
            yield f"{where}, group {group}: {both[0]}, by DuckDB {both[1]}"
            continue
        for name in sorted(actual.keys() | other.keys()):
            if not is_equal(cube, name, actual.get(name), other.get(name)):
                right = shown(cube, other).get(name)
                yield f"{where}, group {group}: {name} is {actual.get(name)!r}, by DuckDB {right!r}"


def shown(cube: CountedCube, row: Plain) -> dict[str, Any]:
    """Return the measures of a row for a message. If a measure is a list of addends, return their sum."""
    return {
        name: math.fsum(_addends(value)) if name in cube.double_sums and isinstance(value, list) else value
        for name, value in row.items()
    }


def is_equal(cube: CountedCube, name: str, actual: Any, expected: Any) -> bool:
    """Return whether a measure equals the measure that DuckDB computes. A sum of doubles may differ from the exact sum
    by one unit in the last place, and by more only if its addends cancel.
    """
    if name not in cube.double_sums or actual is None:
        return bool(actual == expected) or (name in cube.double_sums and not _addends(expected))
    addends = _addends(expected)
    exact = math.fsum(addends)
    return bool(addends) and abs(actual - exact) <= max(math.ulp(exact), 1e-20 * math.fsum(map(abs, addends)))


def covered_of(kept: Plain) -> dict[int, list[tuple[int, int]]]:
    """Return the offsets that a cube reports as folded, by partition, with adjacent intervals merged."""
    intervals_by_partition: dict[int, list[tuple[int, int]]] = {}
    for own in kept["coverage"]:
        intervals = intervals_by_partition.setdefault(own["partition"], [])
        if intervals and intervals[-1][1] == own["from"]:
            intervals[-1] = (intervals[-1][0], own["to"])
        else:
            intervals.append((own["from"], own["to"]))
    return intervals_by_partition


def _addends(values: Iterable[float | None] | None) -> list[float]:
    return [value for value in values or () if value is not None]


def _bounds(first_us: int | None, end_us: int | None) -> dict[str, str]:
    own = {"from": first_us, "to": end_us}
    return {name: instant_text(time) for name, time in own.items() if time is not None}


def _asked(question: Plain) -> Interval:
    first, end = (None if name not in question else instant_of(name, question[name]) for name in ("from", "to"))
    return first, end


def _interval(question: Plain, answer: Plain) -> Interval | None:
    """Return the interval that an answer covers. If the query includes open panes, it is the query's interval.
    Otherwise, it is the interval of closed panes that the answer states, or None if there is none.
    """
    if question.get("live"):
        return _asked(question)
    interval = answer["interval"]
    return None if interval is None else (instant_of("from", interval[0]), instant_of("to", interval[1]))


def _gap(plain: Plain) -> Interval:
    first, end = (None if plain[name] is None else instant_of(name, plain[name]) for name in ("from", "to"))
    return first, end


def _widened(interval: Interval, by_us: int) -> Interval:
    first, end = interval
    return None if first is None else first - by_us, None if end is None else end + by_us


def _is_within(time_us: int, interval: Interval) -> bool:
    first, end = interval
    return (first is None or first <= time_us) and (end is None or time_us < end)


def _interval_text(interval: Interval | None) -> str:
    if interval is None:
        return "no closed pane"
    if interval == (None, None):
        return "all time"
    return " to ".join("..." if own is None else instant_text(own) for own in interval)
