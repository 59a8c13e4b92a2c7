"""The page of dead letters: why records could not be decoded, the last of them, and sending one again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from broker.errors import QueryError
from broker.http.console.pages import Form, Pages, quoted_part
from broker.http.contents import shown_record
from broker.http.guards import CONSOLE
from broker.http.permitted import Permitted
from broker.http.views import described_dead_letters
from broker.kafka.last_records import last_records
from broker.operators.headers import dead_letter_error, delivered_by, is_whole
from broker.stream.replay import replay
from broker.stream.stream import Stream

_SHOWN = 50
_BYTES_MAX = 8 << 20
_WITHIN_S = 5.0
_PLACE = re.compile(r"([0-9]{1,9})-([0-9]{1,18})")


def letter_routes(pages: Pages, permitted_of: Callable[[Request], Permitted]) -> APIRouter:
    """``/console/dead-letters``."""
    router = APIRouter(prefix="/dead-letters")
    of_caller = Depends(permitted_of)

    @router.get("")
    def letters(stream: str = "", sent: str = "", permitted: Permitted = of_caller) -> Response:
        permitted.check_sees_whole_streams("dead letters", "use a token without id_prefix")
        permitted.check_sees_records("dead letters", "use a token without columns")
        names = sorted(permitted.streams())
        name = stream or next(iter(names), "")
        found = permitted.stream_of(name or None)
        values = {
            "title": "Dead letters",
            "stream": name,
            "streams": names,
            "sent": sent,
            "may_change": permitted.may_change,
            "dead_letters": described_dead_letters(found),
            "letters": _last(found),
            "topic": found.dead_letter_topic,
        }
        return pages.page("dead_letters.html", values)

    @router.post("/replay")
    def again(form: Form, permitted: Permitted = of_caller) -> Response:
        permitted.check_runs_predicates()
        permitted.check_sees_whole_streams("dead letters", "use a token without id_prefix")
        stream = permitted.stream_of(form.get("stream") or None)
        place = _PLACE.fullmatch(form.get("place", ""))
        if place is None:
            raise QueryError("place", form.get("place", "")[:50], "write PARTITION-OFFSET, as 0-17")
        sent = replay(stream.kafka, stream.dead_letter_topic, stream.config.topic, [(int(place[1]), int(place[2]))])
        if not sent:
            raise QueryError("dead letter", place[0], "is not there, or has not all of its record")
        permitted.note("replay", {"stream": stream.name, "dead_letter": place[0], "outcome": "sent"})
        return RedirectResponse(f"{CONSOLE}/dead-letters?stream={quoted_part(stream.name)}&sent={place[0]}", 303)

    return router


def _last(stream: Stream) -> list[dict[str, Any]]:
    records = last_records(stream.kafka, stream.dead_letter_topic, _SHOWN, most_bytes=_BYTES_MAX, within_s=_WITHIN_S)
    records.sort(key=lambda record: (record.timestamp, record.partition, record.offset), reverse=True)
    return [
        {
            **shown_record(record),
            "error": dead_letter_error(record.headers or ()) or "no reason is given",
            "source": delivered_by(record.headers or ())[1],
            "is_whole": is_whole(record.headers or ()),
        }
        for record in records
    ]
