"""The columns that a file shares with the fields of a stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from broker.errors import InputError
from broker.formats.spelling import spelled

if TYPE_CHECKING:
    from asc.schema import Schema

_NAMES_SHOWN = 10


def column_warnings(columns: Sequence[str], schema: Schema) -> Iterator[str]:
    """Yield a warning line for columns that the schema lacks, and one for fields of the schema that no column has.
    Yield nothing if no column is known.
    """
    if not columns:
        return
    names = spelled(columns, schema)
    fields = [field.name for field in schema.arrow]
    unknown = [column for column, name in zip(columns, names, strict=True) if name not in fields]
    lacking = [field for field in fields if field not in names]
    if unknown:
        yield f"no predicate can name what the stream's schema lacks: {_shortly(unknown)}"
    if lacking:
        yield f"NULL in every record, for the file lacks it: {_shortly(lacking)}"


def check_shared(source: str, columns: Sequence[str], schema: Schema, *, by_case: bool = False) -> None:
    """Raise InputError if columns are known but none is a field of the schema: every field of every record would be
    NULL.

    ``by_case``: whether names are case-sensitive, as they are in records that are sent unchanged.
    """
    names = set(columns if by_case else spelled(columns, schema))
    fields = [field.name for field in schema.arrow]
    if columns and not names & set(fields):
        remedy = (
            f"its columns are {_shortly(columns)}, the stream's {_shortly(fields)}; --force publishes it nevertheless"
        )
        raise InputError("nothing of the stream's schema in", source, remedy)


def _shortly(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more
