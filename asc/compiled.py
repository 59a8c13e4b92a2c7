"""Compiled functions: how every kernel of the project is made one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile on first use, once for a machine, and release the GIL while it runs.

    numba keeps what it compiled beside the package, or in the user's cache folder where that is not writable; where
    neither can be written, it is compiled for the process alone.
    """
    try:
        return cast(F, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no folder to keep it in
        return cast(F, numba.njit(nogil=True)(function))


def inlined(function: F) -> F:
    """As :func:`compiled`, but a part of whatever compiled function calls it: to hand arrays over takes as long as a
    few hundred words do.
    """
    return cast(F, numba.njit(nogil=True, forceinline=True)(function))


@intrinsic
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """The number of zeros below the lowest 1 of a uint64; 64 for 0."""
    from numba.core import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


@intrinsic
def ones(typing_context: Any, word: Any) -> Any:
    """The number of ones of a uint64."""
    from numba.core import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate
