"""The console pages of DBSCAN queries: the list, and a page for each query. The page shows the clusters of the query's
last window, and the parameters of all DBSCAN queries with the same destination topic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from asc.errors import AscError
from asc.operators.dbscan.dbscan_query import OP
from asc.operators.dbscan.definition import DbscanDefinition
from broker.errors import UnknownQueryError, http_status
from broker.http.console.operators.dbscan_drawing import largest, window_drawing
from broker.http.console.operators.dbscan_marks import ClusterMark
from broker.http.console.operators.dbscan_window import Bound, LastWindow, SeenWindow, TopicEnd
from broker.http.console.pages import Pages, duration_text, instant_on_page, number_text, quoted_part, said
from broker.http.guards import CONSOLE
from broker.http.scoped_service import ScopedService
from broker.http.views import shown
from broker.kafka.newest_records import newest_records
from broker.operators.dbscan.definition import StandingDbscan
from broker.queries.query import RegisteredQuery

LINK = ("/dbscan", "Clusters")

READ_BYTES_MAX = 8 << 20
"""The largest number of bytes that a page reads from the end of a destination topic."""

_WITHIN_S = 5.0
_PAGE = 50
_WALKED = 1_000
_SETTINGS_SHOWN = 50
_CLUSTERS_SHOWN = 50
_IDS_SHOWN = 8


def routes(pages: Pages, permitted_of: Callable[[Request], ScopedService]) -> APIRouter:
    """Return the routes of ``/console/dbscan``, of a page for each query, and of the part of this page that the query's
    general page also includes.
    """
    router = APIRouter()
    of_caller = Depends(permitted_of)

    @router.get("/dbscan")
    def listed(after: str = "", permitted: ScopedService = of_caller) -> Response:
        found, more = permitted.page("", None, None, after or None, _PAGE, operator=OP)
        queries = [{**shown(permitted, query, is_brief=True), "address": _address(query.id)} for query in found]
        following = found[-1].id if more else None
        values = {"title": LINK[1], "queries": queries, "next": following}
        return pages.page("operators/dbscan_list.html", values)

    @router.get("/dbscan/{query_id:path}")
    def show(query_id: str, permitted: ScopedService = of_caller) -> Response:
        if not query_id:
            return RedirectResponse(f"{CONSOLE}{LINK[0]}", 303)
        query, definition = _readable(permitted, query_id)
        content: dict[str, Any] = {"error": None}
        status = 200
        try:
            content.update(_last_window(permitted, query, definition))
        except AscError as error:
            content, status = {"error": said(error)}, http_status(error)
        values = {"title": f"Clusters of {query_id}", "query": shown(permitted, query), **content}
        return pages.page("operators/dbscan_page.html", values, status)

    @router.get("/dbscan-window/{query_id:path}")
    def part(query_id: str, permitted: ScopedService = of_caller) -> Response:
        """Return a part of the page: the last window of a query. The browser loads the part separately, because Kafka
        may be slow.
        """
        query, definition = _readable(permitted, query_id)
        values = {"query": shown(permitted, query), **_last_window(permitted, query, definition)}
        return pages.page("operators/dbscan_window.html", values)

    return router


def _readable(permitted: ScopedService, query_id: str) -> tuple[RegisteredQuery, DbscanDefinition]:
    """Return the DBSCAN query with an id, and its definition.

    Raise UnknownQueryError for a query of another kind, and ForbiddenError if the caller may not see records.
    """
    query = permitted.get(query_id)
    if not isinstance(query.operator, StandingDbscan):
        raise UnknownQueryError("DBSCAN query", query_id, "is a query of another kind: see its own page")
    permitted.check_sees_records("clusters of query", "ask one who may")
    return query, query.operator.own


def _last_window(permitted: ScopedService, query: RegisteredQuery, definition: DbscanDefinition) -> dict[str, Any]:
    """Return the values of a page about a query's last window, which are read from the end of the destination topic.
    Raise KafkaError if the topic cannot be read.
    """
    settings = _settings_of(permitted, query)
    end = TopicEnd(query.id, {own.id for own, _ in settings[:_SETTINGS_SHOWN]})
    stream = permitted.streams().get(query.stream)
    if stream is not None:
        newest_records(stream.kafka, query.topic, most_bytes=READ_BYTES_MAX, within_s=_WITHIN_S, are_enough=end.read)
    shown_settings = [
        {
            "id": own.id,
            "address": _address(own.id),
            "where": own.where,
            "eps": setting.eps,
            "unit": "" if setting.position is None else " m",
            "min_samples": setting.min_samples,
            "windows": windows_text(setting),
            "last": end.windows.get(own.id),
            "end": bound_text(end.windows[own.id].bounds[1]) if own.id in end.windows else None,
        }
        for own, setting in settings[:_SETTINGS_SHOWN]
    ]
    return {
        **({"last": None} if end.last is None else _shown_window(end.last, definition)),
        "settings": shown_settings,
        "settings_more": max(0, len(settings) - _SETTINGS_SHOWN),
        "min_samples": definition.min_samples,
    }


def _shown_window(last: LastWindow, definition: DbscanDefinition) -> dict[str, Any]:
    """Return the values of a page about one window: its drawing, its clusters, and the ids of clusters that have
    disappeared.
    """
    window, name = last.window, window_name(last.window)
    gone = list(window.disappeared.items())
    return {
        "last": last,
        "name": name,
        "drawing": window_drawing(last, definition, name) if window.points else None,
        "rows": cluster_rows(last),
        "gone": [
            {"id": old, "joined": joined[:_IDS_SHOWN], "more": max(0, len(joined) - _IDS_SHOWN)}
            for old, joined in gone[:_CLUSTERS_SHOWN]
        ],
        "gone_more": window.more_disappeared + max(0, len(gone) - _CLUSTERS_SHOWN),
    }


def _settings_of(permitted: ScopedService, query: RegisteredQuery) -> list[tuple[RegisteredQuery, DbscanDefinition]]:
    """Return ``query`` with its definition, and after it all other visible DBSCAN queries with the same destination
    topic. Only the first ``_WALKED`` DBSCAN queries of the stream are searched.
    """
    walked, _ = permitted.page("", None, query.stream, None, _WALKED, operator=OP)
    own = [query, *(each for each in walked if each.topic == query.topic and each.id != query.id)]
    return [(each, each.operator.own) for each in own if isinstance(each.operator, StandingDbscan)]


def cluster_rows(last: LastWindow) -> list[dict[str, Any]]:
    """Return the rows of the table of clusters. Only the largest clusters have a row, in descending order of size."""
    found = sorted(largest(last.clusters, _CLUSTERS_SHOWN), key=lambda own: (-own.points, own.label))
    return [
        {
            "label": own.label,
            "id": own.id,
            "swatch": ClusterMark.of(own.id).swatch(),
            "points": own.points,
            "core": own.core,
            "events": ", ".join(own.events) or "-",
            "origins": own.origins[:_IDS_SHOWN],
            "more": own.more_origins + max(0, len(own.origins) - _IDS_SHOWN),
        }
        for own in found
    ]


def window_name(window: SeenWindow) -> str:
    """Return the bounds of a window in words.

    >>> window_name(SeenWindow((1, 5000), False, False))
    'points 1 to 5,000'
    """
    first, end = map(bound_text, window.bounds)
    return f"from {first} to {end}" if isinstance(window.bounds[0], str) else f"points {first} to {end}"


def bound_text(bound: Bound) -> str:
    """Return a bound of a window as text: a time, or the number of a point.

    >>> bound_text("2018-08-01T05:30:00.000000Z"), bound_text(5000)
    ('2018-08-01 05:30:00 UTC', '5,000')
    """
    return instant_on_page(bound.replace(".000000Z", "Z")) if isinstance(bound, str) else f"{bound:,}"


def windows_text(definition: DbscanDefinition) -> str:
    """Return the length and the slide of a query's windows in words.

    >>> plain = {"attributes": ["x"], "eps": 1, "min_samples": 2, "window_points": 5000, "slide_points": 1000}
    >>> windows_text(DbscanDefinition.parse(plain))
    '5,000 points every 1,000'
    """
    if definition.is_timed:
        return f"{duration_text(definition.window)} every {duration_text(definition.slide)}"
    return f"{number_text(definition.window)} points every {number_text(definition.slide)}"


def _address(query_id: str) -> str:
    return f"{CONSOLE}{LINK[0]}/{quoted_part(query_id)}"
