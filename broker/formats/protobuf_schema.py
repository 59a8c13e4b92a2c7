"""Schemas of Protobuf as they are read here: compiled by its own compiler, bounded, and what columns they would be."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from asc.errors import SchemaError
from broker.formats.protobuf import NOT_INSTALLED, is_installed
from broker.formats.protobuf_reading import TIMESTAMP, WRAPPERS, is_repeated, messages_of

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.schema import Schema

_CHARS_MAX = 1 << 20
_COLUMNS_MAX = 10_000
_DEPTH_MAX = 24
_COMPILE_S = 30
_FILE = "schema_of_records.proto"


@dataclass(frozen=True, slots=True)
class ProtobufSchema:
    """A schema as Protobuf's compiler describes it: ``descriptors`` are a FileDescriptorSet, the file of the records
    last. Bounded in its text, and in the time that it takes to compile.
    """

    descriptors: bytes

    @staticmethod
    def of_text(text: str, references: Sequence[tuple[str, str]] = ()) -> ProtobufSchema:
        """The schema of a text, with the files that it imports, as names and texts; SchemaError for what is none, or
        too large, or where there is no compiler.
        """
        shown = " ".join(text.split())[:40]
        if len(text) + sum(len(own) for _, own in references) > _CHARS_MAX:
            raise SchemaError("Protobuf schema", f"{shown}...", f"is longer than {_CHARS_MAX:,} characters")
        if not is_installed():
            raise SchemaError("format", "protobuf", NOT_INSTALLED)
        with tempfile.TemporaryDirectory(prefix="asc-protobuf-") as folder:
            root = Path(folder).resolve()
            for name, own in ((_FILE, text), *references):
                path = root / PurePosixPath(name)
                if not path.resolve().is_relative_to(root) or not name.strip():
                    raise SchemaError("Protobuf schema", name[:100], "is imported by a name that is no file's")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(own, encoding="utf-8")
            return ProtobufSchema(_compiled(root, shown))

    def message(self, name: str | None) -> Any:
        """The description of a message by its full name, of the first one for None; SchemaError where it has none."""
        found = messages_of(self.descriptors).named(name)
        if found is None:
            if name is None:
                raise SchemaError("Protobuf schema", _FILE, "has no message")
            raise SchemaError("Protobuf message", name, "is not in the schema: give its full name, with the package")
        return found

    def fields(self, name: str | None) -> Schema:
        """The columns of a message; SchemaError where one is of no type of Spark's, or they are too many."""
        import pyarrow as pa

        from asc.schema import Schema

        message = self.message(name)
        columns = _Columns().of_message(message, "", frozenset())
        if not columns:
            raise SchemaError("Protobuf message", message.full_name, "has no fields: they are the columns")
        return Schema(pa.schema(columns))


def _compiled(root: Path, shown: str) -> bytes:
    described = root / "described"
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", "--include_imports"]
    command += [f"--descriptor_set_out={described}", _FILE]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_COMPILE_S, cwd=root, check=False)
    except subprocess.TimeoutExpired:
        raise SchemaError("Protobuf schema", f"{shown}...", f"takes more than {_COMPILE_S} s to compile") from None
    if done.returncode != 0 or not described.is_file():
        lines = [line for line in done.stderr.splitlines() if re.match(r"\S+:\d+:\d+: (?!warning)", line)]
        said = lines[0] if lines else done.stderr.strip().partition("\n")[0] or "its compiler ended without a word"
        where = said.replace(f"{_FILE}:", "line ", 1)[:200]
        raise SchemaError("Protobuf schema", f"{shown}...", f"is not one that its compiler takes: {where}")
    return described.read_bytes()


class _Columns:
    """The types of columns for messages, so many at most."""

    def __init__(self) -> None:
        self._made = 0

    def of_message(self, message: Any, path: str, above: frozenset[str]) -> list[tuple[str, pa.DataType]]:
        if message.full_name in above:
            remedy = "holds itself: write the schema as DDL, without it or so deep as it is needed"
            raise SchemaError("Protobuf field", path, remedy)
        inner = above | {message.full_name}
        if len(inner) > _DEPTH_MAX:
            raise SchemaError("Protobuf field", path, f"is nested deeper than {_DEPTH_MAX} messages")
        return [(f.name, self.of_field(f, f"{path}.{f.name}".lstrip("."), inner)) for f in message.fields]

    def of_field(self, field: Any, path: str, above: frozenset[str]) -> pa.DataType:
        import pyarrow as pa

        self._made += 1
        if self._made > _COLUMNS_MAX:
            raise SchemaError("Protobuf field", path, f"is one of more than {_COLUMNS_MAX:,}: write the schema as DDL")
        own = field.message_type
        if own is not None and own.GetOptions().map_entry:
            key, value = (own.fields_by_name[part] for part in ("key", "value"))
            return pa.map_(self._of_value(key, path, above), self._of_value(value, path, above))
        found = self._of_value(field, path, above)
        return pa.list_(found) if is_repeated(field) else found

    def _of_value(self, field: Any, path: str, above: frozenset[str]) -> pa.DataType:
        import pyarrow as pa

        own = field.message_type
        if own is None:
            return pa.decimal128(20) if _PLAIN[field.type] == "decimal" else pa.type_for_alias(_PLAIN[field.type])
        if own.full_name == TIMESTAMP:
            return pa.timestamp("us", tz="UTC")
        if own.full_name in WRAPPERS:
            return self._of_value(own.fields_by_name["value"], path, above)
        columns = self.of_message(own, path, above)
        if not columns:
            raise SchemaError("Protobuf field", path, "is a message without fields: write the schema as DDL without it")
        return pa.struct(columns)


_PLAIN = {
    **{1: "float64", 2: "float32", 3: "int64", 4: "decimal", 5: "int32", 6: "decimal", 7: "int64", 8: "bool"},
    **{9: "string", 12: "binary", 13: "int64", 14: "string", 15: "int32", 16: "int64", 17: "int32", 18: "int64"},
}
"""Types of columns by the numbers of FieldDescriptorProto.Type; those without a sign are in the next wider type."""
