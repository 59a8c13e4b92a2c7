"""What a browser may do with a page, and what stands on it."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from fastapi import Request

from asc.errors import PredicateError
from broker.errors import QueryError
from broker.http.console import pages
from broker.http.console.chart import Line, bar, chart
from broker.http.console.pages import Pages, duration_text, form_of, latency_text, number_text, said
from broker.pages.markup import text

HOSTILE = "<script>alert(1)</script>\"'&{{ 1 }}"


def request(body: bytes = b"", **headers: str) -> Request:
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    found = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": found}, receive)


def test_whatever_a_page_is_given_is_text() -> None:
    page = Pages(logs_in=True).page("refused.html", {"title": HOSTILE, "error": {"message": HOSTILE, "caret": HOSTILE}})
    text = page.body.decode()
    assert HOSTILE not in text
    # As title and heading, and in the caret's lines; the line of the error has its one word cut, with a title.
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;&amp;{{ 1 }}") == 3
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert page.headers["cache-control"] == "no-store"


def test_a_refusal_is_a_page_or_the_part_that_was_asked_for() -> None:
    pages, error = Pages(logs_in=False), QueryError("query", "late", "is unknown")
    whole = pages.refused(error, 404, request())
    assert (whole.status_code, b"<!doctype html>" in whole.body, b"Log out" in whole.body) == (404, True, False)
    part = pages.refused(error, 404, request(hx_request="true"))
    assert (part.status_code, b"<!doctype html>" in part.body) == (200, False)
    assert b"query &#39;late&#39;: is unknown" in part.body


@pytest.mark.parametrize(
    ("status", "title"),
    [(400, "Refused"), (403, "Not permitted"), (404, "Not found"), (500, "Failed"), (503, "Not available")],
)
def test_a_refusal_is_called_what_it_is(status: int, title: str) -> None:
    page = Pages(logs_in=False).refused(QueryError("query", "late", "is unknown"), status, request()).body.decode()
    assert f"<title>{title} - asc</title>" in page
    assert f"<h1>{title}</h1>" in page


def test_a_trial_without_records_leads_on() -> None:
    found = {"records": 0, "accepted": 0, "dead_letters": 0}
    page = Pages(logs_in=False).page("trial.html", {"found": found, "error": None, "stream": "flights"})
    assert b"<code>asc publish FILE --stream flights</code>" in page.body


def test_an_error_has_its_line_and_its_caret() -> None:
    assert said(QueryError("a", "b", "c")) == {"message": "a 'b': c", "caret": ""}
    error = PredicateError("predicate", "n >> 1", "is none\nn >> 1\n  ^")
    assert "\n" not in said(error)["message"]


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_form_is_read_as_browsers_send_it() -> None:
    assert await form_of(request(b"where=n+%3E+1&labels=&text=%C3%BC&where=n")) == {
        "where": "n",
        "labels": "",
        "text": "ü",
    }
    assert await form_of(request(b"where=a%0D%0Ab%0D")) == {"where": "a\nb\r"}
    assert await form_of(request(b"where=%ff&x")) == {"where": "\ufffd", "x": ""}
    most = pages._FIELDS_MAX
    assert await form_of(request(b"&".join([b"x=1"] * most))) == {"x": "1"}
    with pytest.raises(QueryError, match=f"form '{most + 1} fields': send those of the page alone"):
        await form_of(request(b"&".join([b"x=1"] * (most + 1))))


def test_numbers_and_durations_that_are_none_or_out_of_range() -> None:
    assert (number_text(0), number_text(0.0312), number_text(1234.5)) == ("0", "0.0312", "1,234")
    assert (latency_text(None), latency_text(0.08), latency_text(3599.9)) == ("-", "80 ms", "60 min")
    assert latency_text(3600.0) == "more than 1 h"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((0, "0 ms"), (0.0004, "0.4 ms"), (0.0831, "83.1 ms"), (0.9994, "999 ms"), (0.9996, "1 s"), (61, "61 s")),
        *((99.97, "100 s"), (100.0, "100 s"), (119, "119 s"), (120, "2 min"), (1234.5, "20.6 min"), (5400, "1.5 h")),
        (360_000, "100 h"),
    ],
)
def test_a_duration_has_the_unit_of_its_size(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


HIDDEN = "".join(
    map(chr, (*range(9), *range(11, 32), *range(127, 160), 0x61C, *range(0x200B, 0x2010), 0x2028, 0x2029))
) + "".join(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2060, 0xFEFF)))
"""Controls but for tabs and line ends, marks of direction, characters without a width, line separators."""


def template_names() -> list[str]:
    folder = Path(pages.__file__).parent / "templates"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.html"))


@pytest.mark.parametrize("name", template_names())
def test_no_template_shows_a_character_that_a_browser_obeys_or_hides(name: str) -> None:
    """Each expression of each template passes the one filter; only the fields of forms pass the other one."""
    templates = Pages(logs_in=True)._templates
    assert templates.finalize is text
    assert templates.from_string('{{ a }}<b title="{{ a }}">').render(a=HIDDEN) == '{0}<b title="{0}">'.format(
        "".join(f"\\x{ord(one):02x}" if one < "\u0100" else f"\\u{ord(one):04x}" for one in HIDDEN)
    )
    assert templates.from_string("{{ a | field }}").render(a=f"<{HIDDEN}") == f"&lt;{HIDDEN}"
    source = (Path(pages.__file__).parent / "templates" / name).read_text("utf-8")
    assert "| safe" not in source
    # What a form sends back is what it was given.
    for value in re.findall(r'value="([^"]*)"', source) + re.findall(r"([^>]*)</textarea>", source):
        if re.search(r"\{\{ [\w.]+", value):
            assert re.search(r"\| field \}\}$", value) or set(re.findall(r"\{\{ ([\w.]+)", value)) <= OWN, (name, value)
    # Of an option without a value its text is sent, which is spelled.
    assert all(" value=" in option for option in re.findall(r"<option[^>]*", source))


OWN = {"letter.partition", "letter.offset", "mark"}
"""Numbers in hidden fields, and the hash of a proposal."""


def test_a_form_sends_back_what_it_was_given() -> None:
    where = f"s = '{HIDDEN}'\n\tAND n > 1"
    form = {"id": "q", "stream": "s", "where": where, "topic": "t", "labels": f"a={HIDDEN}"}
    values = {
        **{"title": "New", "streams": {"s": "n INT", f"t{HIDDEN}": "n INT"}, "form": form, "may_change": True},
        **{"query_id": None, "error": None},
    }
    page = bytes(Pages(logs_in=False).page("query_form.html", values).body).decode()
    fields = re.findall(r"<textarea[^>]*>\n([^<]*)</textarea>", page)
    assert [html.unescape(field) for field in fields] == [where, f"a={HIDDEN}"]
    shown = re.sub(r'<textarea.*?</textarea>|value="[^"]*"', "", page, flags=re.DOTALL)
    assert not set(HIDDEN) & set(shown)
    assert "\\u202e" in shown


def test_charts_spell_what_they_are_given() -> None:
    line = Line(f"in{HIDDEN}", {7200: 4.0})
    drawn = chart(f"Records {HIDDEN}", [line], now_s=7205, step_s=60, unit="records/s") + bar(0.5, HIDDEN)
    assert not set(HIDDEN) & set(drawn)
