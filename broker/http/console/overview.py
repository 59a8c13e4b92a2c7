"""The first page of the console: the rates and latencies of each stream, and the health of the daemon."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from broker.http.console.chart import SECONDS, Line, chart
from broker.http.console.pages import Pages
from broker.http.scoped_service import ScopedService
from broker.http.stream_rates import described_flow
from broker.http.views import described_dead_letters
from broker.stream.metrics.latency import Latency
from broker.stream.metrics.phases import PHASES
from broker.stream.metrics.timeline import MOMENT_S, Moment
from broker.stream.stream import Stream

_STEP_S = 60
"""The interval between two points of the charts, in seconds."""


def overview_routes(pages: Pages, permitted_of: Callable[[Request], ScopedService]) -> APIRouter:
    """Return the routes of ``/console/``, and of the part of this page that the browser reloads every few seconds."""
    router = APIRouter()
    of_caller = Depends(permitted_of)

    @router.get("/")
    def overview(permitted: ScopedService = of_caller) -> Response:
        return pages.page("overview.html", {"title": "Overview", **_shown(permitted)})

    @router.get("/live")
    def live(permitted: ScopedService = of_caller) -> Response:
        return pages.page("live.html", _shown(permitted))

    return router


def _shown(permitted: ScopedService) -> dict[str, Any]:
    reason = permitted.readiness()
    common = {"reason": reason, "phases": PHASES, "as_of_ms": time.time() * 1000, "may_change": permitted.may_change}
    if reason is not None and not permitted.is_loaded:
        return {**common, "streams": []}
    whole = permitted.sees_whole_streams
    streams = [_stream(permitted, name, stream, whole) for name, stream in sorted(permitted.streams().items())]
    return {**common, "streams": streams}


def _stream(permitted: ScopedService, name: str, stream: Stream, whole: bool) -> dict[str, Any]:
    queries, not_served = permitted.counts(name)
    moments = stream.figures.moments()
    return {
        "name": name,
        "topic": stream.config.topic,
        "format": stream.config.format,
        "problem": stream.problem,
        "queries": queries,
        "not_served": not_served,
        "version": stream.running.plan.version,
        "flow": described_flow(stream, whole=whole),
        "whole": whole,
        "dead_letters": described_dead_letters(stream),
        "phases": stream.phases(),
        "has_flow": bool(moments),
        "charts": _charts(moments, stream.figures.timeline.began_s, whole=whole),
    }


def _charts(moments: Sequence[Moment], began_s: float, *, whole: bool) -> list[Any]:
    now_s = time.time()
    of_minute: dict[int, list[Moment]] = {}
    for moment in moments:
        of_minute.setdefault(moment.at_s // _STEP_S * _STEP_S, []).append(moment)

    def rate(name: str, count_of: Callable[[Moment], float]) -> Line:
        # The first minute since the start and the current minute are incomplete, so divide by their actual lengths.
        values = {
            at_s: sum(map(count_of, some)) / max(MOMENT_S, min(at_s + _STEP_S, now_s) - max(at_s, began_s))
            for at_s, some in of_minute.items()
        }
        return Line(name, values, since_s=began_s)

    rates = [rate("in", lambda moment: moment.records)]
    if whole:
        rates += [rate("accepted", lambda moment: moment.accepted), rate("out", lambda moment: moment.written)]
    latencies = {at_s: _together(some) for at_s, some in of_minute.items()}

    def latency(name: str, share: float) -> Line:
        found = {at_s: one.quantile_s(share) for at_s, one in latencies.items()}
        values = {at_s: quantile_s for at_s, quantile_s in found.items() if quantile_s is not None}
        return Line(name, values, has_gaps=True)

    within = [latency("half of the records within", 0.5), latency("99 of 100 within", 0.99)]
    return [
        chart("Records a second", rates, now_s=now_s, step_s=_STEP_S, unit="records/s"),
        chart("Latency", within, now_s=now_s, step_s=_STEP_S, unit=SECONDS),
    ]


def _together(moments: Sequence[Moment]) -> Latency:
    whole = moments[0].latency
    for each in moments[1:]:
        whole += each.latency
    return whole
