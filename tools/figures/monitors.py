"""Tables of the monitor: its cost to a stream, and its gain where data changes slowly."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tools.figures.results import Results
from tools.figures.streams import share_text
from tools.figures.table import Column, Read, Row, at, table

_OFF = "off"
ORDERS = ("static", "macro", "hybrid", "best fixed", "monitor on")


def _lost(name: str) -> Read:
    """Return a function that reads from a row the share of throughput that the monitor costs, as text. For a row with
    the monitor off, the function returns None.
    """

    def read(row: Row) -> str | None:
        return None if row["mode"] == _OFF else share_text(row[name])

    return read


_MONITOR = (
    Column("predicates", "queries", "{:,}"),
    Column("monitor", "mode"),
    Column("rows/s", lambda row: row["rows"] / row["median_s"], "{:,.0f}"),
    Column("throughput lost, by processor time", _lost("cpu_cost")),
    Column("throughput lost, by the clock", _lost("cost")),
    Column("rearrangements", "rearrangements"),
    Column("time of the monitor", "monitor_s", "{:.2f} s"),
)


def _monitor(results: Results) -> str:
    result = results["monitor"]
    rows = result["input"]["rows"]
    return table(
        _MONITOR,
        (
            {**row, "queries": int(count), "mode": mode, "rows": rows}
            for count, modes in result["results"].items()
            for mode, row in modes.items()
        ),
    )


def _interval(path: str, digits: int = 3) -> Read:
    """Return a function that reads the interval at a path of a row. It returns the mean and half the width of the
    confidence interval as text, or None if the row has no interval.
    """

    def read(row: Row) -> str | None:
        value = at(row, path)
        return None if value is None else f"{value['mean']:.{digits}f} ± {value['high'] - value['mean']:.{digits}f}"

    return read


_CASE = (
    Column("alerts", "scenario"),
    Column("queries", "queries", "{:,}"),
    Column("seeds", "seeds"),
)
_DRIFTING = (*_CASE, *(Column(order, _interval(f"us/{order}")) for order in ORDERS))
_GAIN = (
    *_CASE[:2],
    Column("gain over the monitor off", _interval("gain")),
    Column("gain over the best fixed order", _interval("over_best")),
    Column("gain, including the monitor's own time", _interval("net")),
    Column("share of the monitor's own time", lambda row: row["share"]["mean"] * 100, "{:.1f} %"),
    Column("rearrangements", "rearrangements/mean", "{:.1f}"),
    Column("necessary slowdown of the change", "times_slower", "{:.0f} x"),
)


def _drifting(results: Results) -> str:
    return table(_DRIFTING, results["monitor-drifting"]["summary"])


def _gain(results: Results) -> str:
    return table(_GAIN, results["monitor-drifting"]["summary"])


TABLES: Mapping[str, Callable[[Results], str]] = {
    "monitor": _monitor,
    "monitor-drifting": _drifting,
    "monitor-gain": _gain,
}
