"""Protobuf schemas: compiled by Protobuf's compiler, checked against limits, and mapped to columns."""

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
from broker.formats.protobuf_extra import NOT_INSTALLED, is_installed
from broker.formats.protobuf_reading import TIMESTAMP, WRAPPERS, is_repeated, messages_of
from broker.formats.type_cycles import longest_path

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.schema import Schema

_CHARS_MAX = 1 << 20
_COLUMNS_MAX = 10_000
_DEPTH_MAX = 24
_COMPILE_S = 30
_PATH_MAX = 400
"""The largest number of message types in a chain in which each type has a field of the next type. For each type in the
chain, the Python code that creates the classes of messages makes two further nested calls.
"""

_FILE, _DESCRIBED = "schema_of_records.proto", "schema_of_records.described"
_NAME_CHARS, _PART_BYTES = 1_000, 255
"""The limits of file systems for the name of an imported file, in characters, and for each part of it, in bytes."""


_MAP_ENTRY = re.compile(r"\boption\s+map_entry\s*=\s*true\s*;")
"""The pattern of the option ``map_entry``. A registry writes this option in place of ``map<K, V>`` if it generates a
schema's text from descriptors. Protobuf's compiler refuses the option.
"""

_MARK = "asc_map_entry"
"""A reserved name that replaces the option ``map_entry`` during compilation."""

_BETWEEN = re.compile(r"\s+|//[^\n]*|/\*.*?\*/", re.DOTALL)
_EDITION = re.compile(r"edition\s*=")


@dataclass(frozen=True, slots=True)
class ProtobufSchema:
    """A compiled schema. ``descriptors``: a FileDescriptorSet whose last file describes the records.

    The size of the text and the compile time are bounded.
    """

    descriptors: bytes

    @staticmethod
    def of_text(text: str, references: Sequence[tuple[str, str]] = ()) -> ProtobufSchema:
        """Return the compiled schema of a text. ``references``: names and texts of the files that the schema imports.

        Raise SchemaError if the text is invalid or too large, or if no compiler is installed.
        """
        shown = " ".join(text.split())[:40]
        if len(text) + sum(len(own) for _, own in references) > _CHARS_MAX:
            raise SchemaError(
                "Protobuf schema",
                f"{shown}...",
                f"is longer than {_CHARS_MAX:,} characters: leave out what no record needs",
            )
        if not is_installed():
            raise SchemaError("format", "protobuf", NOT_INSTALLED)
        with tempfile.TemporaryDirectory(prefix="asc-protobuf-") as folder:
            root = Path(folder).resolve()
            _check_names([name for name, _ in references])
            for name, own in ((_FILE, text), *references):
                path = root / PurePosixPath(name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(_marked(own), encoding="utf-8")
            described = _with_map_entries(_compiled(root, shown), shown)
        _check_paths(described, shown)
        return ProtobufSchema(described)

    def message(self, name: str | None) -> Any:
        """Return the descriptor of a message by its full name, or of the first message for None. Raise SchemaError if
        there is none.
        """
        found = messages_of(self.descriptors).named(name)
        if found is None:
            if name is None:
                raise SchemaError("Protobuf schema", _FILE, "has no message: write that of the records")
            raise SchemaError("Protobuf message", name, "is not in the schema: give its full name, with the package")
        return found

    def fields(self, name: str | None) -> Schema:
        """Return the columns of a message. Raise SchemaError if a field has no Spark type, or if there are too many
        columns.
        """
        import pyarrow as pa

        from asc.schema import Schema

        message = self.message(name)
        columns = _Columns().of_message(message, "", frozenset())
        if not columns:
            raise SchemaError("Protobuf message", message.full_name, "has no fields: they are the columns")
        return Schema(pa.schema(columns))


def _marked(text: str) -> str:
    """Return the text of a file in which a reserved name replaces each option ``map_entry``.

    In a file that begins with its edition the name is an identifier, otherwise a string.
    """
    place = 0
    while between := _BETWEEN.match(text, place):
        place = between.end()
    mark = _MARK if _EDITION.match(text, place) else f'"{_MARK}"'
    return _MAP_ENTRY.sub(f"reserved {mark};", text)


def _check_names(names: Sequence[str]) -> None:
    """Raise SchemaError if the name of an imported schema cannot be a file name beside the other files.

    Otherwise the file system would refuse the name, and the error would look like one of the disk.
    """
    taken = {_FILE, _DESCRIBED}
    for name in dict.fromkeys(names):
        parts = name.split("/")
        folders = {"/".join(parts[:end]) for end in range(1, len(parts))}
        is_file = all(part.isprintable() and part.strip(" .") and len(part.encode()) <= _PART_BYTES for part in parts)
        if not is_file or len(name) > _NAME_CHARS or name in taken or folders & taken:
            raise SchemaError("Protobuf schema", name[:100], "is imported by a name that is no file's")
        taken |= {name}
    if any(other.startswith(f"{name}/") for name in names for other in names):
        raise SchemaError("Protobuf schema", "imports", "have the name of a file and of a folder that are the same")


def _check_paths(descriptors: bytes, shown: str) -> None:
    """Raise SchemaError if a chain of messages exceeds the recursion limit for creating the parser's classes.

    A worker creates the classes of a message, and of all messages inside, when a record needs them.
    """
    from google.protobuf import descriptor_pb2

    places: dict[str, int] = {}
    fields: list[tuple[int, str]] = []
    for file in descriptor_pb2.FileDescriptorSet.FromString(descriptors).file:
        package = f".{file.package}" if file.package else ""
        pending = [(package, message) for message in file.message_type]
        while pending:
            above, message = pending.pop()
            name = f"{above}.{message.name}"
            place = places[name] = len(places)
            fields += [(place, field.type_name) for field in message.field if field.type_name]
            pending += [(name, inner) for inner in message.nested_type]
    # The types of enum fields are not messages.
    edges = {(place, places[name]) for place, name in fields if name in places}
    if longest_path(len(places), edges) > _PATH_MAX:
        said = f"has messages that lead from one to the next for more than {_PATH_MAX} of them"
        raise SchemaError("Protobuf schema", f"{shown}...", said)


def _compiled(root: Path, shown: str) -> bytes:
    described = root / _DESCRIBED
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


def _with_map_entries(descriptors: bytes, shown: str) -> bytes:
    """Return a FileDescriptorSet in which the marked messages are map entries. Raise SchemaError if a marked message
    cannot be a map entry.
    """
    from google.protobuf import descriptor_pb2

    files = descriptor_pb2.FileDescriptorSet.FromString(descriptors)
    pending = [(message, False) for file in files.file for message in file.message_type]
    is_changed = False
    while pending:
        message, is_nested = pending.pop()
        pending += [(each, True) for each in message.nested_type]
        if _MARK not in message.reserved_name:
            continue
        if not is_nested or [(field.name, field.number) for field in message.field] != [("key", 1), ("value", 2)]:
            said = "has the option map_entry, and is no entry of a map: it has a key 1 and a value 2, within a message"
            raise SchemaError("Protobuf message", message.name, said)
        message.reserved_name.remove(_MARK)
        message.options.map_entry = is_changed = True
    changed: bytes = files.SerializeToString()
    if is_changed:
        try:
            messages_of(changed)
        except TypeError as error:
            said = f"is not one that its parser takes: {' '.join(str(error).split())[-150:]}"
            raise SchemaError("Protobuf schema", f"{shown}...", said) from None
    return changed if is_changed else descriptors


class _Columns:
    """The conversion of messages to column types, up to a limit on the number of columns."""

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

        message_type = field.message_type
        if message_type is None:
            return pa.decimal128(20) if _PLAIN[field.type] == "decimal" else pa.type_for_alias(_PLAIN[field.type])
        if message_type.full_name == TIMESTAMP:
            return pa.timestamp("us", tz="UTC")
        if message_type.full_name in WRAPPERS:
            return self._of_value(message_type.fields_by_name["value"], path, above)
        columns = self.of_message(message_type, path, above)
        if not columns:
            raise SchemaError("Protobuf field", path, "is a message without fields: write the schema as DDL without it")
        return pa.struct(columns)


_PLAIN = {
    **{1: "float64", 2: "float32", 3: "int64", 4: "decimal", 5: "int32", 6: "decimal", 7: "int64", 8: "bool"},
    **{9: "string", 12: "binary", 13: "int64", 14: "string", 15: "int32", 16: "int64", 17: "int32", 18: "int64"},
}
"""Column types by the numbers of FieldDescriptorProto.Type. Unsigned types use the next wider signed type."""
