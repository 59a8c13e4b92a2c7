"""The columns of a file that are fields of a stream as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from broker.errors import InputError
from broker.formats.spelling import spelled

if TYPE_CHECKING:
    from asc.schema import Schema

_NAMES_SHOWN = 10


def column_warnings(columns: Sequence[str], schema: Schema) -> Iterator[str]:
    """Yield warnings of the columns that are not shared, a line each; none where no column is known."""
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
    """Raise InputError where columns are known and none of them is a field of the schema: every record would be NULLs.

    ``by_case``: whether a name in another case is another name, as it is in records that are sent unchanged.
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
