"""Tables of cells: Arrow tables of groups with the states of their measures, which other programs and cubes read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.answer_memory import Reserve, unbounded
from asc.operators.cube.cells import Cells
from asc.operators.cube.cuboid import Levels
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.keys import Key
from asc.operators.cube.layout import Layout
from asc.operators.cube.part import Part
from asc.operators.cube.question import TIME, Question
from asc.operators.cube.read_columns import read_columns
from asc.operators.cube.selection import selected
from asc.operators.cube.source import needed
from asc.operators.cube.states.memory import numbers
from asc.schema import Schema

_METADATA = b"asc.cube"
"""The key in the metadata of a table. The value is a JSON object with the definition of the cells, and with
``facts``.
"""
_ROW_FIELDS = ("measures", "order", "limit", "cursor", "grain")
_TIME = pa.timestamp("us", "UTC")
_COPIES = 2


@dataclass(frozen=True, slots=True, eq=False)
class CellStates:
    """The cells of a table, and the layout of a cube with such cells. ``generation``: the generation of the registered
    cube; None for a cube of the library.
    """

    layout: Layout
    cells: Cells
    generation: str | None


def question_of_states(body: Mapping[str, Any], definition: CubeDefinition) -> dict[str, Any]:
    """Return the body of a question for states, in which each pane stays separate. Raise CubeError if a field is only
    valid for rows, or if the cube has computed dimensions, which other programs cannot compute in the same form.
    """
    if definition.computed:
        raise CubeError("states", True, "are not offered of a cube with computed dimensions, as geohash: leave it out")
    for name in _ROW_FIELDS:
        if body.get(name) is not None:
            raise CubeError(name, body[name], "goes with rows: leave it out of a question for states")
    asked = {name: value for name, value in body.items() if name != "states"}
    grain_s = body.get("grain_s") or definition.grain_s
    return asked if grain_s is None else {**asked, "grain_s": grain_s}


def states_table(
    layout: Layout,
    parts: Sequence[Part],
    question: Question,
    generation: str | None = None,
    *,
    facts: Mapping[str, Any] | None = None,
    reserve: Reserve = unbounded,
) -> pa.Table:
    """Return the cells that a question asks for as a table, with columns for the pane, the dimensions of the cuboid,
    and each state.

    ``generation``: the generation of a registered cube. ``facts``: fields of the answer, which are added to the
    metadata of the table. ``reserve``: as in :func:`asc.operators.cube.answer.answer`. Raise CubeError if the question
    has several cuboids.
    """
    if len(question.cuboids) != 1:
        raise CubeError("number of cuboids", len(question.cuboids), "ask for the states of one")
    (cuboid,) = question.cuboids
    wanted = layout.definition.dimensions.columns(cuboid)
    read = needed(layout, selected(parts, question, reserve), question, reserve)
    cells = read.rolled_up(layout, wanted, reserve).cells
    reserve(_COPIES * cells.size_bytes)
    definition = _definition(layout.definition, cuboid, question.panes or 1)
    # A dimension may have the name of another column, so readers identify columns by their positions.
    panes = [] if definition.grain_us is None else [pa.array(cells.panes * definition.grain_us).cast(_TIME)]
    columns = [*panes, *(key.array().dictionary_decode() for key in cells.keys), *cells.states]
    names = [*([TIME] if panes else []), *definition.dimensions.names, *_state_names(layout)]
    content = {
        "cube": {name: value for name, value in definition.plain().items() if name != "name"},
        "schema": read_columns(definition, layout.schema, layout.time_zone).ddl(),
        "time_zone": layout.time_zone,
        "generation": generation,
        **(facts or {}),
    }
    return pa.Table.from_arrays(columns, names, metadata={_METADATA: json.dumps(content).encode()})


def cell_states(table: object) -> CellStates:
    """Return the cells of a table that :func:`states_table` returned, or of the table's Arrow IPC stream. Raise
    CubeError for any other table. The states are not checked for damage.
    """
    try:
        if isinstance(table, bytes):
            with pa.ipc.open_stream(table) as reader:
                table = reader.read_all()
        if not isinstance(table, pa.Table):
            raise TypeError("no table")
        table.validate(full=True)
        content = json.loads(table.schema.metadata[_METADATA])
        definition = CubeDefinition.parse(content["cube"], needs_time=False)
        layout = Layout.of(definition, Schema.of(content["schema"]), content["time_zone"])
        return CellStates(layout, _cells(layout, table), content["generation"])
    except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
        if isinstance(error, CubeError):
            raise
        raise CubeError("table", None, "has no states of a cube: give one that a cube returned") from None


def _cells(layout: Layout, table: pa.Table) -> Cells:
    """Return the cells of a table, in the order of its rows. Raise TypeError if its columns have other types."""
    grain_us = layout.definition.grain_us
    types = [*([] if grain_us is None else [_TIME]), *(operand.type for operand in layout.dimensions)]
    types += [slot.state.storage for slot in layout.slots]
    if [field.type for field in table.schema] != types:
        raise TypeError("other columns")
    arrays = [pa.concat_arrays([pa.array([], column.type), *column.chunks]) for column in table.columns]
    if grain_us is None:
        panes = np.zeros(table.num_rows, dtype=np.int64)
    else:
        panes = numbers(arrays.pop(0).cast(pa.int64()), np.int64) // grain_us
    width = len(layout.dimensions)
    return Cells(frozen(panes), tuple(map(Key.of, arrays[:width])), tuple(arrays[width:]))


def _definition(definition: CubeDefinition, cuboid: Levels, panes: int) -> CubeDefinition:
    """Return the definition of a cube whose cells are those of ``cuboid`` in panes of ``panes`` panes."""
    hierarchies = zip(definition.dimensions.hierarchies, cuboid, strict=True)
    plain = {name: value for name, value in definition.plain().items() if name != "name" and value is not None}
    plain["dimensions"] = [list(levels[:level]) for levels, level in hierarchies if level]
    if definition.grain_s is not None:
        plain["grain_s"] = definition.grain_s * panes
    return CubeDefinition.parse(plain, needs_time=False)


def _state_names(layout: Layout) -> list[str]:
    """Return the name of the column of each state, such as ``distinct(12, tailnum)``: function, parameters and
    expressions.
    """
    return [
        f"{slot.key[0]}({', '.join(str(part) for part in slot.key[1:] if part is not None)})" for slot in layout.slots
    ]
