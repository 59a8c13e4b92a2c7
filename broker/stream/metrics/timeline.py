"""The records in and out of a stream in each of the last five-second moments, for rates and charts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

from broker.stream.metrics.latency import Latency

MOMENT_S = 5
KEPT = 720
"""The number of moments that are kept. They cover an hour if a batch finishes in each moment of five seconds."""

_RATE_MOMENTS = 12
"""The number of moments in the last minute, over which rates are computed."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The counts of the batches that finished in one interval of ``MOMENT_S`` seconds.

    ``at_s``: the start of the interval in seconds since 1970, a multiple of ``MOMENT_S``. ``accepted``: records that at
    least one query accepted. ``written``: records written to destinations, counted once for each topic.
    """

    at_s: int
    batches: int = 0
    records: int = 0
    accepted: int = 0
    written: int = 0
    dead_letters: int = 0
    latency: Latency = field(default_factory=Latency.none)

    def with_batch(self, records: int, accepted: int, written: int, dead_letters: int, latency: Latency) -> Moment:
        """Return the moment with the counts of one more batch added."""
        return replace(
            self,
            batches=self.batches + 1,
            records=self.records + records,
            accepted=self.accepted + accepted,
            written=self.written + written,
            dead_letters=self.dead_letters + dead_letters,
            latency=self.latency + latency,
        )


class Timeline:
    """The last moments in which batches finished, at most ``KEPT`` moments, oldest first.

    Invariant: there is one writer, and a moment is replaced as a whole, so other threads can read. Cost: 250 bytes for
    each moment.
    """

    def __init__(self, began_s: float) -> None:
        self.began_s = began_s
        self._moments: deque[Moment] = deque(maxlen=KEPT)

    def add(
        self, now_s: float, *, records: int, accepted: int, written: int, dead_letters: int, latency: Latency
    ) -> None:
        """Add a finished batch."""
        at_s = int(now_s // MOMENT_S) * MOMENT_S
        last = self._moments[-1] if self._moments else None
        # If the clock was set back, the batch counts for the last known moment.
        is_new = last is None or at_s > last.at_s
        moment = Moment(at_s) if last is None or is_new else last
        moment = moment.with_batch(records, accepted, written, dead_letters, latency)
        if is_new:
            self._moments.append(moment)
        else:
            self._moments[-1] = moment

    def moments(self, now_s: float, seconds: float = MOMENT_S * KEPT) -> list[Moment]:
        """Return the moments of the last ``seconds`` in which a batch finished, oldest first."""
        return [moment for moment in list(self._moments) if moment.at_s > now_s - seconds]

    def rates(self, now_s: float) -> dict[str, Any]:
        """Return the numbers of read, accepted and written records per second, and latencies in seconds.

        They cover the last minute, or the time since the start if that is shorter.
        """
        recent = self.moments(now_s, _RATE_MOMENTS * MOMENT_S)
        # The oldest moment is complete. So the moments cover all time since its beginning, including pauses between
        # batches.
        first_s = ((now_s - _RATE_MOMENTS * MOMENT_S) // MOMENT_S + 1) * MOMENT_S
        span_s = max(1.0, now_s - max(first_s, self.began_s))
        latency = sum((moment.latency for moment in recent), Latency.none())

        def a_second(counts: int) -> float:
            return round(counts / span_s, 3)

        return {
            "records_per_s": a_second(sum(moment.records for moment in recent)),
            "accepted_per_s": a_second(sum(moment.accepted for moment in recent)),
            "written_per_s": a_second(sum(moment.written for moment in recent)),
            "latency_p50_s": latency.quantile_s(0.5),
            "latency_p99_s": latency.quantile_s(0.99),
        }
