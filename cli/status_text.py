"""The output of ``asc status`` as lines, with the most important lines first."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from broker.visible_text import visible
from cli.output import counted, cut, table_text

_REARRANGEMENTS_SHOWN = 3
_SHOWN = 4
_REASONS_SHOWN = 5

_MINUTES_FROM_S = 120
_LATENCY_SHOWN_S = 3600
"""The last bound in seconds of the daemon's histogram of latencies. The histogram does not distinguish longer
latencies.
"""

HEADINGS = (
    *("stream", "queries", "not served", "in/s", "out/s", "lag", "records", "dead letters", "topic", "format"),
    *("cost", "rearranged", "conjuncts", "p-attributes", "version"),
)
"""The headings of the columns. Columns that do not fit into a narrow terminal are in a second table, with the stream's
name.
"""


def status_lines(status: Mapping[str, Any], width: int | None = None) -> list[str]:
    """Return the lines of a status. No line is wider than ``width``, except the first line, which may contain the
    reason why the daemon is not ready. ``width``: in characters; None means no limit.
    """
    streams: Sequence[Mapping[str, Any]] = status.get("streams", ())
    lines = [_headline(status)]
    if "streams" in status:
        lines += _tables([_row(stream) for stream in streams], width)
    details = (visible(line) for stream in streams for line in _details(stream))
    if width is None:
        return [*lines, *details]
    wrapped = partial(textwrap.wrap, width=width, subsequent_indent="  ", break_on_hyphens=False)
    return [*lines, *chain.from_iterable(map(wrapped, details))]


def _tables(rows: Sequence[Sequence[Any]], width: int | None) -> Iterator[str]:
    """Yield the lines of a table. If it is too wide, yield several tables, each with the names of the streams."""
    left = list(range(1, len(HEADINGS)))
    while left:
        for taken in range(len(left), 0, -1):
            places = [0, *left[:taken]]
            parts = [[row[place] for place in places] for row in rows]
            lines = table_text([HEADINGS[place] for place in places], parts).splitlines()
            if width is None or max(map(len, lines)) <= width or taken == 1:
                break
        yield from lines if width is None else (cut(line, width) for line in lines)
        del left[:taken]


def _headline(found: Mapping[str, Any]) -> str:
    if found.get("ready"):
        return f"ready at {found['server']}, Kafka at {found['kafka']['bootstrap_servers']}"
    return visible(f"not ready at {found['server']}: {found.get('reason') or 'no reason given'}")


def _row(stream: Mapping[str, Any]) -> list[Any]:
    plan = stream["plan"]
    monitor, flow = plan.get("monitor"), plan.get("flow") or {}
    tuples, cost, rearranged = ("-", "-", "-") if monitor is None else _monitored(monitor)
    # Before the first change, the registry has no record.
    version = plan.get("version", -1)
    return [
        *(stream["name"], stream["queries"], stream.get("not_served", 0)),
        *(_rate(flow.get("records_per_s")), _rate(flow.get("written_per_s")), _or_dash(flow.get("lag_records"))),
        *(tuples, _dead_letters(stream).get("total", 0), stream["topic"], stream["format"]),
        *(cost, rearranged, plan.get("conjuncts"), len(plan.get("p_attributes", ()))),
        "-" if version < 0 else version,
    ]


def _rate(per_s: float | None) -> Any:
    """Return a rounded rate, with one decimal if the rate is low."""
    return "-" if per_s is None else round(per_s) if per_s >= 10 or per_s == round(per_s) else f"{per_s:.1f}"


def _or_dash(value: Any) -> Any:
    return "-" if value is None else value


def _monitored(monitor: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Return the cells of a monitor: its number of records, its mean cost, and its number of rearrangements. A monitor
    that is off still counts records; its last cell is ``off``.
    """
    tuples = monitor.get("tuples", 0)
    cost = f"{monitor['evaluated'] / tuples:.2f}" if tuples else "-"
    return (
        tuples,
        cost,
        sum(monitor.get("rearrangement_counts", {}).values()) if monitor.get("enabled", True) else "off",
    )


def _details(stream: Mapping[str, Any]) -> Iterator[str]:
    """Yield the remarks about one stream that are not in its row, the most urgent first."""
    name, plan = stream["name"], stream["plan"]
    if not_served := stream.get("not_served", 0):
        verb = "is" if not_served == 1 else "are"
        yield f"{name}: {counted(not_served, 'query')} {verb} not served: 'asc query list --stream {name}' says why"
    reasons = _dead_letters(stream).get("reasons", ())
    for reason in reasons[:_REASONS_SHOWN]:
        column = "" if reason["column"] is None else f", column {reason['column']!r}"
        yield f"{name}: {counted(reason['count'], 'dead letter')}: {reason['reason']}{column}"
    if others := reasons[_REASONS_SHOWN:]:
        count = sum(reason["count"] for reason in others)
        yield f"{name}: {counted(count, 'dead letter')} of {len(others)} other reasons: --json has them"
    if errors := plan.get("evaluation_errors"):
        text = f"{counted(errors, 'evaluation error')}, each NULL to its query: 'asc query show ID' has the query's"
        yield f"{name}: {text}"
    flow = plan.get("flow") or {}
    if (half_s := flow.get("latency_p50_s")) is not None:
        nearly_all = _within("99 of 100", "1 of 100", flow["latency_p99_s"])
        yield f"{name}: latency of the last minute: {_within('half', 'half', half_s)}, {nearly_all}"
    if most := (plan.get("delivered") or {}).get("most"):
        text = ", ".join(f"{each['query']} {each['records']:,}" for each in most)
        matches = plan["delivered"]["total"]
        yield f"{name}: {matches:,} matches, one for each record and query; the most: {text}"
    for op, status in (plan.get("operators") or {}).items():
        yield from _operator(name, op, status)
    if phases := plan.get("phases"):
        text = ", ".join(f"{phase} {seconds * 1e3:.0f}" for phase, seconds in phases.items())
        yield f"{name}: ms of a batch by phase: {text}"
    for event in ((plan.get("monitor") or {}).get("rearrangements") or [])[-_REARRANGEMENTS_SHOWN:]:
        yield _event_text(event)


def _operator(name: str, op: str, status: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines about one kind of operators in a stream."""
    outputs = ", ".join(f"{count:,} {kind}" for kind, count in sorted(status["outputs"].items())) or "none"
    behind = "" if not status["lag_records"] else f", {counted(status['lag_records'], 'record')} of the feed behind"
    held = "not counted yet" if status["held"] is None else f"{status['held']:,}"
    queries = counted(status["queries"], "query")
    yield f"{name}: {op}: {queries}, {status['held_noun']} held: {held}; outputs: {outputs}{behind}"
    lateness = f"{status['lateness_s']:g} s (lateness_s)" if "lateness_s" in status else "lateness_s"
    for time, at in status["watermarks"].items():
        upto = f"results up to it are complete with the next batch, later ones after a record past {at} + {lateness}"
        yield f"{name}: {op}: watermark of {time}: {at}; {upto}"
    yield from _excluded(f"{name}: {op}", status)


def _excluded(subject: str, status: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines that say how often and why the operators of one kind excluded records. A separate line is about
    exclusions of anything other than records.
    """
    from asc.operators.exclusions import NOT_OF_RECORDS

    excluded = sorted(status["excluded"].items())
    if records := [(reason, count) for reason, count in excluded if reason not in NOT_OF_RECORDS]:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in records)
        total = status["observations"] + sum(count for _, count in records)
        yield f"{subject}: observations excluded, of {total:,}: {reasons}"
    if others := [(reason, count) for reason, count in excluded if reason in NOT_OF_RECORDS]:
        reasons = ", ".join(f"{counted(count, NOT_OF_RECORDS[reason])} {reason}" for reason, count in others)
        yield f"{subject}: excluded beside records: {reasons}"


def _within(those: str, others: str, seconds: float) -> str:
    """Return in words that the share ``those`` of the records has a latency of at most ``seconds``. From the
    histogram's last bound on, say instead that the share ``others`` has a longer latency.
    """
    if seconds >= _LATENCY_SHOWN_S:
        return f"{others} more than 1 h"
    if seconds >= _MINUTES_FROM_S:
        return f"{those} within {seconds / 60:.0f} min"
    return f"{those} within {seconds * 1e3:.0f} ms" if seconds < 1 else f"{those} within {seconds:.1f} s"


def _dead_letters(stream: Mapping[str, Any]) -> Mapping[str, Any]:
    return stream["plan"].get("dead_letters") or {}


def _event_text(event: Mapping[str, Any]) -> str:
    before = event["dropping_ratio_before"]
    dropping = f"{'-' if before is None else f'{before:.3f}'} -> {event['dropping_ratio_now']:.3f}"
    return (
        f"{event['at']}  {event['stream']} block {event['block']}: {event['trigger']}, dropping ratio {dropping}, "
        f"cost {event['cost_before']:.2f} -> {event['cost_after']:.2f}, {_sequence(event['old_sequence'])} -> "
        f"{event['kind']} {_sequence(event['new_sequence'])} ({event['new_micro_arrows']} micro-arrows), "
        f"{event['spent_s']:.2f} s"
    )


def _sequence(attributes: list[str]) -> str:
    return ", ".join(attributes[:_SHOWN]) + (", ..." if len(attributes) > _SHOWN else "")
