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
    # Nothing from other hosts, no script or style within a page: what a record or a predicate holds stays text.
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
"""The units of durations. For each unit: the least duration in seconds for which it is used, its length in seconds, and
its name.
"""

_FIRST, _LAST = (
    (("/", "Overview"), ("/queries", "Queries")),
    (("/plan", "Plan"), ("/trace", "Trace"), ("/dead-letters", "Dead letters")),
)
"""The links that every page has: the first ones come before the pages of the operator kinds, the last ones after these.
"""

_FIELDS_MAX = 50
"""The most fields of a form. The largest form of the console has six."""


class Pages:
    """The templates of the console. All values on a page are escaped. A character that a browser would obey or hide is
    shown as its number.

    The filter ``field`` leaves the values of form fields unchanged. ``logs_in``: whether a token is required.
    ``links``: the addresses and names of further pages that every page links to.
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
        """Return the page, or the part of a page, that the template ``name`` renders from the values."""
        return HTMLResponse(self._templates.get_template(name).render(values), status, _HEADERS)

    def refused(self, error: AscError, status: int, request: Request) -> Response:
        """Return a refusal as a page, or as a part of a page if a part was requested."""
        name = "refusal.html" if "hx-request" in request.headers else "refused.html"
        # htmx puts an answer into the page only where its status is a success.
        shown_as = 200 if "hx-request" in request.headers else status
        return self.page(name, {"error": said(error), "title": refusal_title(status)}, shown_as)


def refusal_title(status: int) -> str:
    """Return the title of a refusal, by its HTTP status.

    >>> refusal_title(404), refusal_title(403), refusal_title(500), refusal_title(400)
    ('Not found', 'Not permitted', 'Failed', 'Refused')
    """
    return _REFUSAL_TITLES.get(status, "Failed" if status >= 500 else "Refused")


def said(error: AscError) -> dict[str, str]:
    """Return the texts that a page shows of an error: its message in one line, and the mark of its position in a
    predicate. The mark is empty for an error that has none.
    """
    return {
        "message": str(error).split("\n", 1)[0],
        "caret": error.caret() if isinstance(error, PredicateError) else "",
    }


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a posted form. The last value of a repeated field counts.

    Lines end with a line feed, whatever the browser sends. Raise QueryError for too many fields.
    """
    body = (await request.body()).decode("utf-8", "replace")
    try:
        fields = parse_qsl(body, keep_blank_values=True, max_num_fields=_FIELDS_MAX)
    except ValueError:
        raise QueryError("form", f"{body.count('&') + 1} fields", "send those of the page alone") from None
    return {name: text.replace("\r\n", "\n") for name, text in fields}


Form = Annotated[Mapping[str, str], Depends(form_of)]
"""The type of an endpoint's parameter that receives the fields of a posted form."""


def quoted_part(text: str) -> str:
    """Return a text quoted for use as one part of a URL's path."""
    return quote(text, safe="")


def instant_on_page(text: str) -> str:
    """Return a time in UTC in the form that a page shows. Its year may have more than four digits, unlike in
    :func:`broker.time_text.page_date`.

    >>> instant_on_page("2013-07-10T12:00:00Z"), instant_on_page("+12345-01-01T00:00:00.5Z")
    ('2013-07-10 12:00:00 UTC', '+12345-01-01 00:00:00.5 UTC')
    """
    return text.replace("T", " ").replace("Z", " UTC")


def micros_on_page(time_us: int | None) -> str:
    """Return microseconds since 1970 in the form that a page shows, or a dash for None. A time outside the
    years 1 to 9999 is shown as the first or last one of these years.

    >>> micros_on_page(1_373_414_400_000_000), micros_on_page(None)
    ('2013-07-10 00:00:00 UTC', '-')
    """
    if time_us is None:
        return "-"
    return instant_on_page(time_text(min(max(time_us, FIRST_US), LAST_US)).replace(".000000Z", "Z"))


def number_text(value: float | None) -> str:
    """Return a number in a readable form, or a dash for None.

    >>> number_text(1234567), number_text(0.25), number_text(None)
    ('1,234,567', '0.25', '-')
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:,.3g}"


def counted_text(number: float, noun: str) -> str:
    """Return a number with its noun.

    >>> counted_text(1.0, "time"), counted_text(1234, "cell"), counted_text(0.25, "time")
    ('1 time', '1,234 cells', '0.25 times')
    """
    shown = number_text(number)
    return f"{shown} {noun}{'' if shown == '1' else 's'}"


def duration_text(seconds: float | None) -> str:
    """Return a duration with three digits, in the unit that suits its size. Return a dash for None.

    >>> duration_text(0.0831), duration_text(2.5), duration_text(100.0), duration_text(1234.5), duration_text(None)
    ('83.1 ms', '2.5 s', '100 s', '20.6 min', '-')
    """
    if seconds is None:
        return "-"
    unit_s, unit = next(((size_s, unit) for least_s, size_s, unit in _UNITS if seconds >= least_s), (0.001, "ms"))
    value = seconds / unit_s
    return f"{value:,.0f} {unit}" if value >= 99.95 else f"{value:.3g} {unit}"


def latency_text(seconds: float | None) -> str:
    """Return a quantile of the latency as text. From the last bound of the histogram on, the text only says that the
    latency exceeds this bound.

    >>> latency_text(100.0), latency_text(3600.0)
    ('100 s', 'more than 1 h')
    """
    return "more than 1 h" if seconds is not None and seconds >= BOUNDS_S[-1] else duration_text(seconds)
