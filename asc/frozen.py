"""Read-only arrays: what plans are made of."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

S = TypeVar("S", bound=np.generic)


def frozen(array: npt.NDArray[S]) -> npt.NDArray[S]:
    """The array itself, no longer writeable."""
    array.setflags(write=False)
    return array


def frozen_int32(array: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """The numbers as int32, not writeable."""
    return frozen(np.asarray(array, dtype=np.int32))
