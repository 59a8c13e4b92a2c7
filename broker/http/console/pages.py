"""Rendering of the console's pages from templates, and the security headers that a page sends to a browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined

from asc.errors import AscError, PredicateError
from asc.operators.times import FIRST_US, LAST_US, time_text
from broker.errors import QueryError
from broker.http.guards import CONSOLE
from broker.pages.markup import field, text
from broker.pages.words import folded, whole, words
from broker.stream.metrics.latency import BOUNDS_S
from broker.time_text import page_date, page_time

_HEADERS = {
    # The browser loads nothing from other hosts, and runs no script or style inside a page. So a text of a record or
    # predicate can never act as a script.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_REFUSAL_TITLES: Mapping[int, str] = {
    401: "Not logged in",
    403: "Not permitted",
    404: "Not found",
    429: "Too many requests",
    503: "Not available",
}

_UNITS = ((3600.0, 3600.0, "h"), (120.0, 60.0, "min"), (0.9995, 1.0, "s"))
"""The units of durations. For each unit: the least duration in seconds for which the unit is used, the length of the
unit in seconds, and its name.
"""

_FIRST, _LAST = (
    (("/", "Overview"), ("/queries", "Queries")),
    (("/plan", "Plan"), ("/trace", "Trace"), ("/dead-letters", "Dead letters")),
)
"""The links that every page has, as paths and names: those before the pages of the operator kinds, and those after
them.
"""

_FIELDS_MAX = 50
"""The most fields that a posted form may have. The largest form of the console has six."""


class Pages:
    """The templates of the console's pages. All values on a page are escaped. Control characters and invisible
    characters are shown as their numbers.

    The template filter ``field`` leaves the value of a form field unchanged, so that the browser sends the same value
    again. ``logs_in``: whether the console requires a token. ``links``: the paths and names of the operator kinds'
    pages, to which every page links.
    """

    def __init__(self, *, logs_in: bool, links: Sequence[tuple[str, str]] = ()) -> None:
        self._templates = Environment(
            loader=PackageLoader("broker.http.console"),
            autoescape=True,
            finalize=text,
            undefined=StrictUndefined,
            trim_blocks=True,
        )
        self._templates.filters.update(
            time=page_time, date=page_date, at=instant_on_page, number=number_text, part=quoted_part
        )
        self._templates.filters.update(instant=micros_on_page)
        self._templates.filters.update(words=words, whole=whole, folded=folded, field=field)
        self._templates.filters.update(duration=duration_text, latency=latency_text)
        self._templates.globals.update(console=CONSOLE, logs_in=logs_in, links=[*_FIRST, *links, *_LAST])

    def page(self, name: str, values: Mapping[str, Any], status: int = 200) -> HTMLResponse:
        """Return the page, or the part of a page, that the template ``name`` renders from ``values``. ``status``: the
        HTTP status.
        """
        return HTMLResponse(self._templates.get_template(name).render(values), status, _HEADERS)

    def refused(self, error: AscError, status: int, request: Request) -> Response:
        """Return a refusal as a page. Return it as a part of a page if htmx requested a part."""
        name = "refusal.html" if "hx-request" in request.headers else "refused.html"
        # htmx inserts an answer into the page only if the status is a success.
        shown_as = 200 if "hx-request" in request.headers else status
        return self.page(name, {"error": said(error), "title": refusal_title(status)}, shown_as)


def refusal_title(status: int) -> str:
    """Return the title of a refusal, by its HTTP status.

    >>> refusal_title(404), refusal_title(403), refusal_title(500), refusal_title(400)
    ('Not found', 'Not permitted', 'Failed', 'Refused')
    """
    return _REFUSAL_TITLES.get(status, "Failed" if status >= 500 else "Refused")


def said(error: AscError) -> dict[str, str]:
    """Return the texts that a page shows for an error: ``message``, its first line, and ``caret``, the line of the
    predicate with a mark below the error. ``caret`` is empty if the error has no position in a predicate.
    """
    return {
        "message": str(error).split("\n", 1)[0],
        "caret": error.caret() if isinstance(error, PredicateError) else "",
    }


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a posted form by name. If a field is repeated, its last value is used.

    Line ends of values are converted to a line feed, because browsers send a carriage return too. Raise QueryError for
    too many fields.
    """
    body = (await request.body()).decode("utf-8", "replace")
    try:
        fields = parse_qsl(body, keep_blank_values=True, max_num_fields=_FIELDS_MAX)
    except ValueError:
        raise QueryError("form", f"{body.count('&') + 1} fields", "send those of the page alone") from None
    return {name: text.replace("\r\n", "\n") for name, text in fields}


Form = Annotated[Mapping[str, str], Depends(form_of)]
"""The type of an endpoint's parameter to which FastAPI passes the fields of a posted form."""


def quoted_part(text: str) -> str:
    """Return a text with all special characters quoted, including slashes, as one part of a URL's path."""
    return quote(text, safe="")


def instant_on_page(text: str) -> str:
    """Return a time in UTC, given in ISO 8601, in the form that a page shows. The year may have more than four digits,
    which :func:`broker.time_text.page_date` does not support.

    >>> instant_on_page("2013-07-10T12:00:00Z"), instant_on_page("+12345-01-01T00:00:00.5Z")
    ('2013-07-10 12:00:00 UTC', '+12345-01-01 00:00:00.5 UTC')
    """
    return text.replace("T", " ").replace("Z", " UTC")


def micros_on_page(time_us: int | None) -> str:
    """Return a time, given in microseconds since 1970, in the form that a page shows. Return a dash for None. A time
    before the year 1 or after the year 9999 is replaced by the first or last time of these years.

    >>> micros_on_page(1_373_414_400_000_000), micros_on_page(None)
    ('2013-07-10 00:00:00 UTC', '-')
    """
    if time_us is None:
        return "-"
    return instant_on_page(time_text(min(max(time_us, FIRST_US), LAST_US)).replace(".000000Z", "Z"))


def number_text(value: float | None) -> str:
    """Return a number with separators of thousands. A number below 100 that is not whole has three digits. Return a
    dash for None.

    >>> number_text(1234567), number_text(0.25), number_text(None)
    ('1,234,567', '0.25', '-')
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:,.3g}"


def counted_text(number: float, noun: str) -> str:
    """Return a number with a noun, which gets a plural s if the number is not 1.

    >>> counted_text(1.0, "time"), counted_text(1234, "cell"), counted_text(0.25, "time")
    ('1 time', '1,234 cells', '0.25 times')
    """
    shown = number_text(number)
    return f"{shown} {noun}{'' if shown == '1' else 's'}"


def duration_text(seconds: float | None) -> str:
    """Return a duration with three digits, in ms, s, min or h, whichever suits its size. Return a dash for None.

    >>> duration_text(0.0831), duration_text(2.5), duration_text(100.0), duration_text(1234.5), duration_text(None)
    ('83.1 ms', '2.5 s', '100 s', '20.6 min', '-')
    """
    if seconds is None:
        return "-"
    unit_s, unit = next(((size_s, unit) for least_s, size_s, unit in _UNITS if seconds >= least_s), (0.001, "ms"))
    value = seconds / unit_s
    return f"{value:,.0f} {unit}" if value >= 99.95 else f"{value:.3g} {unit}"


def latency_text(seconds: float | None) -> str:
    """Return a quantile of the latency as text. If the quantile is in the last, unbounded interval of the histogram,
    the text only says that the latency exceeds the last bound.

    >>> latency_text(100.0), latency_text(3600.0)
    ('100 s', 'more than 1 h')
    """
    return "more than 1 h" if seconds is not None and seconds >= BOUNDS_S[-1] else duration_text(seconds)
