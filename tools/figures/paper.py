"""Tables of the experiments of the paper on attribute selection constructs: costs of the orders of constructs, ratios
of these costs, and the paper's claims.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from bench.experiment import verdict
from bench.interval import Interval
from tools.figures.results import Results
from tools.figures.table import Column, Read, Row, markdown, table

_FIGURES_6 = ("synthetic-figure-6", "census-figure-6")
_FIGURES_7 = ("synthetic-figure-7", "census-figure-7")
_RATIOS = "synthetic-hybrid-ratios"
_SEARCH = "adaptation-search"
_TRIGGERS = "adaptation-triggers"
_CLAIMS = {
    "synthetic-figure-6": "synthetic, Fig. 6",
    "synthetic-figure-7": "synthetic, Fig. 7",
    "synthetic-figure-8": "synthetic, Fig. 8",
    _RATIOS: "synthetic, ratios",
    "census-figure-6": "census, Fig. 6",
    "census-figure-7": "census, Fig. 7",
    "adaptation-figure-9": "adaptation, Fig. 9",
    _TRIGGERS: "adaptation, triggers",
    _SEARCH: "adaptation, search",
}
"""The results that have claims, each with the name of its experiment, in the order of the table."""

ORDERS = ("SEQ_worst", "Ticket Routing", "SEQ_best", "Macro", "Hybrid", "Hybrid, refined")
_TIMED = tuple(order for order in ORDERS if order != "Ticket Routing")
_BEST = "SEQ_best"


def _costs(order: str) -> Read:
    """Return a function that computes the mean cost of an order over the cases of a row, with its confidence interval.
    Each case has another seed.
    """
    return lambda row: Interval.of([case["costs"][order] for case in row["cases"]])


def _least(row: Row) -> float | None:
    least = [case["explained"]["least"] for case in row["cases"]]
    return None if None in least else statistics.fmean(least)


_FIGURE_6 = (
    Column("data", "data_set"),
    *(Column(order, _costs(order)) for order in ORDERS),
    Column("least possible cost", _least, "{:.2f}"),
)
_FIGURE_7 = (
    Column("data", "data_set"),
    Column("p-attributes", "attributes"),
    *(Column(order, _costs(order)) for order in ORDERS),
)


def grouped(cases: Iterable[Row], keys: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each combination of values of ``keys``. The row contains all cases with these values, such as the
    cases of all seeds.

    >>> list(grouped([{"data_set": "D1", "seed": 1}], ["data_set"]))
    [{'data_set': 'D1', 'cases': [{'data_set': 'D1', 'seed': 1}]}]
    """
    groups: dict[tuple[object, ...], list[Row]] = {}
    for case in cases:
        groups.setdefault(tuple(case[key] for key in keys), []).append(case)
    for values, own in groups.items():
        yield {**dict(zip(keys, values, strict=True)), "cases": own}


def _cases(results: Results, names: Iterable[str]) -> list[Row]:
    return [case for name in names for case in results[name]["results"]["cases"]]


def _figure_6(results: Results) -> str:
    return table(_FIGURE_6, grouped(_cases(results, _FIGURES_6), ["data_set"]))


def _figure_7(results: Results) -> str:
    return table(_FIGURE_7, grouped(_cases(results, _FIGURES_7), ["data_set", "attributes"]))


def _nanoseconds(order: str) -> Read:
    def read(row: Row) -> str:
        return Interval.of([case["times"][order]["executor"] for case in row["cases"]]).rounded(0)

    return read


def _to_best(order: str) -> Read:
    def read(row: Row) -> str:
        times = [case["times"] for case in row["cases"]]
        return Interval.of([own[order]["executor"] / own[_BEST]["executor"] for own in times]).rounded(2)

    return read


_TIMES = (
    Column("data", "data_set"),
    *(Column(f"{order}, ns", _nanoseconds(order)) for order in _TIMED),
    *(Column(f"time of {order} / {_BEST}", _to_best(order)) for order in _TIMED if order != _BEST),
)


def _figure_6_times(results: Results) -> str:
    return table(_TIMES, grouped(_cases(results, _FIGURES_6), ["data_set"]))


def _hybrid_ratios(results: Results) -> str:
    """Return the table of Hybrid's cost divided by SEQ_best's cost, by data, predicates, queries and p-attributes. A
    ratio is bold if its whole interval is below 1.
    """
    keys = ("data_set", "predicates", "queries")
    groups = list(grouped(results[_RATIOS]["results"]["cells"], keys))
    counts = list(dict.fromkeys(cell["attributes"] for group in groups for cell in group["cases"]))
    titles = ["data", "comparisons", "queries", *(f"{count} p-attributes" for count in counts)]
    rows = []
    for group in groups:
        cells = {cell["attributes"]: cell["ratios"]["Hybrid"] for cell in group["cases"]}
        rows.append([*(str(group[key]) for key in keys), *(_ratio_text(cells.get(count)) for count in counts)])
    return markdown(titles, rows)


def _ratio_text(ratio: Mapping[str, float] | None) -> str:
    if ratio is None:
        return "-"
    text = f"{ratio['mean']:.3f} ± {ratio['high'] - ratio['mean']:.3f}"
    return f"**{text}**" if ratio["high"] < 1 else text


def _search_s(order: str) -> Read:
    return lambda row: Interval.of([case["median_s"][order] for case in row["cases"]]).rounded(3)


_SEARCHES = (
    Column("queries", "queries", "{:,}"),
    *(Column(order, _search_s(order), "{} s") for order in ("Macro", "Hybrid", "Hybrid, refined")),
)


def _search(results: Results) -> str:
    return table(_SEARCHES, grouped(_cases(results, [_SEARCH]), ["queries"]))


def _verdict(claim: Row) -> str:
    text = verdict(claim["holds"], claim["certain"])
    return f"**{text}**" if text == "refuted" else text


_OUTSIDE_BRACKETS = re.compile(r"; (?![^()]*\))")
_LISTS = ("below 1 in: ", "rearranged at all: ")
"""The first words of the parts of a claim's figures that list cases one by one. Such parts are omitted, because a table
or a plot contains the cases.
"""


def measured(claim: Row) -> str:
    """Return the measured figures of a claim as text, with a sentence for each figure. Lists of single cases are
    omitted.

    >>> measured({"ours": "less in 1 of 2 cells; below 1 in: D1; one is open (by chance; if equal)"})
    'less in 1 of 2 cells. One is open (by chance; if equal)'
    """
    ours = claim["ours"].replace("over those alone that did for every", "over the mus that rearranged for every")
    parts = (part for part in _OUTSIDE_BRACKETS.split(ours) if not part.startswith(_LISTS))
    first, *others = parts
    return ". ".join([first, *(part[0].upper() + part[1:] for part in others)])


_CLAIM = (
    Column("experiment", "experiment"),
    Column("claim", "claim"),
    Column("verdict", _verdict),
    Column("seeds in which it is true", "seeds"),
    Column("measured", measured),
)


def _claims(results: Results) -> str:
    return table(
        _CLAIM,
        ({**claim, "experiment": title} for name, title in _CLAIMS.items() for claim in results[name]["claims"]),
    )


TABLES: Mapping[str, Callable[[Results], str]] = {
    "figure-6": _figure_6,
    "figure-6-times": _figure_6_times,
    "figure-7": _figure_7,
    "hybrid-ratios": _hybrid_ratios,
    "search": _search,
    "claims": _claims,
}
