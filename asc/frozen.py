"""Read-only arrays, and dataclasses that consist of arrays. Every array of a plan is read-only."""

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
"""The key in the metadata of a dataclass field for the field's stored name. A field has this entry if files of earlier
versions use another name than the code.
"""


def frozen(array: npt.NDArray[S]) -> npt.NDArray[S]:
    """Make an array read-only, and return the same array."""
    array.setflags(write=False)
    return array


def arrays_of(instance: DataclassInstance) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a dataclass that has only arrays, by their stored names."""
    return {one.metadata.get(STORED, one.name): getattr(instance, one.name) for one in fields(instance)}


def of_stored(kind: type[D], arrays: Mapping[str, npt.NDArray[Any]]) -> D:
    """Return an instance of the dataclass ``kind`` from its arrays, by the names that :func:`arrays_of` uses.

    Raise TypeError if an array is missing, and KeyError if no field has the name of an array.
    """
    names = {one.metadata.get(STORED, one.name): one.name for one in fields(kind)}
    return kind(**{names[name]: array for name, array in arrays.items()})


class OfArrays:
    """A base class of dataclasses that consist of arrays, whose fields are in the order in which kernels read them."""

    __slots__ = ()

    @property
    def nbytes(self) -> int:
        """The number of bytes of all arrays."""
        return sum(array.nbytes for array in self.arguments)

    @property
    def arguments(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays, in the order in which kernels take them as arguments."""
        return tuple(self.arrays().values())

    def arrays(self, prefix: str = "") -> dict[str, npt.NDArray[Any]]:
        """Return the arrays by their stored names, with ``prefix`` before each name."""
        return {f"{prefix}{name}": array for name, array in arrays_of(self).items()}  # type: ignore[arg-type]


def frozen_int32(array: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Return the numbers as a read-only int32 array."""
    return frozen(np.asarray(array, dtype=np.int32))
