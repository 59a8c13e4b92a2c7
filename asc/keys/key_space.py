"""Key spaces: the totally ordered keys that stand for the values of one type."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import pyarrow as pa

from asc.keys.constraint import Key
from asc.keys.dictionary import Dictionary
from asc.keys.domain import Domain
from asc.keys.grid import Keys


class KeySpace(ABC):
    """The keys of the values of one type, and all that is known of that type outside of Spark's own rules.

    Represents a map from the values that are not NULL to keys of one Python type: int within 64 bits, or bytes, which
    compare as unsigned bytes. Invariant: two values compare in Spark as their keys do in Python, and are equal where
    their keys are. Every kind of value is a subclass in a module of its own, named in ``asc.keys.spaces``.

    ``domain``: the keys that there are. ``labelled``: whether keys are bytes, so that the constants of a plan get
    int64 labels from a :class:`Dictionary`; elsewhere the int64 is the key itself. Cost: one object a type.
    """

    labelled: ClassVar[bool] = False

    def __init__(self, data_type: pa.DataType, domain: Domain) -> None:
        self.type = data_type
        self.domain = domain

    @staticmethod
    @abstractmethod
    def of(data_type: pa.DataType) -> KeySpace | None:
        """Return the space of a type; None for a type of another kind."""

    @abstractmethod
    def key(self, value: Any) -> Key:
        """Return the key of a value as it is stored: bool, int, float, str, bytes, days, microseconds, the unscaled
        digits of a decimal.
        """

    @abstractmethod
    def key_of(self, scalar: pa.Scalar) -> Key:
        """Return the key of an Arrow scalar of the type, not NULL."""

    @abstractmethod
    def text(self, key: Key) -> str:
        """Return a key as the SQL constant it stands for."""

    def readable(self, values: pa.Array) -> pa.Array | None:
        """Return the values in the memory layout that :meth:`write` reads, copied only where they have another; None
        for an array of another type.
        """
        return values if values.type == self.type else None

    @abstractmethod
    def write(self, values: pa.Array, dictionary: Dictionary, out: Keys) -> None:
        """Write the key of each value, or its label in the dictionary, into ``out`` int64[len(values)].

        ``values`` are readable; the key of a NULL is arbitrary.
        """
