"""The console page of dead letters: the counts by reason, the latest dead letters, and a form that sends one to the
source topic again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from asc.errors import AscError
from broker.errors import QueryError, http_status
from broker.failure import one_line
from broker.http.console.pages import Form, Pages, quoted_part
from broker.http.guards import CONSOLE
from broker.http.record_json import shown_record
from broker.http.scoped_service import ScopedService
from broker.http.views import described_dead_letters
from broker.kafka.last_records import last_records
from broker.operators.headers import dead_letter_error, is_whole, last_hop
from broker.stream.replay import replay
from broker.stream.stream import Stream

_SHOWN = 50
_BYTES_MAX = 8 << 20
_WITHIN_S = 5.0
_FAILED = 500
_PLACE_CHARS = 50
_NAME_CHARS = 250
_PLACE = re.compile(r"([0-9]{1,9})-([0-9]{1,18})")


def letter_routes(pages: Pages, permitted_of: Callable[[Request], ScopedService]) -> APIRouter:
    """Return the routes of ``/console/dead-letters``."""
    router = APIRouter(prefix="/dead-letters")
    of_caller = Depends(permitted_of)

    @router.get("")
    def letters(stream: str = "", sent: str = "", permitted: ScopedService = of_caller) -> Response:
        source = _seen(permitted, stream)
        values = {
            "title": "Dead letters",
            "stream": source.name,
            "streams": sorted(permitted.streams()),
            "sent": sent,
            "dead_letters": described_dead_letters(source),
            "topic": source.dead_letter_topic,
        }
        return pages.page("dead_letters.html", values)

    @router.get("/last")
    def last(stream: str = "", permitted: ScopedService = of_caller) -> Response:
        """Return a part of the page: the last dead letters of a stream. The browser loads the part separately, because
        Kafka may be slow.
        """
        source = _seen(permitted, stream)
        may_replay = permitted.may_replay(source.config.topic)
        values = {"stream": source.name, "may_replay": may_replay, "letters": _last(source)}
        return pages.page("letters.html", values)

    @router.post("/replay")
    def again(form: Form, permitted: ScopedService = of_caller) -> Response:
        name, place = form.get("stream", "")[:_NAME_CHARS], form.get("place", "")[:_PLACE_CHARS]
        entry = {"stream": name, "dead_letter": place}
        try:
            _replay(permitted, permitted.stream_of(name or None), place)
        except AscError as error:
            outcome = "refused" if http_status(error) < _FAILED else "failed"
            permitted.note("replay", {**entry, "outcome": outcome, "error": one_line(error)})
            raise
        permitted.note("replay", {**entry, "outcome": "sent"})
        return RedirectResponse(f"{CONSOLE}/dead-letters?stream={quoted_part(name)}&sent={place}", 303)

    return router


def _seen(permitted: ScopedService, stream: str) -> Stream:
    """Return the stream with a name. For an empty name, return the first stream by name that the caller sees.

    Raise ForbiddenError if the caller may not see dead letters.
    """
    permitted.check_sees_whole_streams("dead letters", "use a token without id_prefix")
    permitted.check_sees_records("dead letters", "use a token without columns")
    return permitted.stream_of(stream or next(iter(sorted(permitted.streams())), None))


def _replay(permitted: ScopedService, stream: Stream, text: str) -> None:
    """Send a dead letter to the source topic again. ``text``: the partition and offset of the dead letter in the
    dead-letter topic, such as ``0-17``. Raise AscError if this is refused or fails.
    """
    permitted.check_replays(stream.config.topic)
    place = _PLACE.fullmatch(text)
    if place is None:
        raise QueryError("place", text, "write PARTITION-OFFSET, as 0-17")
    if not replay(stream.kafka, stream.dead_letter_topic, stream.config.topic, [(int(place[1]), int(place[2]))]):
        raise QueryError("dead letter", text, "is not there, or has not all of its record")


def _last(stream: Stream) -> list[dict[str, Any]]:
    records = last_records(stream.kafka, stream.dead_letter_topic, _SHOWN, most_bytes=_BYTES_MAX, within_s=_WITHIN_S)
    records.sort(key=lambda record: (record.timestamp, record.partition, record.offset), reverse=True)
    return [
        {
            **shown_record(record),
            "error": dead_letter_error(record.headers or ()) or "no reason is given",
            "source": last_hop(record.headers or ()).source,
            "is_whole": is_whole(record.headers or ()),
        }
        for record in records
    ]
