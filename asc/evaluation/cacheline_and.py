# ruff: noqa: PLR0917 (as compiled functions do, these take their arguments by position)
"""Operations on cache lines: eight words of a bitmap at a time, with the intermediate results in registers."""

from __future__ import annotations

from typing import Any

from numba.extending import intrinsic

from asc.plan.block import LINE

_OF_WORDS = "llvm.vector.reduce.or.v8i64"


@intrinsic
def and_lines(typing_context: Any, out: Any, start: Any, base: Any, offsets: Any, count: Any) -> Any:
    """Write the AND of the eight words at address ``start`` and those at ``base + offsets[i]``, for i < ``count``, to
    address ``out``. Return the OR of the result's words, as uint64.

    ``offsets``: the address of an int64[count] array of offsets in bytes. ``count`` is at least 1. The function
    generates the instructions itself. From a loop, numba's compiler would not generate instructions for eight words,
    because it has to assume that ``out`` is one of the inputs.
    """
    return _over_lines(ands=True)


@intrinsic
def or_lines(typing_context: Any, out: Any, start: Any, base: Any, offsets: Any, count: Any) -> Any:
    """Write the OR of the words of which :func:`and_lines` writes the AND. The arguments and the result are those of
    :func:`and_lines`.
    """
    return _over_lines(ands=False)


def _over_lines(*, ands: bool) -> tuple[Any, Any]:
    from llvmlite import ir
    from numba.core import cgutils, types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        out, start, base, offsets, count = arguments
        word = ir.IntType(64)
        line = ir.VectorType(word, LINE)

        def line_at(address: Any) -> Any:
            return builder.inttoptr(address, line.as_pointer())

        before = builder.block
        loop = builder.append_basic_block("lines")
        after = builder.append_basic_block("lines.end")
        first = builder.load(line_at(start), align=8)
        builder.branch(loop)
        builder.position_at_end(loop)
        i, so_far = builder.phi(word), builder.phi(line)
        offset = builder.load(builder.gep(builder.inttoptr(offsets, word.as_pointer()), [i]), align=8)
        other = builder.load(line_at(builder.add(base, offset)), align=8)
        combined = builder.and_(so_far, other) if ands else builder.or_(so_far, other)
        following = builder.add(i, ir.Constant(word, 1))
        for value, at_first, later in ((i, ir.Constant(word, 0), following), (so_far, first, combined)):
            value.add_incoming(at_first, before)
            value.add_incoming(later, loop)
        builder.cbranch(builder.icmp_unsigned("<", following, count), loop, after)
        builder.position_at_end(after)
        builder.store(combined, line_at(out), align=8)
        union = cgutils.get_or_insert_function(builder.module, ir.FunctionType(word, (line,)), _OF_WORDS)  # type: ignore[no-untyped-call]
        return builder.call(union, [combined])

    return types.uint64(types.uintp, types.uintp, types.uintp, types.uintp, types.uint64), generate
