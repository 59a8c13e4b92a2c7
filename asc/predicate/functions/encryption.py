"""The functions of AES encryption, restricted to calls with a deterministic result."""

from __future__ import annotations

import re

import pyarrow as pa

from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.function import Call, Function
from asc.predicate.functions.growth import times
from asc.predicate.functions.results import BINARY
from asc.predicate.functions.try_spellings import as_bytes, renamed

_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})+")


def _without_chance(call: Call) -> str | None:
    """Return the reason for refusing a call that uses a random initialisation vector; None for any other call.

    Spark generates a random vector if the argument is missing or empty.
    """
    mode = call.constant(2)
    if len(call.args) < 3 or not isinstance(mode, str):
        return "aes_encrypt draws a random vector, and a predicate depends on the record alone: give it the mode ECB"
    if mode.upper() != "ECB" and not (len(call.args) > 4 and _is_constant_vector(call.args[4])):
        return (
            f"aes_encrypt draws a random vector in mode {mode}, and a predicate depends on the record alone: write"
            " X'hex digits' for it, or the mode ECB"
        )
    return None


def _is_constant_vector(arg: Expression) -> bool:
    """Return whether an argument is NULL, or a constant initialisation vector that is not empty.

    A call of ``unhex`` with a constant text is also a constant vector.
    """
    literal = arg.literal
    if literal is not None:
        return literal.type == pa.null() or (literal.known and bool(literal.value))
    node = arg.node
    if node.op != "call" or node.value != "unhex" or node.args[0].op != "literal":
        return False
    digits = node.args[0].value.value
    return isinstance(digits, str) and bool(_HEX.fullmatch(digits))


def _table() -> dict[str, Function]:
    return {
        "aes_encrypt": Function(2, 6, "BBSSBB", BINARY, _without_chance, times(2), as_bytes, fails=True),
        "aes_decrypt": Function(2, 5, "BBSSB", BINARY, spelling=renamed("try_aes_decrypt"), fails=True),
        "try_aes_decrypt": Function(2, 5, "BBSSB", BINARY),
    }


ENCRYPTION = _table()
