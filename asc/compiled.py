"""Decorators that compile functions with numba. Every kernel (a compiled loop over arrays) of the project uses one of
them.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

import numba
from numba.core.caching import IndexDataCacheFile
from numba.core.options import DefaultOptions
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])

_UNCOUNTED: Final[Any] = MappingProxyType({"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {})
"""The option of numba to compile without its runtime, which counts references to arrays; empty if numba lacks the
option.
"""


def compiled(function: F) -> F:
    """Compile a function on its first use. The compiled code is stored, so that later processes of the machine do not
    compile the function again. The function releases the GIL while it runs.

    The function must not create an array: it is compiled without reference counts. With reference counts, each function
    that receives an array counts a reference. This took half of the time of many loops, and prevented loops from
    reading several words at once. The function must not return an array either, except to another compiled function.

    Arrays that belong together are one argument, a NamedTuple: arrays of one dtype in a list of arguments are easily
    exchanged. The class of the NamedTuple must be an attribute of a module, or the compiled code cannot be stored. Cost
    of a NamedTuple: 0.1 microseconds for each of its fields in a call from Python; none in a call from a compiled
    function.

    numba stores the compiled code beside the package, or in the user's cache folder if the package is not writable. If
    neither is writable, the function is compiled for the process alone.
    """
    return _compiled(function, **_UNCOUNTED)


def allocating(function: F) -> F:
    """Compile a function as :func:`compiled` does, but with reference counts. The function can create arrays."""
    return _compiled(function)


def inlined(function: F) -> F:
    """Compile a function as :func:`compiled` does, but inline it in each compiled caller, so that no call remains."""
    return cast(F, numba.njit(nogil=True, forceinline=True, **_UNCOUNTED)(function))


def _compiled(function: F, **options: Any) -> F:
    try:
        kernel = numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # no folder to keep it in
        return cast(F, numba.njit(nogil=True, **options)(function))
    index = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if type(index) is IndexDataCacheFile:
        index.__class__ = _Index
    return cast(F, kernel)


class _Index(IndexDataCacheFile):
    """The index of numba's stored code for one function. It counts as empty if it names classes that only another
    version of asc had.

    numba reads the whole index, with the classes of NamedTuples, before it compares the time of the source file. If a
    class has been renamed since the index was written, numba itself would raise AttributeError in each call, until the
    file is removed.
    """

    def _load_index(self) -> dict[Any, Any]:
        try:
            return cast(dict[Any, Any], super()._load_index())  # type: ignore[no-untyped-call]
        except (AttributeError, ImportError):
            return {}


@intrinsic
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Return the number of zeros below the lowest 1 of a uint64; 64 for 0."""
    from numba.core import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


@intrinsic
def ones(typing_context: Any, word: Any) -> Any:
    """Return the number of ones of a uint64."""
    from numba.core import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def prefetch(typing_context: Any, array: Any, place: Any) -> Any:
    """Load the element at an int64 index of an array into the processor's cache, without waiting for it. An index
    outside of the array is allowed.
    """
    from llvmlite import ir
    from numba.core import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        wanted = builder.module.declare_intrinsic("llvm.prefetch", (address.type,), kind)
        to_read, keep, as_data = number(0), number(3), number(1)
        builder.call(wanted, [address, to_read, keep, as_data])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate
