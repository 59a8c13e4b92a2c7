"""The functions that parse constant XML, and the functions that write XML.

Text from a record is not parsed as XML. The paths of deep documents overflow Java's stack, and a document type
declaration can be made to expand without bound.
"""

from __future__ import annotations

import re
from xml.parsers.expat import ExpatError, ParserCreate

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.functions.checks import constant_string, every
from asc.predicate.functions.document_schema import HELD, record_type
from asc.predicate.functions.function import Call, Function, Spelling, plain
from asc.predicate.functions.growth import times
from asc.predicate.functions.options import XML_READ, XML_WRITTEN, options
from asc.predicate.functions.results import BIGINT, BOOLEAN, DOUBLE, INT, STRING, STRINGS, always
from asc.predicate.functions.try_spellings import as_text, caught_text
from asc.spark_types import VARIANT, ddl_of_type

_MAX_XML_CHARS = 2_000
_MAX_PATH_CHARS = 200
_PATH = re.compile(r"""(?:[\w\s/@*.()\[\]=<>!+|,-]|'[^']*'|"[^"]*")+""", re.ASCII)
_CALLED = re.compile(r""""[^"]*"|'[^']*'|([A-Za-z_][\w.-]*)\s*\(""", re.ASCII)
_PATH_FUNCTION_LIST = """
boolean ceiling concat contains count false floor lang last local-name name namespace-uri normalize-space not number
position round starts-with string string-length substring substring-after substring-before sum translate true
comment node processing-instruction text
"""
_PATH_FUNCTIONS = frozenset(_PATH_FUNCTION_LIST.split())
"""The functions and node tests of XPath 1.0, which a path may contain.

Java has further functions: system-property reads properties of the process, which may contain a password.
"""

_PATH_OPERATORS = frozenset(("and", "or", "div", "mod"))

_WIDE_STEP = re.compile(r"//|\*|\.\.|\[")
_MAX_WIDE_STEPS = 2


def _constant_xml(call: Call) -> str | None:
    text = call.constant(0)
    if not isinstance(text, str) or len(text) > _MAX_XML_CHARS or "<!" in text:
        return (
            f"the XML given to {call.name} must be a constant of at most {_MAX_XML_CHARS:,} characters, without <! :"
            " reading that of a record is unbounded work, or can end Spark"
        )
    return None


def _well_formed(call: Call) -> str | None:
    """Return the reason for refusing a constant text that is not well-formed XML; else None. Spark throws for such a
    text, and Java logs each attempt.
    """
    text = call.constant(0)
    try:
        if text:
            ParserCreate().Parse(str(text), True)
    except ExpatError as error:
        return f"the XML given to {call.name} is not well-formed: {error}"
    return None


def _path(call: Call) -> str | None:
    path = call.constant(1)
    if not isinstance(path, str) or len(path) > _MAX_PATH_CHARS or not _PATH.fullmatch(path):
        return f"the path given to {call.name} must be a constant XPath without names of spaces and variables"
    for match in _CALLED.finditer(path):
        name = match.group(1)
        # A name before a parenthesis may be an operator, not a function: a and (b), 2 div (3).
        if name is not None and name not in _PATH_FUNCTIONS and name not in _PATH_OPERATORS:
            return f"the path given to {call.name} calls {name}: use what XPath 1.0 itself has, without id"
    if len(_WIDE_STEP.findall(path)) > _MAX_WIDE_STEPS:
        return f"the path given to {call.name} has more than {_MAX_WIDE_STEPS} of // * .. ["
    return None


def _fields(call: Call) -> pa.DataType | None:
    kind = record_type(call)
    return kind if kind is not None and pa.types.is_struct(kind) else None


def _schema(call: Call) -> str | None:
    if _fields(call) is None:
        return f"the schema given to from_xml must be a constant such as 'a INT, b STRING', of {HELD}"
    return None


def _through_text(target: pa.DataType) -> Spelling:
    """Return a spelling (a function that writes the SQL of a call) that casts the result to text and back to the type
    ``target``. For a text, an exception can be turned into NULL.
    """
    return lambda call: f"CAST({caught_text(f'CAST({plain(call)} AS STRING)')} AS {ddl_of_type(target)})"


def _through_json(call: Call) -> str:
    return f"from_json({caught_text(f'to_json({plain(call)})')}, 'ARRAY<STRING>')"


def _writable(call: Call) -> str | None:
    kind = call.type(0)
    if kind is None or not pa.types.is_struct(kind) or not _is_written(kind):
        return f"to_xml of {types.name(kind)}: it takes structs of {HELD}"
    return None


def _is_written(kind: pa.DataType | None) -> bool:
    if kind is None or kind in (VARIANT, pa.null()) or types.is_interval(kind):
        return False
    if pa.types.is_map(kind) and kind.key_type != pa.string():
        return False
    return not types.is_container(kind) or all(_is_written(kind.field(i).type) for i in range(kind.num_fields))


def _table() -> dict[str, Function]:
    find = every(_constant_xml, _well_formed, _path)
    read = every(_constant_xml, _schema, options(2, XML_READ, parses=True))
    write = every(_writable, options(1, XML_WRITTEN, parses=False))
    infer = every(constant_string(0, "XML", _MAX_XML_CHARS), _constant_xml, options(1, XML_READ, parses=True))
    number = Function(2, 2, "S", DOUBLE, find, spelling=_through_text(pa.float64()), fails=True)
    return {
        "xpath": Function(2, 2, "S", STRINGS, find, spelling=_through_json, fails=True),
        "xpath_string": Function(2, 2, "S", STRING, find, spelling=as_text, fails=True),
        "xpath_boolean": Function(2, 2, "S", BOOLEAN, find, spelling=_through_text(pa.bool_()), fails=True),
        "xpath_short": Function(2, 2, "S", always(pa.int16()), find, spelling=_through_text(pa.int16()), fails=True),
        "xpath_int": Function(2, 2, "S", INT, find, spelling=_through_text(pa.int32()), fails=True),
        "xpath_long": Function(2, 2, "S", BIGINT, find, spelling=_through_text(pa.int64()), fails=True),
        "xpath_float": Function(
            2, 2, "S", always(pa.float32()), find, spelling=_through_text(pa.float32()), fails=True
        ),
        **dict.fromkeys(("xpath_double", "xpath_number"), number),
        "from_xml": Function(2, 3, "SSm", _fields, read),
        "schema_of_xml": Function(1, 2, "Sm", STRING, infer, spelling=as_text, fails=True),
        "to_xml": Function(1, 2, "xm", STRING, write, times(20), as_text),
    }


XML_DOCUMENTS = _table()
