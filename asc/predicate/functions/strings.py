"""Functions of strings."""

from __future__ import annotations

import re

import pyarrow as pa

from asc.predicate.functions.bounded import (
    MAX_LENGTH_CHARS,
    MOST_INT,
    bounded,
    integer_but_zero,
    integer_up_to,
    is_short_constant,
    sought_up_to,
    text_beside,
    text_up_to,
)
from asc.predicate.functions.checks import every, integer_or_bounded, sought
from asc.predicate.functions.concatenation import CONCATENATION
from asc.predicate.functions.format_string import format_trouble, formatted
from asc.predicate.functions.function import MANY, Call, Function, plain
from asc.predicate.functions.growth import joined, longest, times
from asc.predicate.functions.joining import CONCAT_WS
from asc.predicate.functions.results import BIGINT, BOOLEAN, INT, STRING, always, part_of_string, string_or_binary
from asc.predicate.functions.try_spellings import renamed

_MAX_REPEATED = 100
_MAX_REPLACEMENT_CHARS = 25
_MAX_DISTANT = 64
_CODE = re.compile(r"[A-Za-z]{0,3}")
_BY_DICTIONARY = ("th", "tha", "lo", "lao", "km", "khm", "my", "mya")


def _replaced(call: Call) -> float:
    """Return the factor by which the result of ``replace`` may be longer than the record.

    Each occurrence of the search text, which has at least one byte, becomes the replacement.
    """
    search, new = call.constant(1), call.constant(2)
    least = max(1, len(search.encode())) if isinstance(search, str) else 1
    if len(call.args) == 2 or call.is_null(2):
        most = 0
    elif call.args[2].literal is not None:
        most = len(str(new).encode())
    else:
        most = 4 * _MAX_REPLACEMENT_CHARS
    return max(arg.growth for arg in call.args[:1]) * max(1.0, most / least)


def _most_repeated(call: Call) -> int:
    """Return the maximum number of repetitions that a call of ``repeat`` may request.

    The maximum is greater for a short constant than for a text from the record, which may be long.
    """
    text = call.constant(0)
    return max(_MAX_REPEATED, MAX_LENGTH_CHARS // max(1, len(text))) if isinstance(text, str) else _MAX_REPEATED


def _repeat_count(call: Call) -> str | None:
    return integer_or_bounded(1, "count", -MAX_LENGTH_CHARS, _most_repeated(call))(call)


def _repeated(call: Call) -> float:
    if call.args[0].literal is not None:
        return 1.0
    count = call.integer(1) if call.args[1].literal is not None else _MAX_REPEATED
    return longest(call) * max(1, count or 0)


def _distant(call: Call) -> str | None:
    """Return the reason for refusing a call of ``levenshtein`` with a constant if neither text is a short constant;
    else None.

    The work is proportional to the product of the two lengths.
    """
    constants = [arg for arg in call.args[:2] if arg.literal is not None]
    if constants and not any(is_short_constant(call, place, _MAX_DISTANT) for place in (0, 1)):
        return f"a constant given to levenshtein has at most {_MAX_DISTANT} characters"
    return None


def _distance(call: Call) -> str:
    return plain(call) if any(arg.literal is not None for arg in call.args[:2]) else bounded(1, text_beside(1, 0))(call)


def _masks(call: Call) -> str | None:
    for place in range(1, len(call.args)):
        character = call.constant(place)
        if not call.is_null(place) and not (isinstance(character, str) and len(character) == 1):
            return "mask replaces by constants of one character, or NULL"
    return None


def _language(call: Call) -> str | None:
    """Return the reason for refusing a call unless language and country are constants and the language needs no
    dictionary; None if so.

    To break a language such as Thai into words, Java searches a dictionary with backtracking.
    """
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
    return string_or_binary(Call(call.name, call.args[:2]))


def _set_of_characters(call: Call) -> str | None:
    """Return the reason for refusing the set of characters of a trim function, the first of two arguments. Return None
    if it is allowed or missing.
    """
    return sought(0, 1)(call) if len(call.args) == 2 else None


def _trimmed(call: Call) -> str:
    return bounded(0, sought_up_to(0, 1))(call) if len(call.args) == 2 else plain(call)


def _table() -> dict[str, Function]:
    to_string = Function(1, 1, "s", STRING)
    to_length = Function(1, 1, "s", INT)
    part = Function(2, 3, "sii", part_of_string)
    test = Function(2, 2, "s", BOOLEAN)
    padding = integer_or_bounded(1, "length", -MAX_LENGTH_CHARS, MAX_LENGTH_CHARS)
    padded = bounded(1, integer_up_to(1))
    counted = integer_or_bounded(2, "part number", -MOST_INT, MOST_INT, but=0)
    # The search text, or the characters to trim, is the first or the second argument.
    first_in_second, second_in_first = sought(0, 1), sought(1, 0)
    first, second = bounded(0, sought_up_to(0, 1)), bounded(1, sought_up_to(1, 0))
    lengths = "length len char_length character_length octet_length bit_length ascii"
    return {
        **dict.fromkeys(("lower", "lcase", "upper", "ucase", "initcap"), to_string),
        **dict.fromkeys(lengths.split(), to_length),
        **dict.fromkeys(
            ("trim", "ltrim", "rtrim"), Function(1, 2, "s", STRING, _set_of_characters, None, _trimmed, True)
        ),
        "btrim": Function(1, 2, "s", STRING, second_in_first, spelling=second, fails=True),
        **dict.fromkeys(("substring", "substr"), part),
        **dict.fromkeys(("startswith", "endswith"), test),
        "contains": Function(2, 2, "s", BOOLEAN, second_in_first, spelling=second, fails=True),
        **dict.fromkeys(("left", "right"), Function(2, 2, "si", part_of_string)),
        **dict.fromkeys(("lpad", "rpad"), Function(2, 3, "sis", part_of_string, padding, None, padded, True)),
        "instr": Function(2, 2, "s", INT, second_in_first, spelling=second, fails=True),
        **dict.fromkeys(("locate", "position"), Function(2, 3, "ssi", INT, first_in_second, None, first, True)),
        "sentences": Function(1, 3, "S", always(pa.list_(pa.list_(pa.string()))), _language, times(4)),
        "soundex": Function(1, 1, "S", STRING),
        **CONCATENATION,
        "concat_ws": CONCAT_WS,
        "replace": Function(
            2,
            3,
            "s",
            STRING,
            sought(1, 0),
            _replaced,
            bounded(1, sought_up_to(1, 0), (2, text_up_to(2, _MAX_REPLACEMENT_CHARS))),
            fails=True,
        ),
        "translate": Function(3, 3, "s", STRING),
        "substring_index": Function(3, 3, "ssi", STRING, second_in_first, spelling=second, fails=True),
        "split_part": Function(
            3,
            3,
            "ssi",
            STRING,
            every(counted, second_in_first),
            spelling=bounded(1, sought_up_to(1, 0), (2, integer_but_zero(2))),
            fails=True,
        ),
        "find_in_set": Function(2, 2, "s", INT, first_in_second, spelling=first, fails=True),
        "levenshtein": Function(2, 3, "ssi", INT, _distant, spelling=_distance, fails=True),
        "luhn_check": Function(1, 1, "s", BOOLEAN),
        "mask": Function(1, 5, "S", STRING, _masks, times(4)),
        "overlay": Function(3, 4, "ssii", _overlaid, _same_kind_of_text, joined),
        "repeat": Function(
            2, 2, "si", STRING, _repeat_count, _repeated, bounded(1, integer_up_to(1, _most_repeated)), fails=True
        ),
        "space": Function(
            1,
            1,
            "i",
            STRING,
            integer_or_bounded(0, "length", -MAX_LENGTH_CHARS, MAX_LENGTH_CHARS),
            spelling=bounded(0, integer_up_to(0)),
            fails=True,
        ),
        **dict.fromkeys(("char", "chr"), Function(1, 1, "i", STRING)),
        "collation": Function(1, 1, "S", STRING),
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
