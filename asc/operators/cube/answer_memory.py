"""The memory that answers need. The bytes of a step are reserved before the step begins, so that a limit
can refuse it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod

import pyarrow as pa

from asc.operators.cube.answered import Answered
from asc.operators.cube.cells import Cells
from asc.operators.cube.keys import Key

Reserve = Callable[[int], None]
"""A function that is called before each step of an answer, with the number of bytes by which the step increases the
reserved memory. The number is negative if memory is released.

The function may raise an exception, which ends the computation before the step.
"""

_WORK_BYTES = 72
"""The bytes of working memory for each cell that is merged: the number and index of the cell, and either slots of a
hash table or memory for sorting.
"""
_VALUE_BYTES = 56
"""The bytes that ranking takes for each distinct value of variable width, besides the value: a table entry, a rank and
an index.
"""
_ROW_BYTES, _FIELD_BYTES = 480, 112
"""The bytes of a row of an answer, and the bytes of each group value or measure in the row. Texts are not included."""
_OBJECT_BYTES, _ARROW_BYTES = 240, 32
"""The bytes of an object or a list in a row besides its fields, and the bytes of a field of a nested answer
in Arrow.
"""
_TEXT_COPIES = 7
"""The bytes that a text takes in a row, for each byte that it takes in Arrow. A single rare character makes Python
store four bytes for each character.
"""
_BODY_BYTES, _NAME_BYTES = 480, 24
"""The bytes of one roll-up or drill-down request in an answer, and the bytes of each name or field of the request. The
texts do not count, because they belong to other objects.
"""
_ORDER_BYTES = 128
"""The bytes that sorting rows takes for each cell and each sort term. A sort term is a measure or a dimension."""
_COPIES = 3
"""The number of copies of values of variable width while they are ranked: in a table, sorted, and in the result."""


def unbounded(_size_bytes: int) -> None:
    """Do nothing. This function is the ``reserve`` of an answer without a bound on its memory."""


@contextmanager
def held(reserve: Reserve, size_bytes: int) -> Iterator[None]:
    """Reserve bytes for one step, and release them after the step. If the step fails, the bytes are not released here:
    the owner of the memory limit releases all bytes of the answer.
    """
    reserve(size_bytes)
    yield
    reserve(-size_bytes)


def joining_bytes(parts: Sequence[Cells]) -> int:
    """Return an upper bound of the bytes that :func:`joined` needs for some parts: their copy, and the memory for
    ranking their keys.
    """
    some = [part for part in parts if part.count]
    if len(some) < 2:
        return 0
    dictionaries = [key.dictionary for part in some for key in part.keys]
    return sum(part.size_bytes for part in some) + sum(map(_ranking_bytes, dictionaries))


def merging_bytes(cells: Cells) -> int:
    """Return an upper bound of the bytes that :func:`merged` needs besides the given cells: working memory and the
    result.
    """
    groups = min(cells.count, int(prod(key.radix for key in cells.keys)))
    fixed = sum(int(state.nbytes) for state in cells.states if not is_variable(state))
    variable = sum(_ranking_bytes(state) for state in cells.states if is_variable(state))
    keys = 4 * len(cells.keys) + 8
    share = fixed * groups // max(cells.count, 1)
    return _WORK_BYTES * cells.count + keys * groups + share + variable


def judging_bytes(keys: Sequence[Key]) -> int:
    """Return an upper bound of the bytes for evaluating a predicate over keys. Each distinct group is
    evaluated once.
    """
    return sum(_WORK_BYTES * len(key) + _ranking_bytes(key.dictionary) for key in keys)


def placing_bytes(cells: Cells) -> int:
    """Return an upper bound of the bytes of two indices for each cell, such as the cell's row and column in a pivot."""
    return 2 * _WORK_BYTES * cells.count


def ordering_bytes(cells: Cells, terms: int, measures: Sequence[Answered]) -> int:
    """Return an upper bound of the bytes for sorting cells as rows. ``terms``: the number of measures and dimensions to
    sort by. ``measures``: these measures.
    """
    nested = sum(_answer_bytes(own.type, own.items_most) for own in measures)
    texts = sum(_ranking_bytes(cells.states[own.slots[0]]) for own in measures if _has_texts(own.type))
    return (terms * _ORDER_BYTES + nested) * cells.count + texts


def rows_bytes(cells: Cells, measures: Sequence[Answered], fields: int = 0) -> int:
    """Return an upper bound of the bytes of cells as rows of an answer. ``measures``: the measures of a row.
    ``fields``: the number of further fields of a row.
    """
    texts = sum(int(key.sizes[key.codes].sum()) for key in cells.keys)
    # Only measures with texts in their answers count: the bytes of other states do not become texts.
    texts += sum(int(cells.states[own.slots[0]].nbytes) for own in measures if _has_texts(own.type))
    values = sum(_value_bytes(own.type, own.items_most) + _answer_bytes(own.type, own.items_most) for own in measures)
    return cells.count * (_ROW_BYTES + _FIELD_BYTES * (len(cells.keys) + fields) + values) + _TEXT_COPIES * texts


def _value_bytes(data_type: pa.DataType, items_most: int) -> int:
    """Return an upper bound of the bytes of one answer in a row, without its texts. ``items_most``: the largest number
    of items of a list.
    """
    if pa.types.is_struct(data_type):
        return _OBJECT_BYTES + sum(_value_bytes(field.type, items_most) for field in data_type)
    if pa.types.is_list(data_type):
        return _OBJECT_BYTES + items_most * _value_bytes(data_type.value_type, 1)
    return _FIELD_BYTES


def _answer_bytes(data_type: pa.DataType, items_most: int) -> int:
    """Return an upper bound of the bytes of a nested answer as an Arrow array, without its texts; 0 for a
    plain answer.
    """
    if pa.types.is_struct(data_type):
        return sum(_answer_bytes(field.type, items_most) or _ARROW_BYTES for field in data_type)
    if pa.types.is_list(data_type):
        return items_most * (_answer_bytes(data_type.value_type, 1) or _ARROW_BYTES)
    return 0


def _has_texts(data_type: pa.DataType) -> bool:
    """Return whether the answers of a type contain texts or BINARY."""
    if pa.types.is_nested(data_type):
        return any(_has_texts(data_type.field(place).type) for place in range(data_type.num_fields))
    return bool(pa.types.is_string(data_type) or pa.types.is_binary(data_type))


def body_bytes(names: int) -> int:
    """Return an upper bound of the bytes of one request body in ``roll_up`` or ``drill_down``. ``names``: the number of
    names and fields in the body.
    """
    return _BODY_BYTES + _NAME_BYTES * names


def is_variable(array: pa.Array) -> bool:
    """Return whether the values of an array differ in size: they are texts or BINARY."""
    kind = array.type
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))


def _ranking_bytes(array: pa.Array) -> int:
    return _COPIES * int(array.nbytes) + _VALUE_BYTES * len(array)
