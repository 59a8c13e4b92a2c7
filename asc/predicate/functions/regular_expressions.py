"""The functions of regular expressions.

The regular expression must be constant, and a search takes time linear in the string's length.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from asc.keys.byte_strings import quoted
from asc.predicate.functions.checks import constant_integer, every
from asc.predicate.functions.function import Call, Check, Function, Growth, Result, Spelling, not_constant, plain
from asc.predicate.functions.growth import longest, times
from asc.predicate.functions.results import BOOLEAN, INT, STRING, STRINGS
from asc.predicate.regex.pattern_search import Search, Use, search

_GROUP = re.compile(r"\\.|\[(?:\\.|[^\\\]])*\]|(\()(?!\?)", re.DOTALL)
_REFERENCE = re.compile(r"\$(\d?)|\\.?", re.DOTALL)


def _sought(call: Call, use: Use) -> Search | None:
    """Return the search for the regular expression of a call; None if the result is NULL.

    Raise ValueError if the regular expression is refused.
    """
    if _is_null(call):
        return None
    pattern = call.text(1)
    if pattern is None:
        raise ValueError(not_constant(f"the regular expression given to {call.name}"))
    if use is Use.ALL and call.name == "regexp_replace" and call.constant(3) not in (None, 1):
        use = Use.ALL_FROM
    group = _group(call) if call.name == "regexp_extract" else 0
    return search(pattern, use, group if group > 0 else 0)


def _is_null(call: Call) -> bool:
    """Return whether the result is NULL because the regular expression, or an argument after it, is NULL."""
    return any(call.is_null(i) for i in range(1, len(call.args)))


def _groups(call: Call) -> int:
    """Return the number of groups of the regular expression. The caller ensures that the expression is an allowed
    one.
    """
    return sum(match.group(1) is not None for match in _GROUP.finditer(str(call.text(1))))


def _group(call: Call) -> int:
    """Return the number of the capturing group that the call requests.

    Return 1 if the call has no argument for the group. Return 0 if the argument is no constant integer.
    """
    number = call.constant(2) if len(call.args) > 2 else 1
    return number if isinstance(number, int) else 0


def _is_there(call: Call) -> bool:
    """Return whether the regular expression has the group that the call requests, or the result is NULL anyway.

    If it lacks the group, Spark throws when it finds a match.
    """
    return _is_null(call) or 0 <= _group(call) <= _groups(call)


def _lacks_group(call: Call) -> bool:
    return not _is_there(call)


def _group_is_constant(call: Call) -> str | None:
    """Return the reason for refusing a call whose argument for the group is neither a constant integer nor NULL; else
    None.

    If the text to search is constant, also refuse a group that the regular expression lacks, since Spark may not check
    that itself.
    """
    if len(call.args) > 2 and not call.is_null(2) and not isinstance(call.constant(2), int):
        return f"the group given to {call.name} must be a constant integer"
    if call.name != "regexp_instr" and call.args[0].literal is not None and not _is_there(call):
        return f"{call.name} takes group {_group(call)}: the regular expression has {_groups(call)}"
    return None


def _replacement(call: Call) -> str | None:
    """Return the reason for refusing a replacement unless it contains only literal text and references to existing
    groups.

    Spark throws for anything else. Return None if the replacement is allowed.
    """
    text = call.text(2)
    if _is_null(call):
        return None
    if text is None:
        return "the replacement given to regexp_replace must be a constant string"
    for match in _REFERENCE.finditer(text):
        if match.group(1) is None or not match.group(1) or int(match.group(1)) > _groups(call):
            return "the replacement may have the groups $0..$9 that the regular expression has, and no other $ or \\"
    return None


def _replaced(call: Call) -> float:
    """Return the factor by which a text after replacement may be longer than the record.

    A regular expression that matches the empty text may insert a replacement next to every character.
    """
    text = call.text(2)
    if text is None:
        return longest(call)
    references = sum(1 for _ in _REFERENCE.finditer(text))
    return longest(call) * (1.0 + references + len(_REFERENCE.sub("", text).encode()))


def _with_pattern(call: Call, sought: Search | None, *more: str) -> str:
    """Return SQL for the call with the regular expression of the search ``sought`` in place of the user's. If
    ``sought`` is None, return the SQL of the call itself.

    ``more``: SQL for the following arguments, if they differ from those of the call.
    """
    if sought is None:
        return plain(call)
    rest = more or tuple(arg.sql for arg in call.args[2:])
    return f"{call.name}({', '.join((call.args[0].sql, quoted(sought.pattern), *rest))})"


def _substring(call: Call) -> str:
    """Return SQL for ``regexp_substr`` as the extraction of a group if the search returns a group.

    Spark's own function is such an extraction, too, in which an empty text means no match. The number of the group may
    differ from Spark's.
    """
    sought = _sought(call, Use.GROUP)
    if sought is None or not sought.group:
        return _with_pattern(call, sought)
    return f"nullif(regexp_extract({call.args[0].sql}, {quoted(sought.pattern)}, {sought.group}), '')"


def _extracted(call: Call) -> str:
    if not _is_there(call):
        return _where_there_is_none(call, "''")
    sought = _sought(call, Use.GROUP)
    return plain(call) if sought is None else _with_pattern(call, sought, str(sought.group))


def _all_extracted(call: Call) -> str:
    if not _is_there(call):
        return _where_there_is_none(call, "CAST(array() AS ARRAY<STRING>)")
    return _with_pattern(call, _sought(call, Use.ALL))


def _where_there_is_none(call: Call, nothing: str) -> str:
    """Return SQL for the extraction of a group that the regular expression lacks: ``nothing`` if there is no match,
    else NULL.

    Spark throws if there is a match.
    """
    sought = _sought(call, Use.TEST)
    assert sought is not None
    return f"CASE WHEN NOT ({call.args[0].argument} RLIKE {quoted(sought.pattern)}) THEN {nothing} END"


def _function(
    most: int,
    sorts: str,
    result: Result,
    use: Use,
    *checks: Check,
    least: int = 2,
    growth: Growth | None = None,
    spelling: Spelling | None = None,
    fails: bool | Callable[[Call], bool] = False,
) -> Function:
    """Return the description of a function whose second argument is a regular expression. ``use``: the result of its
    search.
    """

    def trouble(call: Call) -> str | None:
        try:
            _sought(call, use)
        except ValueError as error:
            return str(error)
        return None

    def spelled(call: Call) -> str:
        return _with_pattern(call, _sought(call, use))

    def steps(call: Call) -> int:
        sought = _sought(call, use)
        return sought.steps if sought else 0

    return Function(least, most, sorts, result, every(trouble, *checks), growth, spelling or spelled, fails, steps)


def _table() -> dict[str, Function]:
    position = constant_integer(3, "position", 1, 1_000_000)
    limit = constant_integer(2, "limit", -(1 << 31), (1 << 31) - 1)
    constant = _group_is_constant
    return {
        **dict.fromkeys(("rlike", "regexp", "regexp_like"), _function(2, "s", BOOLEAN, Use.TEST)),
        "regexp_count": _function(2, "s", INT, Use.ALL),
        "regexp_instr": _function(3, "ssI", INT, Use.PLACE, constant),
        "regexp_substr": _function(2, "s", STRING, Use.GROUP, spelling=_substring),
        "regexp_extract": _function(3, "ssI", STRING, Use.GROUP, constant, spelling=_extracted, fails=_lacks_group),
        "regexp_extract_all": _function(
            3, "ssI", STRINGS, Use.ALL, constant, growth=times(4), spelling=_all_extracted, fails=_lacks_group
        ),
        "regexp_replace": _function(4, "sssI", STRING, Use.ALL, _replacement, position, least=3, growth=_replaced),
        "split": _function(3, "ssI", STRINGS, Use.ALL, limit, growth=times(4)),
    }


REGULAR_EXPRESSIONS = _table()
