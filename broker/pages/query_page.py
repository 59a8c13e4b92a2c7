"""A registered query as a page: its predicate, the constructs of its terms, and the block that contains them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from broker.pages.block_page import block_fragment
from broker.pages.markup import element, joined
from broker.pages.page import page
from broker.pages.words import folded, words

Json = Mapping[str, Any]


def query_page(answer: Json, block: Json | None) -> str:
    """Return a self-contained page from the answer of ``POST /v1/queries/{id}/explain`` without a tuple.

    ``block``: the answer of ``GET /v1/plan/{stream}/blocks/{number}`` for the query's block, or None if the query is in
    no construct.
    """
    query = answer["query"]
    title = f"{query['id']} in stream {query['stream']}"
    shown = element(
        "article",
        {"class": "asc"},
        element("h1", None, words(title)),
        element("pre", {"tabindex": "0", "aria-label": "predicate"}, folded(query["where"])),
        element("pre", {"tabindex": "0"}, answer["text"])
        if block is None
        else joined(_terms(answer, block), block_fragment(block)),
        element("p", {"class": "soft"}, words(f"Plan of version {answer['version']}; delivered to {query['topic']}.")),
    )
    return page(title, shown)


def _terms(answer: Json, block: Json) -> Markup:
    columns = [("Term", None), ("Construct", None), ("Place in the sequence", "number"), ("Regions", None)]
    heads = (element("th", {"scope": "col", "class": kind}, name) for name, kind in columns)
    caption = (
        f"Each term of the predicate's normal form, and the construct of block {block['number']} that it is in. A "
        "record is accepted where all terms of a conjunct hold."
    )
    table = element(
        "table",
        None,
        element("caption", None, caption),
        element("thead", None, element("tr", None, *heads)),
        element("tbody", None, *_rows(answer["conjuncts"], block)),
    )
    return joined(element("h2", None, "Its terms"), element("div", {"class": "wide"}, table))


def _rows(conjuncts: Sequence[Sequence[Json]], block: Json) -> Iterator[Markup]:
    constructs = {construct["attribute"]: construct for construct in block["constructs"]}
    for number, terms in enumerate(conjuncts, 1):
        if len(conjuncts) > 1:
            yield element("tr", None, element("th", {"scope": "rowgroup", "colspan": 4}, f"conjunct {number}"))
        for term in terms:
            construct = constructs[term["attribute"]]
            place = block["sequence"].index(construct["construct"]) + 1
            kind = "exact" if construct["exact"] else "bounded"
            yield element(
                "tr",
                None,
                element("td", {"data-label": "Term"}, element("code", None, words(term["constraint"]))),
                element("td", {"data-label": "Construct"}, element("code", None, words(term["attribute"]))),
                element("td", {"class": "number", "data-label": "Place"}, f"{place} of {len(block['sequence'])}"),
                element("td", {"data-label": "Regions"}, f"{construct['region_count']:,} {kind} and NULL"),
            )
