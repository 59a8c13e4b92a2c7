"""Outputs of operators under faults, compared with those of a broker without faults over the same records."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timezone

from broker.consuming.consume import Delivery

_GENERATION = re.compile(r"/[0-9a-f]+@")


@dataclass(frozen=True, slots=True)
class OutputAudit:
    """The result of a comparison of outputs: the faults, one per line, the number of expected outputs (``outputs``),
    and the number of repeated outputs (``repeats``).
    """

    missing: list[str] = field(default_factory=list)
    unwanted: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    outputs: int = 0
    repeats: int = 0

    @property
    def sound(self) -> bool:
        return not (self.missing or self.unwanted or self.changed)

    def __str__(self) -> str:
        wrong = [
            f"{len(lines)} {name} (first: {lines[0]})"
            for name, lines in (("missing", self.missing), ("unwanted", self.unwanted), ("changed", self.changed))
            if lines
        ]
        counted = f"{self.outputs:,} outputs of operators, {self.repeats:,} of them again"
        return f"{counted}; {'; '.join(wrong) or 'equal to those without faults'}"


def output_audit(calm: Iterable[Delivery], arrived: Iterable[Delivery], *, written: int, until_s: float) -> OutputAudit:
    """Compare the arrived outputs, without repeats, with the outputs ``calm`` of a broker without faults. Only outputs
    with an event time before ``until_s`` are compared. ``written``: the number of all outputs, with repeats.
    """
    expected = {_identity(each): _content(each) for each in calm if time_s(each) < until_s}
    deliveries = list(arrived)
    in_time = [each for each in deliveries if time_s(each) < until_s]
    missing = expected.keys() - {_identity(each) for each in in_time}
    unwanted, changed = [], []
    for each in in_time:
        identity = _identity(each)
        if identity not in expected:
            unwanted.append(identity)
        elif _content(each) != expected[identity]:
            changed.append(f"{identity}: {_content(each)}, without faults {expected[identity]}")
    again = Counter(_identity(each) for each in in_time)
    changed += [f"{identity}: not told as a repeat" for identity, count in again.items() if count > 1]
    return OutputAudit(sorted(missing), unwanted, changed, len(expected), written - len(deliveries))


def time_s(output: Delivery) -> float:
    """Return the event time of an output in seconds since 1970. For a row of a window, the event time is the end of the
    window.
    """
    found = json.loads(output.value or b"{}")
    text: str = found["window"][1] if "window" in found else found["time"]
    return datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=timezone.utc).timestamp()


def _identity(output: Delivery) -> str:
    """Return the identity of an output, which is equal for both brokers. For a row of a window, it includes the key."""
    identity, windows = _GENERATION.subn("@", str(output.identity))
    return f"{identity} {output.key!r}" if windows else identity


def _content(output: Delivery) -> tuple[object, ...]:
    return output.key, output.value, tuple(output.queries)
