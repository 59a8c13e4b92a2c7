"""Functions that read JSON and URLs."""

from __future__ import annotations

import re

from asc.predicate.functions.caught import as_text
from asc.predicate.functions.checks import constant_string
from asc.predicate.functions.function import Call, Function
from asc.predicate.functions.growth import times
from asc.predicate.functions.results import INT, STRING, STRINGS

_PARTS = ("HOST", "PATH", "QUERY", "REF", "PROTOCOL", "FILE", "AUTHORITY", "USERINFO")
_KEY = re.compile(r"[\w%-]{1,100}\Z", re.ASCII)


def _url_part(call: Call) -> str | None:
    if call.constant(1) not in _PARTS:
        return f"{call.name} takes one of the parts {', '.join(_PARTS)}"
    # Spark makes a regular expression of it.
    if len(call.args) > 2 and not (isinstance(key := call.constant(2), str) and _KEY.match(key)):
        return f"the key given to {call.name} must be a constant of letters, digits, _, - and %"
    return None


def _table() -> dict[str, Function]:
    path = constant_string(1, "path")
    return {
        "get_json_object": Function(2, 2, "s", STRING, path, times(2)),
        "json_array_length": Function(1, 1, "s", INT),
        "json_object_keys": Function(1, 1, "s", STRINGS, growth=times(4)),
        **dict.fromkeys(("parse_url", "try_parse_url"), Function(2, 3, "s", STRING, _url_part)),
        "url_decode": Function(1, 1, "s", STRING, spelling=as_text, fails=True),
        "try_url_decode": Function(1, 1, "s", STRING),
    }


DOCUMENTS = _table()
