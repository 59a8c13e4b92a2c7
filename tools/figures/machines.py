"""The table of the machines that the results were measured on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tools.figures.results import Results
from tools.figures.table import Column, Row, table

_MACHINES = (
    Column("processor", "processor"),
    Column("cores", "cores"),
    Column("memory", "memory_gib", "{:.0f} GiB"),
    Column("Python", "python"),
    Column("results", lambda row: ", ".join(f"`{name}`" for name in row["names"])),
)


def _machines(results: Results) -> str:
    machines: dict[tuple[object, ...], Row] = {}
    for name in results:
        own = results[name]["machine"]
        key = (own["processor"], own["cores"], round(own["memory_gib"]), own["python"])
        machines.setdefault(key, {**own, "names": []})["names"].append(name)
    return table(_MACHINES, machines.values())


TABLES: Mapping[str, Callable[[Results], str]] = {"machines": _machines}
