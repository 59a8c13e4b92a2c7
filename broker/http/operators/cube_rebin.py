"""New edges for the bins of a cube, with the permissions of a caller: computation of their effect, and their
application.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from asc.errors import CubeError
from asc.operators.cube.binned import bins_of, with_given_bins, without_edges
from broker.http.completion import completed_by_sample
from broker.http.operators.cube_readable import ReadableCube
from broker.http.scoped_service import ScopedService
from broker.operators.cube.definition import StandingCube, refusal_of
from broker.queries.change import Put


@dataclass(frozen=True, slots=True)
class Rebinned:
    """The effect of new edges on a cube. ``definition``: the new definition. ``bins``: the dimensions whose edges
    differ, with new and former edges. ``cells``, ``panes``: the numbers of stored cells and panes that are deleted.
    """

    definition: StandingCube
    bins: tuple[Mapping[str, Any], ...]
    cells: int
    panes: int

    def plain(self) -> dict[str, Any]:
        """Return the effect as a JSON object."""
        return {"bins": list(self.bins), "deleted_cells": self.cells, "deleted_panes": self.panes}

    def lines(self) -> list[str]:
        """Return the effect as lines of text: one for each dimension, and one for the deleted cells."""
        if not self.bins:
            return ["no edge differs from the former ones: nothing changes"]
        return [*map(_line, self.bins), f"deletes {self.cells:,} cells in {self.panes:,} panes: the cube begins empty"]


def rebinned(permitted: ScopedService, cube: ReadableCube, names: Sequence[str], calibrated: Sequence[str]) -> Rebinned:
    """Return the effect of new edges on a cube. ``names``: the dimensions with bins that get new edges; if empty, all
    of them. ``calibrated``: dimensions with given edges; if empty, the edges are computed from the last records of the
    stream.

    Raise QueryError if the cube has no such bins. Raise the errors of a registration.
    """
    plain = cube.definition.plain()
    try:
        if calibrated:
            plain = with_given_bins(plain, cube.definition.cube, calibrated, names)
        else:
            plain = without_edges(plain, cube.definition.cube, names)
        definition = StandingCube.parse(plain)
    except CubeError as error:
        raise refusal_of(error) from None
    stream = permitted.stream_of(cube.query.stream)
    completed = completed_by_sample(permitted, stream, cube.query.where, definition)
    assert isinstance(completed, StandingCube)
    state = cube.folder.keeper.snapshot.cubes.get(cube.id)
    cells, panes = (0, 0) if state is None else (state.cells, state.pane_count)
    former = {own.name: own for own in bins_of(cube.definition.cube)}
    bins = tuple(
        {**own.described(), "former_edges": former[own.name].checked_edges.plain()}
        for own in bins_of(completed.cube)
        if own != former[own.name]
    )
    return Rebinned(completed, bins, cells if bins else 0, panes if bins else 0)


def apply_rebinned(permitted: ScopedService, cube: ReadableCube, found: Rebinned) -> None:
    """Register the cube with its new edges, which deletes its cells. Raise AscError if the registration is refused."""
    permitted.apply([Put(replace(cube.query, operator=found.definition))], "rebin").raised()


def _line(bins: Mapping[str, Any]) -> str:
    """Return a line of text about the new edges of one dimension, with the error over the sample. ``bins``: the
    dimension, as in ``Rebinned.bins``.
    """
    errors = bins["sample"]["errors"] if bins["sample"] else {"nrmse": None, "rmse_sd": None}
    known = [
        f"{errors[name]:.3g} {unit}"
        for name, unit in (("nrmse", "of the range"), ("rmse_sd", "standard deviations"))
        if errors[name] is not None
    ]
    error = f", error {' and '.join(known)}" if known else ""
    return f"{bins['name']}: {len(bins['former_edges']) + 1} bins become {len(bins['edges']) + 1}{error}"
