"""All tables of figures, by the names that pages use for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tools.figures import changes, glance, machines, matching, monitors, operators, paper, rivals, scaling, streams
from tools.figures.results import Results

TABLES: Mapping[str, Callable[[Results], str]] = {
    **machines.TABLES,
    **glance.TABLES,
    **matching.TABLES,
    **streams.TABLES,
    **scaling.TABLES,
    **monitors.TABLES,
    **changes.TABLES,
    **operators.TABLES,
    **rivals.TABLES,
    **paper.TABLES,
}
