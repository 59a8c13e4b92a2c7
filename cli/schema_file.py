"""The file behind ``--schema``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cli.failure import CommandError

if TYPE_CHECKING:
    from asc.schema import Schema


def read_schema(path: Path) -> Schema:
    """The schema in a file: the JSON of a Spark StructType, or Spark DDL."""
    from asc.schema import Schema

    text = read_text(path).strip()
    return Schema.from_json(text) if text.startswith("{") else Schema.from_ddl(text)


def read_text(path: Path) -> str:
    """The UTF-8 text of a file."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CommandError("not UTF-8 text, file", str(path), f"byte {error.start} is not; save it as UTF-8") from None
