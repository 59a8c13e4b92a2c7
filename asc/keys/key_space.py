"""Key spaces: the totally ordered keys that represent the values of one type."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import pyarrow as pa

from asc.keys.constraint import Key
from asc.keys.dictionary import Dictionary
from asc.keys.domain import Domain
from asc.keys.grid import Keys


class KeySpace(ABC):
    """The keys of the values of one type, and the conversions between values and keys.

    A key space maps the values that are not NULL to keys of one Python type: int within 64 bits, or bytes, which
    compare as unsigned bytes. Invariant: two values compare in Spark as their keys compare in Python, and are equal if
    and only if their keys are equal. Every kind of type is a subclass in its own module, registered in
    ``asc.keys.spaces``.

    ``type``: the Arrow type of the values. ``domain``: the range of the keys. ``labelled``: whether keys are bytes.
    Then the constants of a plan get int64 labels from a :class:`Dictionary`; otherwise the key itself is the int64.
    Cost: one object for each type.
    """

    labelled: ClassVar[bool] = False

    def __init__(self, data_type: pa.DataType, domain: Domain) -> None:
        self.type = data_type
        self.domain = domain

    @staticmethod
    @abstractmethod
    def of(data_type: pa.DataType) -> KeySpace | None:
        """Return the key space of a type. Return None if the class does not represent types of this kind."""

    @abstractmethod
    def key(self, value: Any) -> Key:
        """Return the key of a value in its Python form: bool, int, float, str or bytes. A date is a number of days, a
        timestamp a number of microseconds, and a decimal its digits as an integer.
        """

    @abstractmethod
    def key_of(self, scalar: pa.Scalar) -> Key:
        """Return the key of an Arrow scalar of the type. The scalar is not NULL."""

    @abstractmethod
    def text(self, key: Key) -> str:
        """Return the SQL constant that a key represents."""

    def readable(self, values: pa.Array) -> pa.Array | None:
        """Return the values in the memory layout that :meth:`write` reads, copied only if their layout differs.

        Return None if the key space is not for values of the array's type.
        """
        return values if values.type == self.type else None

    @abstractmethod
    def write(self, values: pa.Array, dictionary: Dictionary, out: Keys) -> None:
        """Write one int64 for each value into ``out`` int64[len(values)]: its key, or its label in ``dictionary`` if
        the space is ``labelled``.

        ``values`` have the layout that :meth:`readable` returns. The key of a NULL is arbitrary.
        """
