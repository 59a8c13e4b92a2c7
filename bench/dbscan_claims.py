"""The paper's claims about sharing among DBSCAN queries, confirmed or refuted by the measured figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.dbscan_goals import ALONE, EXTRA_N_SHARED, INCDBSCAN, Figure
from bench.dbscan_paper import OWN, OWN_LABELS

Entries = Sequence[Mapping[str, Any]]

SAVED = {20: 70.0, 40: 76.0, 60: 85.0}
"""By number of queries: the processor time that the paper's method saves compared with Extra-N with shared searches, in
per cent.
"""

HELD_SAVED = 89.0
"""The memory that the paper's method saves for 60 queries compared with Extra-N with shared searches, in per cent."""


def claims(cases: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the claims that the measured cases can decide, each with the paper's value and the measured value."""
    found = [
        *(claim for name in ("general", "scale") if name in cases for claim in _READERS[name](cases[name]["results"])),
        *_sharing(cases),
        *_searches(cases),
    ]
    return [{"claim": own[0], "paper": own[1], "ours": own[2], "holds": own[3]} for own in found]


def figures_of(cases: Mapping[str, Any]) -> Iterator[tuple[str, Figure]]:
    """Yield the figures of part ``paper`` that have a goal, each with the name of its goal."""
    if "general" in cases:
        for count, measured in _by_count(cases["general"]["results"]).items():
            yield f"general-{count}", _total(measured, "cpu_us", EXTRA_N_SHARED) / _total(measured, "cpu_us", OWN)
            yield f"general-{count}-bytes", _total(measured, "bytes", OWN) / _total(measured, "bytes", EXTRA_N_SHARED)
            yield f"general-{count}-alone", min(each["cpu_us"][ALONE] / each["cpu_us"][OWN_LABELS] for each in measured)
            yield f"general-{count}-saved", 100 * _saved(measured, OWN_LABELS, ALONE)
    if "scale" in cases:
        results = cases["scale"]["results"]
        for measured in results:
            yield f"scale-{measured['queries']}", measured["cpu_us"][OWN]
        first, last = results[0], results[-1]
        yield "scale-cpu", last["cpu_us"][OWN] / first["cpu_us"][OWN]
        yield "scale-bytes", last["bytes"][OWN] / first["bytes"][OWN]


Claim = tuple[str, str, str, bool]


def _general(results: Entries) -> Iterator[Claim]:
    for count, own in _by_count(results).items():
        claim, paper = f"processor time saved of {EXTRA_N_SHARED}, {count} queries", SAVED[count]
        for contender, what in ((OWN, "from messages to records"), (OWN_LABELS, "labels alone")):
            saved = 100 * _saved(own, contender, EXTRA_N_SHARED)
            yield f"{claim}, {what}", f"{paper:.0f} %", f"{saved:.0f} %", saved >= paper
        saved = 100 * (1 - _total(own, "held_bytes", OWN) / _total(own, "held_bytes", EXTRA_N_SHARED))
        claim = f"bytes held between slides saved of {EXTRA_N_SHARED}, {count} queries"
        if count == 60:
            yield claim, f"{HELD_SAVED:.0f} %", f"{saved:.0f} %", saved >= HELD_SAVED
    worst = min(1 - own["cpu_us"][OWN] / own["cpu_us"][EXTRA_N_SHARED] for own in results)
    yield f"never slower than {EXTRA_N_SHARED}, any group", ">= 0 %", f"{100 * worst:.0f} % saved at least", worst >= 0
    worst = min(1 - own["cpu_us"][OWN_LABELS] / own["cpu_us"][ALONE] for own in results)
    yield f"never slower than {ALONE}, any group", "-", f"{100 * worst:.0f} % saved at least", worst >= 0


def _scale(results: Entries) -> Iterator[Claim]:
    first, last = results[0], results[-1]
    span = f"from {first['queries']:,} to {last['queries']:,} queries"
    for measure, name, most in (("processor time", "cpu_us", 33.0), ("bytes", "bytes", 5.0)):
        ratio = last[name][OWN] / first[name][OWN]
        yield f"{measure}, {span}", f"x {most:.0f}", f"x {ratio:.1f}", ratio <= most


_READERS = {"general": _general, "scale": _scale}


def _sharing(cases: Mapping[str, Any]) -> Iterator[Claim]:
    """Yield the claims about which cases save most by sharing. Each case is compared at its largest number of
    queries.
    """
    names = ("count", "range", "window", "slide", "pattern", "windows")
    saved = {name: _saved([cases[name]["results"][-1]], OWN_LABELS, EXTRA_N_SHARED) for name in names if name in cases}
    one = {name: saved[name] for name in names[:4] if name in saved}
    shares_text = ", ".join(f"{name} {100 * share:.0f} %" for name, share in saved.items())
    if len(one) == 4:
        yield "most is saved for different windows", "most", shares_text, max(one, key=one.__getitem__) == "window"
        yield "least is saved for different eps", "least", shares_text, min(one, key=one.__getitem__) == "range"
    if {"pattern", "windows"} <= saved.keys():
        claim = "more is saved for two window parameters than for two pattern parameters"
        yield claim, "more", shares_text, saved["windows"] > saved["pattern"]


def _searches(cases: Mapping[str, Any]) -> Iterator[Claim]:
    shares = [
        own["searches"][OWN_LABELS] / own["searches"][INCDBSCAN]
        for case in cases.values()
        for own in case["results"]
        if INCDBSCAN in own["searches"] and own["queries"] >= 20
    ]
    if shares:
        most = 100 * max(shares)
        yield "range searches of those of IncDBSCAN, 20 queries and more", "< 10 %", f"{most:.1f} % at most", most < 10


def _by_count(results: Entries) -> dict[int, list[Mapping[str, Any]]]:
    found: dict[int, list[Mapping[str, Any]]] = {}
    for own in results:
        found.setdefault(own["queries"], []).append(own)
    return found


def _total(results: Entries, measure: str, contender: str) -> float:
    return float(sum(own[measure][contender] for own in results))


def _saved(results: Entries, own: str, other: str) -> float:
    return 1 - _total(results, "cpu_us", own) / _total(results, "cpu_us", other)
