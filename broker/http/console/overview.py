"""The first page: what flows, and whether all is well."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from broker.http.console.chart import Line, chart
from broker.http.console.pages import Pages
from broker.http.flow import described_flow
from broker.http.permitted import Permitted
from broker.http.views import described_dead_letters
from broker.stream.phases import PHASES
from broker.stream.stream import Stream
from broker.stream.timeline import MOMENT_S, Moment

_STEP_S = 60
"""Of the charts: a point a minute."""


def overview_routes(pages: Pages, permitted_of: Callable[[Request], Permitted]) -> APIRouter:
    """``/console/``, and the part of it that is asked for again and again."""
    router = APIRouter()
    of_caller = Depends(permitted_of)

    @router.get("/")
    def overview(permitted: Permitted = of_caller) -> Response:
        return pages.page("overview.html", {"title": "Overview", **_shown(permitted)})

    @router.get("/live")
    def live(permitted: Permitted = of_caller) -> Response:
        return pages.page("live.html", _shown(permitted))

    return router


def _shown(permitted: Permitted) -> dict[str, Any]:
    reason = permitted.readiness()
    if reason is not None and not permitted.is_loaded:
        return {"reason": reason, "streams": [], "phases": PHASES}
    whole = permitted.sees_whole_streams
    streams = [_stream(permitted, name, stream, whole) for name, stream in sorted(permitted.streams().items())]
    return {"reason": reason, "streams": streams, "phases": PHASES}


def _stream(permitted: Permitted, name: str, stream: Stream, whole: bool) -> dict[str, Any]:
    queries, not_served = permitted.counts(name)
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
        "charts": _charts(stream.figures.moments(), whole),
    }


def _charts(moments: Sequence[Moment], whole: bool) -> list[Any]:
    now_s = time.time()

    def a_second(count_of: Callable[[Moment], float]) -> dict[int, float]:
        sums: dict[int, float] = {}
        for moment in moments:
            at_s = moment.at_s // _STEP_S * _STEP_S
            # The minute that is not over has fewer seconds.
            seconds = min(_STEP_S, max(MOMENT_S, now_s - at_s))
            sums[at_s] = sums.get(at_s, 0.0) + count_of(moment) / seconds
        return sums

    rates = [Line("in", a_second(lambda moment: moment.records))]
    if whole:
        rates += [Line("accepted", a_second(lambda m: m.accepted)), Line("out", a_second(lambda m: m.written))]
    minutes = {moment.at_s // _STEP_S * _STEP_S for moment in moments}
    of_minute = {at_s: [m for m in moments if m.at_s // _STEP_S * _STEP_S == at_s] for at_s in minutes}

    def latency(share: float) -> dict[int, float]:
        found: dict[int, float] = {}
        for at_s, some in of_minute.items():
            together = some[0].latency
            for each in some[1:]:
                together = together + each.latency
            found[at_s] = (together.quantile_s(share) or 0.0) * 1000
        return found

    return [
        chart("Records a second", rates, now_s=now_s, step_s=_STEP_S, unit="records/s"),
        chart(
            "Latency, milliseconds",
            [
                Line("half of the records within", latency(0.5), has_gaps=True),
                Line("99 of 100 within", latency(0.99), has_gaps=True),
            ],
            now_s=now_s,
            step_s=_STEP_S,
            unit="ms",
        ),
    ]
