"""Conversion of Protobuf messages to the columns of a stream, in the workers: fields are matched by name, and no value
is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

TIMESTAMP = "google.protobuf.Timestamp"
WRAPPERS = frozenset(
    f"google.protobuf.{kind}Value"
    for kind in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
"""Messages that represent the value inside them. An absent message represents NULL."""

FINE, DAMAGED, NO_MESSAGE, FIRST_COLUMN = 0, 1, 2, 3
"""The outcome of decoding a Kafka record, an integer that the readers return before the values.

FINE: each column has a value or NULL. DAMAGED: the bytes are no message of the schema. NO_MESSAGE: the record names a
schema or a message that is not known. FIRST_COLUMN + i: the value of column i, counted from 0, does not fit the type of
the column; no earlier column has this fault.
"""

VALUES_MAX = 1_000_000
"""The largest number of values in the arrays and maps of one record. An item of two bytes may become a struct of many
columns.
"""

_LABEL_REPEATED = 3
_INDEXES_MAX = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_INTEGERS = frozenset([3, 4, 5, 6, 7, 13, 15, 16, 17, 18])
_DOUBLE, _FLOAT, _BOOL, _STRING, _BYTES, _ENUM = 1, 2, 8, 9, 12, 14


class _UnfitError(Exception):
    """A value that is not of the column's type."""


@dataclass(slots=True)
class _Capacity:
    """The number of values (``left``) that one record may still add to arrays and maps."""

    left: int

    def take(self, values: int) -> None:
        self.left -= values
        if self.left < 0:
            raise _UnfitError


_Convert = Callable[[Any, _Capacity], Any]


@dataclass(frozen=True, slots=True)
class Messages:
    """The messages of a FileDescriptorSet, in a separate pool, because two schemas may have messages of the same
    name.
    """

    pool: Any
    file: Any

    def named(self, name: str | None) -> Any:
        """Return a message by its full name, from any file. For None, return the first message of the last file.

        Return None if there is no such message.
        """
        if name is None:
            return self.at([0])
        try:
            return self.pool.FindMessageTypeByName(name)
        except KeyError:
            return None

    def at(self, indexes: Sequence[int]) -> Any:
        """Return the message at a path of indexes in the last file: an index among its messages, then among nested
        ones.

        The entry of a map does not appear in the text of the schema, and has no index.
        """
        within, names = self.file.message_type, [self.file.package] if self.file.package else []
        for index in indexes:
            if not 0 <= index < len(within):
                return None
            names.append(within[index].name)
            within = [each for each in within[index].nested_type if not each.options.map_entry]
        return self.pool.FindMessageTypeByName(".".join(names))


def messages_of(descriptors: bytes) -> Messages:
    """Return the messages that a FileDescriptorSet describes."""
    from google.protobuf import descriptor_pb2, descriptor_pool

    files = descriptor_pb2.FileDescriptorSet.FromString(descriptors).file
    pool: Any = descriptor_pool.DescriptorPool()
    for file in files:
        pool.Add(file)
    return Messages(pool, files[-1])


class MessageReader:
    """Reader from one kind of message to columns. Cost: the parser in C, and one or two Python calls per column."""

    def __init__(self, message: Any, fields: pa.Schema) -> None:
        from google.protobuf import message_factory

        self._parse = message_factory.GetMessageClass(message).FromString
        self._columns = [_field(message, field.name, field.type) for field in fields]

    def read(self, body: bytes) -> tuple[Any, ...]:
        """Return the outcome (FINE, DAMAGED, or FIRST_COLUMN plus the index of a faulty column), and the values of the
        columns.
        """
        from google.protobuf.message import DecodeError

        row: list[Any] = [FINE]
        try:
            message = self._parse(body)
            if not message.IsInitialized():
                return (DAMAGED, *[None] * len(self._columns))
            capacity = _Capacity(VALUES_MAX)
            row.extend(convert(message, capacity) for convert in self._columns)
        except DecodeError:
            return (DAMAGED, *[None] * len(self._columns))
        except (_UnfitError, UnicodeDecodeError):
            return (FIRST_COLUMN + len(row) - 1, *[None] * len(self._columns))
        return tuple(row)


class RecordsReader:
    """The function that Spark's workers call: it converts a record's value to columns, with the schema that the value's
    head (the framing with the schema id) names.

    ``schemas``: a FileDescriptorSet by the head that precedes a record. For bare records, which are all of ``message``,
    the head is empty. Invariant: readers are not pickled. Each task creates a reader when a record first needs it.
    """

    def __init__(self, schemas: Mapping[bytes, bytes], fields: pa.Schema, head_bytes: int, message: str | None) -> None:
        self._arguments = (schemas, fields, head_bytes, message)
        self._messages: dict[bytes, Messages] = {}
        self._readers: dict[tuple[bytes, tuple[int, ...]], MessageReader] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordsReader, self._arguments

    def __call__(self, value: bytes | None) -> tuple[Any, ...] | None:
        """Return the outcome and the values of the columns, as :meth:`MessageReader.read` does. The outcome is
        NO_MESSAGE if the value names no known schema or message. Return None if the value is None.
        """
        if value is None:
            return None
        schemas, fields, head_bytes, _ = self._arguments
        value = bytes(value)
        head, start = value[:head_bytes], 0
        indexes: tuple[int, ...] = ()
        if head_bytes:
            try:
                indexes, start = message_indexes(value, head_bytes)
            except ValueError:
                return (NO_MESSAGE, *[None] * len(fields))
        key = (head, indexes)
        reader = self._readers.get(key)
        if reader is None:
            reader = self._reader(schemas, fields, head, indexes)
            if reader is None:
                # Not cached, because records could name any number of places.
                return (NO_MESSAGE, *[None] * len(fields))
            self._readers[key] = reader
        return reader.read(value[start:])

    def _reader(
        self, schemas: Mapping[bytes, bytes], fields: pa.Schema, head: bytes, indexes: tuple[int, ...]
    ) -> MessageReader | None:
        if head not in self._messages:
            self._messages[head] = messages_of(schemas[head])
        messages = self._messages[head]
        message = messages.at(indexes) if head else messages.named(self._arguments[3])
        return None if message is None else MessageReader(message, fields)


def message_indexes(value: bytes, start: int) -> tuple[tuple[int, ...], int]:
    """Return the path of a message in its schema, as Confluent's serialisers encode it, and the offset of the message.

    The encoding is the number of indexes and the indexes, each in zigzag. A single zero means the first message. Raise
    ValueError if the encoding is invalid.

    >>> message_indexes(bytes([0, 9, 9]), 0), message_indexes(bytes([4, 2, 0, 9]), 0)
    (((0,), 1), ((1, 0), 3))
    """
    number, start = _zigzag(value, start)
    if number == 0:
        return (0,), start
    if not 0 < number <= _INDEXES_MAX:
        raise ValueError(number)
    indexes = []
    for _ in range(number):
        index, start = _zigzag(value, start)
        indexes.append(index)
    return tuple(indexes), start


def is_repeated(field: Any) -> bool:
    """Return whether a field is a list or a map. In versions of the parser before 6.31, only the field's label shows
    this.

    >>> from google.protobuf.descriptor_pb2 import FileDescriptorProto
    >>> [is_repeated(FileDescriptorProto.DESCRIPTOR.fields_by_name[name]) for name in ("name", "dependency")]
    [False, True]
    """
    said = getattr(field, "is_repeated", None)
    return bool(field.label == _LABEL_REPEATED if said is None else said)


def _zigzag(value: bytes, start: int) -> tuple[int, int]:
    found = 0
    for place, byte in enumerate(value[start : start + 5]):
        found |= (byte & 127) << (7 * place)
        if byte < 128:
            return (found >> 1) ^ -(found & 1), start + place + 1
    raise ValueError(start)


def _field(message: Any, name: str, column: pa.DataType) -> _Convert:
    """Return the conversion of one field of a message to a column. The column is NULL if the message type lacks the
    field, or if a message omits it.
    """
    import pyarrow as pa

    field = message.fields_by_name.get(name)
    if field is None:
        return lambda message, capacity: None
    own = field.message_type
    if own is not None and own.GetOptions().map_entry:
        return _map(field, column)
    if is_repeated(field):
        if not pa.types.is_list(column):
            return _unless_empty(name)
        item, width = _value(field, column.value_type), _width(column.value_type)

        def items(message: Any, capacity: _Capacity) -> Any:
            found = getattr(message, name)
            capacity.take(len(found) * width)
            return [item(value, capacity) for value in found]

        return items
    convert = _value(field, column)
    if not field.has_presence:
        return lambda message, capacity: convert(getattr(message, name), capacity)
    has_default = field.has_default_value

    def present(message: Any, capacity: _Capacity) -> Any:
        return convert(getattr(message, name), capacity) if has_default or message.HasField(name) else None

    return present


def _map(field: Any, column: pa.DataType) -> _Convert:
    import pyarrow as pa

    if not pa.types.is_map(column):
        return _unless_empty(field.name)
    name, own = field.name, field.message_type
    key = _value(own.fields_by_name["key"], column.key_type)
    item, width = _value(own.fields_by_name["value"], column.item_type), 1 + _width(column.item_type)

    def entries(message: Any, capacity: _Capacity) -> Any:
        found = getattr(message, name)
        capacity.take(len(found) * width)
        return {key(each, capacity): item(value, capacity) for each, value in found.items()}

    return entries


def _unless_empty(name: str) -> _Convert:
    def nothing(message: Any, capacity: _Capacity) -> None:
        if len(getattr(message, name)):
            raise _UnfitError

    return nothing


def _width(column: pa.DataType) -> int:
    """Return the number of values as which one value of a type counts for VALUES_MAX, without the values in its arrays
    and maps.
    """
    import pyarrow as pa

    if not pa.types.is_struct(column):
        return 1
    return 1 + sum(_width(column.field(place).type) for place in range(column.num_fields))


def _value(field: Any, column: pa.DataType) -> _Convert:
    """Return the conversion of one value of a field, which may be repeated, to a column's type."""
    import pyarrow as pa

    types, message_type = pa.types, field.message_type
    if message_type is None:
        return _scalar(field, column)
    if message_type.full_name == TIMESTAMP and types.is_timestamp(column):
        return _instant if column.tz is not None else _unfit
    if message_type.full_name in WRAPPERS and not types.is_struct(column):
        inner = _scalar(message_type.fields_by_name["value"], column)
        return lambda value, capacity: inner(value.value, capacity)
    if not types.is_struct(column):
        return _unfit
    parts = [
        _field(message_type, column.field(place).name, column.field(place).type) for place in range(column.num_fields)
    ]
    return lambda value, capacity: tuple(part(value, capacity) for part in parts)


def _scalar(field: Any, column: pa.DataType) -> _Convert:
    import pyarrow as pa

    types, kind = pa.types, field.type
    if kind == _ENUM:
        return _enum(field, column)
    if kind in _INTEGERS:
        return _integer(column)
    if kind == _BOOL and types.is_boolean(column):
        return _same
    if (kind == _FLOAT and types.is_floating(column)) or (kind == _DOUBLE and types.is_float64(column)):
        return _same
    if kind == _STRING:
        if types.is_string(column):
            return _same
        return (lambda value, capacity: value.encode()) if types.is_binary(column) else _unfit
    if kind == _BYTES:
        if types.is_binary(column):
            return _same
        return (lambda value, capacity: value.decode()) if types.is_string(column) else _unfit
    return _unfit


def _enum(field: Any, column: pa.DataType) -> _Convert:
    """Return the conversion of an enum value: to its name for a text column, otherwise to its number.

    In a text column, a value without a name becomes its number as text.
    """
    import pyarrow as pa

    if not pa.types.is_string(column):
        return _integer(column)
    names = {number: value.name for number, value in field.enum_type.values_by_number.items()}
    return lambda value, capacity: names.get(value) or str(value)


def _integer(column: pa.DataType) -> _Convert:
    import pyarrow as pa

    types = pa.types
    if types.is_floating(column):
        return lambda value, capacity: float(value)
    if types.is_decimal(column):
        bound = 10 ** (column.precision - column.scale)

        def exact(value: int, capacity: _Capacity) -> Decimal:
            if not -bound < value < bound:
                raise _UnfitError
            return Decimal(value)

        return exact
    if not types.is_integer(column):
        return _unfit
    limit = 1 << (column.bit_width - 1)

    def fitting(value: int, capacity: _Capacity) -> int:
        if not -limit <= value < limit:
            raise _UnfitError
        return value

    return fitting


def _instant(value: Any, capacity: _Capacity) -> datetime:
    try:
        return _EPOCH + timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
    except OverflowError:
        raise _UnfitError from None


def _same(value: Any, capacity: _Capacity) -> Any:
    return value


def _unfit(value: Any, capacity: _Capacity) -> Any:
    raise _UnfitError
