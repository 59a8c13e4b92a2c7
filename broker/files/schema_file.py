"""The schema file of the option ``--schema``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from broker.errors import InputError
from broker.files.bounded_file import read_text

if TYPE_CHECKING:
    from asc.schema import Schema


_OF_RECORDS = (".csv", ".ndjson", ".jsonl", ".parquet")


def read_schema(path: Path) -> Schema:
    """Return the schema in a file: the JSON of a Spark StructType, or Spark DDL.

    Raise SchemaError, with the file's name, for an invalid schema. Raise InputError if the file is empty, is no text,
    or has the name of a file of records.
    """
    from asc.errors import SchemaError
    from asc.schema import Schema

    named = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    if named.suffix.lower() in _OF_RECORDS:
        remedy = f"'asc schema infer {path}' prints their schema: write that to a file, and name it"
        raise InputError("records, and no schema, in file", str(path), remedy)
    text = read_text(path).strip()
    if not text:
        remedy = "is empty: write the fields, as delay INT, dest STRING; 'asc schema infer' guesses them from records"
        raise InputError("schema file", str(path), remedy)
    try:
        return Schema.from_json(text) if text.startswith("{") else Schema.from_ddl(text)
    except SchemaError as error:
        raise SchemaError(f"schema file '{path}': {error.subject}", error.value, error.remedy) from None
