"""A trace as lines for a terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from broker.visible_text import visible
from cli.client import Json
from cli.output import counted, table_text

_TOLD_AT_A_STEP = 2
"""Queries that fell out, of which a step says why; the page and --json have more."""


def print_trace(answer: Json, *, way: bool) -> None:
    """Print what became of a record: verdict and terms, who accepts it, and with ``way`` its way through the blocks.

    Warnings go to stderr. Tables are cut to the width of a terminal.
    """
    for warning in answer["warnings"]:
        click.echo(f"warning: {visible(warning)}", err=True)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in trace_lines(answer, way=way, width=width):
        click.echo(line)


def trace_lines(answer: Json, *, way: bool, width: int | None) -> Iterator[str]:
    """The lines of a trace."""
    letter, verdict, trace = answer["dead_letter"], answer["verdict"], answer["trace"]
    if letter:
        yield visible(f"reaches no query: a dead letter in {letter['topic']}, for the {letter['reason']}")
    if verdict:
        yield from verdict_lines(verdict)
    if trace and (way or not verdict):
        yield from _summary(trace)
    if trace and way:
        for block in trace["told"]:
            yield ""
            yield from _block(block, trace["blocks"], width)
        more = trace["blocks"] - len(trace["told"])
        if more:
            yield f"{counted(more, 'more block')} not told"


def verdict_lines(verdict: Json) -> Iterator[str]:
    """Why one query accepts a record or not, term by term: as ``explain`` says it of a tuple."""
    yield visible(verdict["reason"])
    several = len(verdict["conjuncts"]) > 1
    for number, conjunct in enumerate(verdict["conjuncts"], 1):
        if several:
            yield f"conjunct {number} {'holds' if conjunct['holds'] else 'fails'}:"
        for term in conjunct["terms"]:
            yield visible(f"  {'holds' if term['holds'] else 'fails'}  {term['constraint']}   ({term['value']})")


def write_page(answer: Json, path: Path) -> None:
    """Write the page of a trace; OSError where it cannot be written."""
    from broker.pages.trace_page import trace_page

    path.write_text(trace_page(answer), encoding="utf-8")


def _summary(trace: Json) -> Iterator[str]:
    told = f"accepted by {trace['accepted_count']:,} of {counted(trace['queries'], 'query')}"
    more = trace["accepted_count"] - len(trace["accepted"])
    ids = ", ".join(trace["accepted"]) + (f" and {more:,} more" if more else "")
    yield visible(f"{told}: {ids}" if ids else told)


def _block(block: Json, blocks: int, width: int | None) -> Iterator[str]:
    yield (
        f"block {block['number']} (of {blocks:,}, from 0 on): {block['begun']:,} of "
        f"{counted(block['conjuncts'], 'conjunct')} to begin with, "
        f"{counted(len(block['visits']), 'construct')} visited, "
        f"accepted by {counted(block['accepting'], 'query')}"
    )
    rows: list[list[object]] = []
    if block["patterns"]["conjuncts"]:
        left = f"{block['conjuncts']:,} -> {block['begun']:,}"
        rows.append(["", "its patterns", "", left, _losses(block["patterns"])])
    for step, visit in enumerate(block["visits"], 1):
        region = (
            "NULL" if visit["is_null"] else f"{visit['region'] + 1} of {visit['regions']:,}: {visit['region_text']}"
        )
        left = f"{visit['before']:,} -> {visit['after']:,}"
        rows.append([str(step), visit["value"], region, left, _losses(visit["fell"])])
    if block["verification"]["conjuncts"]:
        before = block["holding"] + block["verification"]["conjuncts"]
        left = f"{before:,} -> {block['holding']:,}"
        rows.append(["", "exact constraints", "", left, _losses(block["verification"])])
    if rows:
        yield from table_text(
            ["step", "value", "region", "left", "ruled out"], [_cut(row) for row in rows], width
        ).splitlines()


def _cut(row: list[object]) -> list[object]:
    """With long cells cut, so that the columns after them stay on the terminal."""
    longest = (4, 24, 28, 16, 400)
    return [
        text if len(text) <= most else f"{text[: most - 1]}…" for text, most in zip(map(str, row), longest, strict=True)
    ]


def _losses(losses: Json) -> str:
    if not losses["conjuncts"]:
        return ""
    told = [f"{one['query']}: {one['term']}" for one in losses["listed"][:_TOLD_AT_A_STEP]]
    more = losses["conjuncts"] - len(told)
    return "; ".join([*told, *([f"{more:,} more" if told else f"{more:,}"] if more else [])])
