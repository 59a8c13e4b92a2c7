"""Traces as pages: what they say, that they are well made, and that nothing of a record or a predicate is markup."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

from asc.schema import Schema
from broker.pages.trace_page import trace_fragment, trace_page
from tests.call_counts import counted_calls

VOID = {"meta", "rect", "line", "path", "circle", "br", "wbr"}
TAGS = {
    *("html", "head", "title", "style", "body", "main", "article", "meta", "h1", "h2", "h3", "p", "ul", "li", "code"),
    *("pre", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "span", "details", "summary"),
    *("svg", "rect", "text", "wbr"),
}
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u202e"


class Strict(HTMLParser):
    """Reads a page and fails for what is not closed, and for elements and attributes that no page has."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.levels: list[int] = []
        self.scopes: list[str | None] = []
        self.images: list[str | None] = []
        self.text = ""
        self.feed(str(markup))
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert tag in TAGS, tag
        assert not [name for name in given if name.startswith("on") or name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("h1", "h2", "h3"):
            self.levels.append(int(tag[1]))
        if tag == "th":
            self.scopes.append(given.get("scope"))
        if tag == "svg":
            self.images.append(given.get("aria-label"))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_verdict_the_terms_and_the_way(answer: dict[str, Any]) -> None:
    read = Strict(trace_page(answer))
    for said in (
        "A tuple at late",
        "late: not accepted because city = 'Oslo' fails (city = 'Bergen').",
        "Accepted by 2 of 4 queries",
        "field 'nn': not in the stream's schema, excluded",
        '"city": "Bergen"',
        "The terms of late",
        "delay = 45",
        "Block 0 (of 1, from 0 on)",
        "Stream flights, plan of version 7.",
    ):
        assert said in read.text
    section = read.text.partition("The way along the sequence")[2]
    for visit in answer["trace"]["blocks_shown"][0]["visits"]:
        assert visit["region_text"] in section
        assert f"{visit['before']:,} → {visit['after']:,}" in section
    assert "early fails delay < 0" in section


def test_it_can_be_read_without_being_seen(answer: dict[str, Any]) -> None:
    read = Strict(trace_page(answer))
    assert read.levels[0] == 1
    assert read.levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(read.levels, read.levels[1:], strict=False))
    assert None not in read.scopes
    assert read.images
    assert all(label for label in read.images)
    visit = answer["trace"]["blocks_shown"][0]["visits"][0]
    assert any(visit["region_text"] in str(label) for label in read.images)


def test_a_fragment_has_no_page_around_it(answer: dict[str, Any]) -> None:
    fragment = trace_fragment(answer)
    assert fragment.startswith('<article class="asc">')
    assert fragment in trace_page(answer)


def poisoned(value: Any) -> Any:
    """All texts of an answer with markup in them, names of fields apart."""
    if isinstance(value, dict):
        return {name: own if name == "eliminated_by" else poisoned(own) for name, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [poisoned(own) for own in value]
    return f"{EVIL}{value}" if isinstance(value, str) else value


def record() -> dict[str, Any]:
    text, raw = {"text": "v", "truncated": True}, {"base64": "/w==", "truncated": False}
    return {
        **{"topic": "flights", "partition": 0, "offset": 17, "timestamp_ms": 1_500_000_000_123, "size_bytes": 9},
        **{"key": text, "value": text, "headers": [{"name": "h", **text}, {"name": "r", **raw}], "header_count": 60},
    }


@pytest.mark.parametrize("kind", ["tuple", "record", "dead letter", "verdict alone", "no query"])
def test_nothing_of_an_answer_is_markup(answer: dict[str, Any], kind: str) -> None:
    if kind == "record":
        answer |= {"record": record(), "tuple": None, "source": "flights-0-17"}
    elif kind == "dead letter":
        letter = {"topic": "flights.dead-letter", "reason": "value is empty", "column": "delay"}
        answer |= {"dead_letter": letter, "trace": None, "verdict": None, "record": record()}
    elif kind == "verdict alone":
        answer |= {"trace": None}
    elif kind == "no query":
        answer |= {"query": None, "verdict": None}
    page = trace_page(poisoned(answer))
    read = Strict(page)
    assert "<script" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert "<script>alert(1)</script>" in read.text
    # Alone it says so much with markup in it as without: no text is lost.
    assert len(read.text) > len(Strict(trace_page(answer)).text)


def test_values_and_predicates_of_a_real_plan_are_text(answers: Callable[..., dict[str, Any]]) -> None:
    schema = Schema.from_ddl("s STRING, t STRING")
    evil = EVIL.replace("'", "")
    wheres = {"a": f"s = '{evil}'", "b": f"s LIKE '%{evil}%x%' OR t > '{evil}'", "c": f"s <> '{evil}'"}
    page = trace_page(answers(wheres, {"s": evil, "t": "</code></td></table></svg>"}, "b", schema))
    assert "<script" not in page
    assert "</code></td></table></svg>" in Strict(page).text


def test_what_was_ruled_out_before_and_after_the_constructs(answer: dict[str, Any]) -> None:
    lost = {"conjuncts": 7, "queries": 5, "examples": [{"query": "late", "number": 1, "term": "delay > 30"}]}
    block = answer["trace"]["blocks_shown"][0]
    block_trace = {**block, "patterns": lost, "verification": lost, "satisfied_conjuncts": 2}
    answer["trace"] = {**answer["trace"], "blocks_shown": [block_trace], "blocks": 60}
    text = Strict(trace_page(answer)).text
    for said in (
        "by the patterns that it matches",
        "by the exact constraints, where regions leave it open",
        "9 → 2",
        "7 conjuncts; 5 queries with none left",
        "and 6 conjuncts more",
        "59 blocks more not shown in detail",
    ):
        assert said in text


def test_who_remains_after_the_last_construct(answer: dict[str, Any]) -> None:
    block = answer["trace"]["blocks_shown"][0]
    block["remaining"] = {"queries": 1_003, "query_ids": ["late", "any"]}
    read = Strict(trace_page(answer))
    assert "After the last construct remain:lateanyand 1,001 more" in read.text
    block["remaining"] = {"queries": 0, "query_ids": []}
    assert "After the last construct" not in Strict(trace_page(answer)).text


def test_it_says_so_of_a_dead_letter(answer: dict[str, Any]) -> None:
    letter = {"topic": "flights.dead-letter", "reason": "value is empty", "column": None}
    text = Strict(trace_page({**answer, "dead_letter": letter, "trace": None, "verdict": None})).text
    assert "Reaches no query: it is a dead letter in flights.dead-letter, for the value is empty." in text


def test_a_record_s_parts(answer: dict[str, Any]) -> None:
    text = Strict(trace_page({**answer, "record": record(), "tuple": None, "source": "flights-0-17"})).text
    for said in ("flights-0-17 at late", "flights, 0, 17", "2017-07-14 02:40:00 UTC", "v …", "base64 /w==", "58 more"):
        assert said in text


def test_the_answer_is_json_all_the_way(answer: dict[str, Any]) -> None:
    assert trace_page(json.loads(json.dumps(answer))) == trace_page(answer)


@pytest.mark.parametrize(
    ("timestamp_ms", "said"), [(-1, "none"), (0, "1970-01-01 00:00:00 UTC"), (2**62, f"{2**62} ms since 1970")]
)
def test_a_time_that_is_none(answer: dict[str, Any], timestamp_ms: int, said: str) -> None:
    own = {**record(), "timestamp_ms": timestamp_ms}
    text = Strict(trace_page({**answer, "record": own, "tuple": None, "source": "flights-0-17"})).text
    assert f"timestamp{said}" in text


def test_a_tuple_is_as_long_as_it_is_deep_and_is_cut(answer: dict[str, Any]) -> None:
    tuple_: dict[str, Any] = {"s": "\u202e\x1b" * 5_000}
    for _ in range(400):
        tuple_ = {"a": tuple_}
    # An indented text would have a line for each level, and each line as many spaces.
    with counted_calls(20_000):
        page = trace_page({**answer, "tuple": {f"c{n}": tuple_ for n in range(50)}})
    (shown,) = re.findall(r'aria-label="tuple">([^<]*)</pre>', page)
    assert shown.startswith("{&#34;c0&#34;: {&#34;a&#34;: {")
    assert shown.endswith(" …")
    # Of what is shown each hidden character is spelled.
    assert len(html.unescape(shown).replace("\\u202e", ".")) < 17_000
