"""Read-only arrays: what plans are made of."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound=np.generic)


def frozen(array: npt.NDArray[S]) -> npt.NDArray[S]:
    """The array itself, no longer writeable."""
    array.setflags(write=False)
    return array


def arrays_of(own: DataclassInstance) -> dict[str, npt.NDArray[Any]]:
    """The arrays that a dataclass of nothing else is made of, by their names."""
    return {field.name: getattr(own, field.name) for field in fields(own)}


class OfArrays:
    """A dataclass that is made of arrays and nothing else, its fields in the order in which kernels read them."""

    __slots__ = ()

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arguments)

    @property
    def arguments(self) -> tuple[npt.NDArray[Any], ...]:
        """What kernels read of it."""
        return tuple(self.arrays().values())

    def arrays(self, prefix: str = "") -> dict[str, npt.NDArray[Any]]:
        """Its arrays by their names, with something before each."""
        return {f"{prefix}{name}": array for name, array in arrays_of(self).items()}  # type: ignore[arg-type]


def frozen_int32(array: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """The numbers as int32, not writeable."""
    return frozen(np.asarray(array, dtype=np.int32))
