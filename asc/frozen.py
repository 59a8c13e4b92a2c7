"""Read-only arrays: what plans are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound=np.generic)
D = TypeVar("D", bound="DataclassInstance")

STORED = "stored"
"""Metadata of a field: the name that it is stored under, where files of earlier versions have another one."""


def frozen(array: npt.NDArray[S]) -> npt.NDArray[S]:
    """Return the array itself, no longer writeable."""
    array.setflags(write=False)
    return array


def arrays_of(instance: DataclassInstance) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays that a dataclass of nothing else is made of, by the names that they are stored under."""
    return {one.metadata.get(STORED, one.name): getattr(instance, one.name) for one in fields(instance)}


def of_stored(kind: type[D], arrays: Mapping[str, npt.NDArray[Any]]) -> D:
    """Return the dataclass of the arrays that :func:`arrays_of` gives.

    TypeError where one is missing, KeyError for one that it does not have.
    """
    names = {one.metadata.get(STORED, one.name): one.name for one in fields(kind)}
    return kind(**{names[name]: array for name, array in arrays.items()})


class OfArrays:
    """A dataclass that is made of arrays and nothing else, its fields in the order in which kernels read them."""

    __slots__ = ()

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arguments)

    @property
    def arguments(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays that kernels read."""
        return tuple(self.arrays().values())

    def arrays(self, prefix: str = "") -> dict[str, npt.NDArray[Any]]:
        """Return its arrays by their names, with something before each."""
        return {f"{prefix}{name}": array for name, array in arrays_of(self).items()}  # type: ignore[arg-type]


def frozen_int32(array: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Return the numbers as int32, not writeable."""
    return frozen(np.asarray(array, dtype=np.int32))
