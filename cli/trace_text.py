"""A trace as lines for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from broker.failure import naming
from broker.visible_text import visible
from cli.client import Json
from cli.output import counted, cut, table_text, terminal_width

_REASONS_SHOWN = 2
"""The most eliminated queries of a step for which the reason is printed. The HTML page and --json contain more."""

_BY_ARROW = "*"

_VALUE_CHARS, _REGION_CHARS, _RULED_OUT_CHARS = 24, 40, 24
"""Three lengths in characters: the maximum for a value, the maximum for a region, and the minimum that remains in a
line for the eliminated queries.
"""

_LOSSES_CHARS = 400

_LEAST_CHARS = 24
"""The least number of characters for values and regions together, however narrow the terminal is."""


def print_trace(answer: Json, *, with_path: bool) -> None:
    """Print the outcome of a record: the verdict about a query, the terms of its predicate and the accepting queries.
    With ``with_path``, also print the constructs that the record visits in each block.
    """
    for warning in answer["warnings"]:
        click.echo(f"warning: {visible(warning)}", err=True)
    width = terminal_width()
    for line in trace_lines(answer, with_path=with_path, width=width):
        click.echo(line)


def trace_lines(answer: Json, *, with_path: bool, width: int | None) -> Iterator[str]:
    """Yield the lines of :func:`print_trace`. ``width``: the width of the terminal in characters; None means no
    limit.
    """
    letter, verdict, trace = answer["dead_letter"], answer["verdict"], answer["trace"]
    if letter:
        yield visible(f"reaches no query: a dead letter in {letter['topic']}, for the {letter['reason']}")
    if verdict:
        yield from verdict_lines(verdict)
    if trace and (with_path or not verdict):
        yield from _summary(trace)
    if trace and with_path:
        for block in trace["blocks_shown"]:
            yield ""
            yield from _block(block, trace["blocks"], width)
        more = trace["blocks"] - len(trace["blocks_shown"])
        if more:
            yield f"{counted(more, 'more block')} not told"


def verdict_lines(verdict: Json) -> Iterator[str]:
    """Yield the reasons why one query accepts a record or not, term by term, in the form of ``explain``."""
    yield visible(verdict["reason"])
    several = len(verdict["conjuncts"]) > 1
    for number, conjunct in enumerate(verdict["conjuncts"], 1):
        if several:
            yield f"conjunct {number} {'holds' if conjunct['holds'] else 'fails'}:"
        for term in conjunct["terms"]:
            yield visible(f"  {'holds' if term['holds'] else 'fails'}  {term['constraint']}   ({term['value']})")


def write_page(answer: Json, path: Path) -> None:
    """Write the page of a trace. Raise OSError if it cannot be written."""
    from broker.pages.trace_page import trace_page

    with naming(path):
        path.write_text(trace_page(answer), encoding="utf-8")


def _summary(trace: Json) -> Iterator[str]:
    text = f"accepted by {trace['accepted_count']:,} of {counted(trace['queries'], 'query')}"
    if shapes := trace.get("join_shapes"):
        text += f" ({shapes:,} of them shapes of joins)"
    more = trace["accepted_count"] - len(trace["accepted"])
    ids = ", ".join(trace["accepted"]) + (f" and {more:,} more" if more else "")
    yield visible(f"{text}: {ids}" if ids else text)


def _block(block: Json, blocks: int, width: int | None) -> Iterator[str]:
    yield (
        f"block {block['number']} (of {blocks:,}, from 0 on): {block['initial_conjuncts']:,} of "
        f"{counted(block['conjuncts'], 'conjunct')} to begin with, "
        f"{counted(len(block['visits']), 'construct')} visited, "
        f"accepted by {counted(block['matching_queries'], 'query')}"
    )
    yield from _wrapped(f"sequence: {' -> '.join(block['sequence'])}", width)
    rows = _rows(block)
    if rows:
        headings = ["step", "value", "region", "left", "ruled out"]
        yield from table_text(headings, _fitted(rows, width), width).splitlines()
    if any(visit["by_arrow"] for visit in block["visits"]):
        yield from _wrapped(f"{_BY_ARROW} a micro-arrow led there, not the sequence", width)
    remaining = block["remaining"]
    if block["visits"] and remaining["queries"]:
        more = remaining["queries"] - len(remaining["query_ids"])
        ids = ", ".join(remaining["query_ids"]) + (f" and {more:,} more" if more else "")
        yield from _wrapped(f"after the last construct remain: {ids}", width)


def _rows(block: Json) -> list[list[str]]:
    rows = []
    if block["patterns"]["conjuncts"]:
        left = f"{block['conjuncts']:,} -> {block['initial_conjuncts']:,}"
        rows.append(["", "its patterns", "", left, _losses(block["patterns"])])
    for step, visit in enumerate(block["visits"], 1):
        left = f"{visit['before']:,} -> {visit['after']:,}"
        by = _BY_ARROW if visit["by_arrow"] else ""
        rows.append([f"{step}{by}", visit["value"], _region(visit), left, _losses(visit["eliminated"])])
    if block["verification"]["conjuncts"]:
        before = block["satisfied_conjuncts"] + block["verification"]["conjuncts"]
        left = f"{before:,} -> {block['satisfied_conjuncts']:,}"
        rows.append(["", "exact constraints", "", left, _losses(block["verification"])])
    return rows


def _region(visit: Json) -> str:
    if visit["is_null"]:
        return "NULL"
    kind = "exact" if visit["exact"] else "bounded"
    return f"{visit['region'] + 1} of {visit['regions']:,} {kind}: {visit['region_text']}"


def _fitted(rows: Sequence[Sequence[str]], width: int | None) -> list[list[str]]:
    """Return rows with values and regions cut to a width.

    The cut leaves space for a part of the eliminated queries, and for the name of a step that is not a construct.
    """
    cells = [[visible(cell) for cell in row] for row in rows]
    step, value, region, left, losses = (max(len(row[place]) for row in cells) for place in range(5))
    chars_max = _VALUE_CHARS + _REGION_CHARS
    if width is not None:
        others = max(step, len("step")) + left + min(losses, _RULED_OUT_CHARS) + 4 * len("  ")
        chars_max = min(chars_max, max(_LEAST_CHARS, width - others))
    named = max((len(row[1]) for row in cells if not row[0]), default=0)
    value = min(value, _VALUE_CHARS, max(chars_max // 3, min(named, chars_max // 2), chars_max - region))
    region = min(region, _REGION_CHARS, chars_max - value)
    return [[row[0], cut(row[1], value), cut(row[2], region), row[3], cut(row[4], _LOSSES_CHARS)] for row in cells]


def _wrapped(line: str, width: int | None) -> list[str]:
    text = visible(line)
    return [text] if width is None else textwrap.wrap(text, width, subsequent_indent="  ", break_on_hyphens=False)


def _losses(losses: Json) -> str:
    if not losses["conjuncts"]:
        return ""
    reasons = [f"{one['query']}: {one['term']}" for one in losses["examples"][:_REASONS_SHOWN]]
    more = losses["conjuncts"] - len(reasons)
    return "; ".join([*reasons, *([f"{more:,} more" if reasons else f"{more:,}"] if more else [])])
