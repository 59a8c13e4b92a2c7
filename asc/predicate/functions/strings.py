"""Functions of strings."""

from __future__ import annotations

import re

import pyarrow as pa

from asc.predicate.functions.caught import renamed
from asc.predicate.functions.checks import constant_integer, searched
from asc.predicate.functions.format_string import format_trouble, formatted
from asc.predicate.functions.function import MANY, Call, Function
from asc.predicate.functions.growth import joined, longest, times
from asc.predicate.functions.results import BIGINT, BOOLEAN, INT, STRING, always, part_of_string, string_or_binary

_MAX_REPEATED = 100
_MAX_SPACES = 1_000
_MAX_DISTANT = 64
_CODE = re.compile(r"[A-Za-z]{0,3}")
_BY_DICTIONARY = ("th", "tha", "lo", "lao", "km", "khm", "my", "mya")


def _replacement(call: Call) -> str | None:
    """What is replaced decides how long the result may be."""
    new = call.constant(2) if len(call.args) > 2 else ""
    if not isinstance(call.constant(1), str) or not isinstance(new, str) or not call.constant(1):
        return "replace needs constants: what is replaced, not empty, and by what"
    return None


def _replaced(call: Call) -> float:
    search, new = call.constant(1), call.constant(2) or ""
    assert isinstance(search, str)
    assert isinstance(new, str)
    return longest(call) * max(1.0, len(new.encode()) / len(search.encode()))


def _repeated(call: Call) -> float:
    count = call.constant(1)
    return longest(call) * max(1, count if isinstance(count, int) else 1)


def _part_number(call: Call) -> str | None:
    number = call.constant(2)
    if not isinstance(number, int) or number == 0:
        return "split_part takes a constant part number other than 0"
    return searched(call)


def _distant(call: Call) -> str | None:
    """The distance of two strings takes the product of their lengths."""
    constants = [arg.literal.value for arg in call.args[:2] if arg.literal is not None]
    if not any(len(str(constant)) <= _MAX_DISTANT for constant in constants):
        return f"one of the strings given to levenshtein must be a constant of at most {_MAX_DISTANT} characters"
    return constant_integer(2, "threshold", 0, 1_000)(call)


def _masks(call: Call) -> str | None:
    for place in range(1, len(call.args)):
        character = call.constant(place)
        if not call.is_null(place) and not (isinstance(character, str) and len(character) == 1):
            return "mask replaces by constants of one character, or NULL"
    return None


def _language(call: Call) -> str | None:
    """Java seeks the words of some languages in a dictionary, back and forth."""
    for place in range(1, len(call.args)):
        code = call.constant(place)
        if not isinstance(code, str) or not _CODE.fullmatch(code) or code.lower() in _BY_DICTIONARY:
            return "sentences takes language and country as constants such as 'en', 'US'"
    return None


def _same_kind_of_text(call: Call) -> str | None:
    kinds = set(call.kinds[:2]) - {pa.null()}
    if pa.binary() in kinds and kinds != {pa.binary()}:
        return f"{call.name} of binary and other values: CAST them to one type"
    return None


def _overlaid(call: Call) -> pa.DataType | None:
    return pa.string() if call.kinds[:2] == [pa.string()] * 2 else None


def _table() -> dict[str, Function]:
    to_string = Function(1, 1, "s", STRING)
    to_length = Function(1, 1, "s", INT)
    trims = Function(1, 2, "s", STRING, searched)
    part = Function(2, 3, "sii", part_of_string)
    test = Function(2, 2, "s", BOOLEAN)
    padding = constant_integer(1, "length", 0, 1_000)
    lengths = "length len char_length character_length octet_length bit_length ascii"
    return {
        **dict.fromkeys(("lower", "lcase", "upper", "ucase", "initcap"), to_string),
        **dict.fromkeys(lengths.split(), to_length),
        **dict.fromkeys(("trim", "btrim", "ltrim", "rtrim"), trims),
        **dict.fromkeys(("substring", "substr"), part),
        **dict.fromkeys(("startswith", "endswith"), test),
        "contains": Function(2, 2, "s", BOOLEAN, searched),
        **dict.fromkeys(("left", "right"), Function(2, 2, "si", part_of_string)),
        **dict.fromkeys(("lpad", "rpad"), Function(2, 3, "sis", part_of_string, padding)),
        "instr": Function(2, 2, "s", INT, searched),
        **dict.fromkeys(("locate", "position"), Function(2, 3, "ssi", INT, searched)),
        "sentences": Function(1, 3, "S", always(pa.list_(pa.list_(pa.string()))), _language, times(4)),
        "soundex": Function(1, 1, "S", STRING),
        "reverse": Function(1, 1, "s", part_of_string),
        "concat": Function(0, MANY, "s", string_or_binary, growth=joined),
        "concat_ws": Function(1, MANY, "s", STRING, growth=joined),
        "replace": Function(2, 3, "s", STRING, _replacement, _replaced),
        "translate": Function(3, 3, "s", STRING),
        "substring_index": Function(3, 3, "ssi", STRING, searched),
        "split_part": Function(3, 3, "ssi", STRING, _part_number),
        "find_in_set": Function(2, 2, "s", INT, searched),
        "levenshtein": Function(2, 3, "ssI", INT, _distant),
        "luhn_check": Function(1, 1, "s", BOOLEAN),
        "mask": Function(1, 5, "S", STRING, _masks, times(4)),
        "overlay": Function(3, 4, "BBii", _overlaid, _same_kind_of_text, joined),
        "repeat": Function(2, 2, "sI", STRING, constant_integer(1, "count", 0, _MAX_REPEATED), _repeated),
        "space": Function(1, 1, "I", STRING, constant_integer(0, "length", 0, _MAX_SPACES)),
        **dict.fromkeys(("char", "chr"), Function(1, 1, "i", STRING)),
        "is_valid_utf8": Function(1, 1, "s", BOOLEAN),
        "make_valid_utf8": Function(1, 1, "s", STRING, growth=times(3)),
        "try_validate_utf8": Function(1, 1, "s", STRING),
        "validate_utf8": Function(1, 1, "s", STRING, spelling=renamed("try_validate_utf8"), fails=True),
        **dict.fromkeys(("format_string", "printf"), Function(1, MANY, "Sx", STRING, format_trouble, formatted)),
        "url_encode": Function(1, 1, "s", STRING, growth=times(3)),
        "hash": Function(1, MANY, "q", INT),
        "xxhash64": Function(1, MANY, "q", BIGINT),
    }


STRINGS = _table()
