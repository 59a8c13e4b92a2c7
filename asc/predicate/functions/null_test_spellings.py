"""The spellings (SQL texts) of calls within null tests, from which Spark can infer whether a call can be NULL.

The usual spelling of a function gives NULL when Spark's own call throws. So Spark cannot infer from the usual spelling
that a call is never NULL. In a null test the call is therefore written as Spark's own call, or as an expression that is
NULL for the same arguments and takes little work. The expression may throw, because a null test catches that.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.functions.function import Call, Function, Spelling, plain
from asc.predicate.functions.try_spellings import with_short_number

_PLAIN_LIST = """
add_months aes_decrypt aes_encrypt coalesce convert_timezone date_format date_trunc decode encode equal_null
from_utc_timestamp greatest hour if ifnull least make_date make_ym_interval minute months_between nullif nvl nvl2
parse_json schema_of_csv schema_of_json schema_of_xml second slice timestamp_micros timestamp_millis timestamp_seconds
to_binary to_csv to_date to_json to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_utc_timestamp
to_xml trunc try_to_timestamp unbase64 unix_timestamp url_decode validate_utf8 xpath xpath_boolean xpath_double
xpath_float xpath_int xpath_long xpath_number xpath_short xpath_string
"""
"""The functions of which a null test contains the call as the user wrote it, because the call takes Spark little work
for every record.
"""


def _with(call: Call, *made: tuple[int, str]) -> str:
    """Return SQL for the call, in which templates replace the given arguments.

    ``made`` has pairs of an argument's index and a template. The argument is at ``{0}`` in the template. A constant
    argument is not replaced.
    """
    texts = [arg.sql for arg in call.args]
    for place, text in made:
        if place < len(texts) and call.args[place].literal is None:
            texts[place] = text.format(texts[place])
    return f"{call.name}({', '.join(texts)})"


_CHARACTER, _SMALL, _ODD = "left({0}, 1)", "CAST({0} AS INT) & 1", "CAST({0} AS INT) & 1 | 1"
"""Templates of SQL that replace an argument by a short or small value, which is NULL exactly if the argument is NULL.
"""


def _arguments(*made: tuple[int, str]) -> Spelling:
    return lambda call: _with(call, *made)


def _sought(place: int) -> Spelling:
    return _arguments((place, _CHARACTER))


def _short_number(place: int) -> Spelling:
    return lambda call: with_short_number(call, place)


def _format_number(call: Call) -> str:
    return plain(call) if call.type(1) == pa.string() else _with(call, (1, _SMALL))


def _shown(call: Call) -> str:
    """Return SQL for ``to_char`` in a null test. If the argument is a text, at most 100 characters are parsed."""
    value, text = call.args[0], call.args[1].sql
    if types.is_instant(value.type):
        return f"date_format({value.sql}, {text})"
    if value.type == pa.string():
        return f"{call.name}(CAST(left({value.sql}, 100) AS DECIMAL(38,18)), {text})"
    return plain(call)


def _read_number(call: Call) -> str:
    return f"{call.name}(left({call.args[0].sql}, 1000), {call.args[1].sql})"


def _ends(call: Call) -> str:
    """Return SQL for ``sequence`` in a null test: a sequence of one entry, whose ends have the original types.

    For instants return SQL for the number of days between the two ends, because the step is a constant.
    """
    same = "{0} & 0Y"
    if types.is_instant(call.type(0)) and types.is_instant(call.type(1)) and not call.is_null(2):
        return f"datediff({call.args[0].sql}, {call.args[1].sql})"
    if call.type(0) not in types.INTEGERS or all(arg.literal is not None for arg in call.args):
        return plain(call)
    texts = [same.format(arg.argument) for arg in call.args[:2]]
    texts += [f"{same.format(arg.argument)} | 1Y" for arg in call.args[2:]]
    return f"sequence({', '.join(texts)})"


def _table() -> dict[str, Spelling]:
    timestamps = ("make_timestamp", "make_timestamp_ltz", "make_timestamp_ntz")
    return {
        **dict.fromkeys(_PLAIN_LIST.split(), plain),
        **dict.fromkeys((*timestamps, *(f"try_{name}" for name in timestamps)), _short_number(5)),
        "make_dt_interval": _short_number(3),
        "make_interval": _short_number(6),
        "try_make_interval": _short_number(6),
        "to_char": _shown,
        "to_varchar": _shown,
        "to_number": _read_number,
        **dict.fromkeys(
            ("trim", "ltrim", "rtrim"), lambda call: _with(call, *[(0, _CHARACTER)] * (len(call.args) == 2))
        ),
        **dict.fromkeys(("locate", "position", "find_in_set"), _sought(0)),
        **dict.fromkeys(("btrim", "contains", "instr", "substring_index", "levenshtein"), _sought(1)),
        "replace": _arguments((1, _CHARACTER), (2, _CHARACTER)),
        "split_part": _arguments((1, _CHARACTER), (2, _ODD)),
        **dict.fromkeys(("lpad", "rpad", "repeat"), _arguments((1, _SMALL))),
        "space": _arguments((0, _SMALL)),
        "format_number": _format_number,
        **dict.fromkeys(("bit_get", "getbit"), _arguments((1, _SMALL))),
        "array_join": _arguments((1, _CHARACTER), (2, _CHARACTER)),
        "array_repeat": _arguments((1, _SMALL)),
        # The result is NULL exactly if the separator is.
        "concat_ws": lambda call: f"concat_ws({call.args[0].sql})",
        "sequence": _ends,
        "str_to_map": lambda call: f"str_to_map(left({call.args[0].sql}, 0))",
    }


UNCAUGHT: Mapping[str, Spelling] = MappingProxyType(_table())
"""The functions that write the SQL of a call in null tests, by name of the called function. For every other function a
null test has the usual SQL.
"""


_EXTRACTED: Mapping[str, str] = MappingProxyType(
    {"regexp_extract": "left({0}, 1)", "regexp_extract_all": "split({0}, 'x', 1)"}
)
"""By function: an expression that is NULL exactly if the call is NULL. It replaces a call that throws at a match."""


def uncaught(function: Function, call: Call) -> str:
    """Return the SQL text of a call within a null test, from which Spark can infer whether the call can be NULL."""
    if call.name in _EXTRACTED and function.can_fail(call):
        return _EXTRACTED[call.name].format(call.args[0].sql)
    spelling = UNCAUGHT.get(call.name)
    return function.sql(call) if spelling is None else spelling(call)
