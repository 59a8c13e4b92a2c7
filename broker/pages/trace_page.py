"""A trace as a page: the record, the verdict with its terms, and the path through the sequence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from broker.pages.bars import grb_bar, region_bar
from broker.pages.markup import element, joined
from broker.pages.page import page
from broker.pages.words import folded, words
from broker.time_text import page_time

Json = Mapping[str, Any]

_SHOWN_CHARS = 16 << 10
"""The largest number of characters shown of a tuple. Its JSON is not indented, because a deeply nested value would be
indented by its depth.
"""


def trace_page(answer: Json) -> str:
    """Return a self-contained page from the answer of ``POST /v1/trace``."""
    return page(_title(answer), trace_fragment(answer))


def trace_fragment(answer: Json) -> str:
    """Return the trace as a fragment, for a page that includes :data:`broker.pages.page.STYLE` already."""
    return element(
        "article",
        {"class": "asc"},
        element("h1", None, words(_title(answer))),
        _verdict(answer),
        _warnings(answer["warnings"]),
        _record(answer),
        _terms(answer.get("verdict"), answer.get("trace")),
        _accepted(answer.get("trace")),
        _path_section(answer.get("trace")),
        element("p", {"class": "soft"}, words(f"Stream {answer['stream']}, plan of version {answer['version']}.")),
    )


def _title(answer: Json) -> str:
    what = answer["source"] or "A tuple"
    query = answer.get("query")
    return f"{what} at {query['id']}" if query else f"{what} through stream {answer['stream']}"


def _verdict(answer: Json) -> Markup:
    letter, verdict, trace = answer.get("dead_letter"), answer.get("verdict"), answer.get("trace")
    if letter:
        said = f"Reaches no query: it is a dead letter in {letter['topic']}, for the {letter['reason']}."
        return element("p", {"class": "bad"}, words(said))
    if not verdict:
        return (
            element("p", {"class": "good" if trace["accepted_count"] else "bad"}, _summary(trace))
            if trace
            else joined()
        )
    kind = "good" if verdict["accepted"] else "bad"
    shown = element("p", {"class": kind}, words(f"{verdict['query']}: {verdict['reason']}."))
    if trace:
        shown = joined(shown, element("p", None, _summary(trace)))
    return joined(shown)


def _summary(trace: Json) -> str:
    shapes = trace.get("join_shapes")
    joins = f" ({shapes:,} of them shapes of joins)" if shapes else ""
    return (
        f"Accepted by {trace['accepted_count']:,} of {_counted(trace['queries'], 'query', 'queries')}{joins}; "
        f"{_counted(trace['evaluated'], 'construct')} visited in {_counted(trace['blocks'], 'block')}, "
        f"{trace['dropped_blocks']:,} of them left no candidate."
    )


def _warnings(warnings: Sequence[str]) -> Markup | None:
    return element("ul", None, *(element("li", None, words(warning)) for warning in warnings)) if warnings else None


def _record(answer: Json) -> Markup | None:
    record = answer.get("record")
    if record:
        rows = [
            ("topic, partition, offset", f"{record['topic']}, {record['partition']}, {record['offset']}"),
            ("timestamp", page_time(record["timestamp_ms"])),
            ("key", _part(record["key"])),
            *((f"header {header['name']}", _part(header)) for header in record["headers"]),
        ]
        more = record["header_count"] - len(record["headers"])
        if more:
            rows.append(("headers", f"{more} more"))
        body = (
            element("tr", None, element("th", {"scope": "row"}, words(name)), element("td", None, _code(text)))
            for name, text in rows
        )
        value = element("pre", {"tabindex": "0", "aria-label": "value"}, folded(_part(record["value"])))
        return joined(
            element("h2", None, "The record"),
            element("div", {"class": "wide"}, element("table", None, element("tbody", None, *body))),
            value,
        )
    if answer.get("tuple") is not None:
        text = json.dumps(answer["tuple"], ensure_ascii=False)
        text = f"{text[:_SHOWN_CHARS]} …" if len(text) > _SHOWN_CHARS else text
        return joined(
            element("h2", None, "The tuple"), element("pre", {"tabindex": "0", "aria-label": "tuple"}, folded(text))
        )
    return None


def _part(part: Json) -> str:
    text = part.get("text") if "base64" not in part else f"base64 {part['base64']}"
    return "NULL" if text is None else f"{text}{' …' if part['truncated'] else ''}"


def _terms(verdict: Json | None, trace: Json | None) -> Markup | None:
    if not verdict or not verdict["conjuncts"]:
        return None
    several = len(verdict["conjuncts"]) > 1
    rows: list[Markup] = []
    for number, conjunct in enumerate(verdict["conjuncts"], 1):
        if several:
            said = f"conjunct {number} {'holds' if conjunct['holds'] else 'fails'}{_eliminated(conjunct, trace)}"
            rows.append(element("tr", None, element("th", {"scope": "rowgroup", "colspan": 3}, said)))
        rows += [_term(term) for term in conjunct["terms"]]
    eliminated = "" if several else _eliminated(verdict["conjuncts"][0], trace)
    caption = f"Each term of the predicate's normal form, and what the record has{eliminated}."
    return joined(
        element("h2", None, words(f"The terms of {verdict['query']}")),
        _table(caption, [("Verdict", None), ("Term", None), ("Value", None)], rows),
    )


def _term(term: Json) -> Markup:
    kind, said = ("good", "holds") if term["holds"] else ("bad", "fails")
    return element(
        "tr",
        None,
        element("td", {"class": kind, "data-label": "Verdict"}, said),
        element("td", {"data-label": "Term"}, _code(term["constraint"])),
        element("td", {"data-label": "Value"}, _code(term["value"])),
    )


def _eliminated(conjunct: Json, trace: Json | None) -> str:
    if conjunct["eliminated_by"] == "patterns":
        return "; ruled out by the patterns that the record matches, before the first construct"
    if conjunct["eliminated_by"] == "verification":
        return "; no region ruled it out, its exact constraints did"
    if conjunct["eliminated_by"] == "construct" and trace:
        return f"; ruled out at step {conjunct['eliminated_at']} of block {trace['blocks_shown'][0]['number']}"
    return ""


def _accepted(trace: Json | None) -> Markup | None:
    if not trace or not trace["accepted"]:
        return None
    return joined(element("h2", None, "Who accepts it"), _ids(trace["accepted"], trace["accepted_count"]))


def _ids(listed: Sequence[str], count: int) -> Markup:
    ids = [element("li", None, _code(query)) for query in listed]
    if count > len(listed):
        ids.append(element("li", {"class": "soft"}, f"and {count - len(listed):,} more"))
    return element("ul", None, *ids)


def _path_section(trace: Json | None) -> Markup | None:
    if not trace or not trace["blocks_shown"]:
        return None
    legend = (
        "Each step visits the construct of one attribute. The bar is its regions in the order of their values, NULL at "
        "the end; the marked one is where the record's value lies. Next to it, what is left of the candidates (GRB), "
        "on a logarithmic scale: the whole bar before the step, the strong part of it after."
    )
    more = trace["blocks"] - len(trace["blocks_shown"])
    omitted = element("p", {"class": "soft"}, f"{_counted(more, 'block')} more not shown in detail.") if more else None
    blocks = (_block(block, trace["blocks"]) for block in trace["blocks_shown"])
    return joined(
        element("h2", None, "The way along the sequence"), element("p", {"class": "soft"}, legend), *blocks, omitted
    )


def _block(block: Json, blocks: int) -> Markup:
    start_text = f"{block['initial_conjuncts']:,} of {_counted(block['conjuncts'], 'conjunct')} to begin with"
    sequence = " → ".join(block["sequence"])
    columns = [("Step", "number"), ("Value", None), ("Regions", None), ("Left", None), ("Ruled out", None)]
    rows = [*_patterns(block), *(_visit(place, visit, block) for place, visit in enumerate(block["visits"], 1))]
    rows += _verification(block)
    end = f"accepted by {_counted(block['matching_queries'], 'query', 'queries')}"
    caption = f"{start_text}; {end}{'; the block is left with nothing' if block['dropped'] else ''}."
    return joined(
        element("h3", None, f"Block {block['number']} (of {blocks:,}, from 0 on)"),
        element("p", {"class": "soft"}, "Sequence: ", _code(sequence)),
        _table(caption, columns, rows),
        _remaining(block),
    )


def _remaining(block: Json) -> Markup | None:
    remaining = block["remaining"]
    if not (block["visits"] and remaining["queries"]):
        return None
    ids = _ids(remaining["query_ids"], remaining["queries"])
    return joined(element("p", None, "After the last construct remain:"), ids)


def _visit(place: int, visit: Json, block: Json) -> Markup:
    where = "NULL" if visit["is_null"] else f"{visit['region'] + 1} of {visit['regions']:,}"
    kind = "exact" if visit["exact"] else "bounded"
    label = f"{visit['attribute']}: the value lies in region {where}, {visit['region_text']}"
    arrow = element("p", {"class": "soft"}, "by a micro-arrow") if visit["by_arrow"] else None
    return element(
        "tr",
        None,
        element("td", {"class": "number", "data-label": "Step"}, place),
        element("td", {"data-label": "Value"}, _code(visit["value"]), arrow),
        element(
            "td",
            {"data-label": "Regions"},
            region_bar(visit["regions"], visit["region"], label=label),
            element(
                "span", {"class": "soft"}, "the region of NULL" if visit["is_null"] else f"{kind} region {where}: "
            ),
            None if visit["is_null"] else _code(visit["region_text"]),
        ),
        _left(visit["before"], visit["after"], block["conjuncts"]),
        element("td", {"data-label": "Ruled out"}, *_losses(visit["eliminated"])),
    )


def _left(before: int, after: int, most: int) -> Markup:
    said = f"{before:,} before, {after:,} after"
    return element("td", {"data-label": "Left"}, grb_bar(before, after, most, label=said), f"{before:,} → {after:,}")


def _patterns(block: Json) -> Iterator[Markup]:
    if block["patterns"]["conjuncts"]:
        said = "by the patterns that it matches"
        yield _other(
            said, block["conjuncts"], block["initial_conjuncts"], losses=block["patterns"], most=block["conjuncts"]
        )


def _verification(block: Json) -> Iterator[Markup]:
    if block["verification"]["conjuncts"]:
        before = block["satisfied_conjuncts"] + block["verification"]["conjuncts"]
        said = "by the exact constraints, where regions leave it open"
        yield _other(said, before, block["satisfied_conjuncts"], losses=block["verification"], most=block["conjuncts"])


def _other(said: str, before: int, after: int, *, most: int, losses: Json) -> Markup:
    return element(
        "tr",
        None,
        element("td", {"class": "number"}),
        element("td", {"colspan": 2}, said),
        _left(before, after, most),
        element("td", {"data-label": "Ruled out"}, *_losses(losses)),
    )


def _losses(losses: Json) -> Iterator[Markup]:
    if not losses["conjuncts"]:
        yield element("span", {"class": "soft"}, "nothing")
        return
    conjuncts, queries = _counted(losses["conjuncts"], "conjunct"), _counted(losses["queries"], "query", "queries")
    yield element("p", None, f"{conjuncts}; {queries} with none left")
    listed = [element("li", None, _code(one["query"]), " fails ", _code(one["term"])) for one in losses["examples"]]
    more = losses["conjuncts"] - len(listed)
    if more:
        listed.append(element("li", {"class": "soft"}, f"and {_counted(more, 'conjunct')} more"))
    yield element("details", None, element("summary", None, "which, and why"), element("ul", None, *listed))


def _table(caption: str, columns: Sequence[tuple[str, str | None]], rows: Sequence[Markup]) -> Markup:
    heads = (element("th", {"scope": "col", "class": kind}, name) for name, kind in columns)
    table = element(
        "table",
        None,
        element("caption", None, caption),
        element("thead", None, element("tr", None, *heads)),
        element("tbody", None, *rows),
    )
    return element("div", {"class": "wide"}, table)


def _code(text: object) -> Markup:
    return element("code", None, words(text))


def _counted(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
