"""The list of Spark's built-in functions: each is allowed, is part of the predicates' grammar, or is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from asc.predicate.catalogue.null_arguments import OF_NULL
from asc.predicate.catalogue.refusals import LANGUAGE, REFUSALS
from asc.predicate.functions import FAMILIES, Function

_WORDS = MappingProxyType(
    {
        "x": "value",
        "q": "value",
        "n": "number",
        "N": "number",
        "i": "integer",
        "I": "integer",
        "s": "string",
        "S": "string",
        "W": "string or array",
        "B": "string or binary",
        "f": "integer or string",
        "k": "integer or condition",
        "u": "number or condition",
        "Y": "binary",
        "t": "date or timestamp",
        "z": "date or timestamp",
        "r": "string, date or timestamp",
        "e": "integer, date or timestamp",
        "w": "integer or interval",
        "T": "timestamp",
        "D": "date",
        "b": "condition",
        "a": "array or map",
        "y": "array",
        "m": "map",
        "V": "variant",
    }
)
_SHOWN = 8
_SAMPLES = MappingProxyType(
    {
        **dict.fromkeys("xqnNiIfkuew", "n"),
        **dict.fromkeys("sSBW", "s"),
        "Y": "raw",
        **dict.fromkeys("tTzr", "ts"),
        "D": "day",
        "b": "flag",
        "a": "tags",
        "y": "tags",
        "m": "labels",
        "V": "parse_json(s)",
    }
)
_EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        call.partition("(")[0]: call
        for call in """
add_months(day, 1)
aes_encrypt(s, '0123456789abcdef', 'ECB')
array('a', s)
array_append(tags, 'x')
array_contains(tags, 'x')
array_except(tags, array('a', s))
array_insert(tags, 1, 'x')
array_intersect(tags, array('a', 'b'))
array_join(tags, ',')
array_position(tags, 'x')
array_prepend(tags, 'x')
array_remove(tags, 'x')
array_repeat(s, 3)
array_union(tags, array('a', s))
bit_get(n, 0)
concat(s, '-', t)
contains(s, 'x')
conv(s, 16, 10)
convert_timezone('Europe/Berlin', 'Asia/Tokyo', ntz)
date_add(day, 7)
date_format(ts, 'yyyy-MM')
date_sub(day, 7)
date_trunc('HOUR', ts)
dateadd(day, 7)
decode(raw, 'UTF-8')
element_at(tags, 1)
elt(n, 'a', 'b')
encode(s, 'UTF-8')
endswith(s, 'x')
find_in_set(s, 'a,b,c')
flatten(array(tags))
format_number(d, 2)
format_string('%s-%05d', s, n)
from_csv(s, 'a INT, b STRING')
from_json(s, 'a INT, b STRING')
from_unixtime(n, 'yyyy-MM-dd')
from_utc_timestamp(ts, 'Europe/Berlin')
from_xml('<r><a>1</a></r>', 'a INT')
get(tags, 0)
get_json_object(s, '$.a.b')
getbit(n, 0)
if(n > 0, n, 0)
instr(s, 'x')
left(s, 3)
levenshtein(s, 'word')
locate('x', s)
lpad(s, 5, '0')
make_timestamp(2024, n, 1, 12, 30, 0)
make_timestamp_ltz(2024, n, 1, 12, 30, 0)
make_timestamp_ntz(2024, n, 1, 12, 30, 0)
make_date(2024, n, 1)
make_dt_interval(1, n)
make_interval(1, n)
make_ym_interval(1, n)
map('a', 1, 'b', 2)
map_concat(labels, map('a', 1))
map_from_arrays(tags, array(1, 2))
map_from_entries(array(struct(s, n)))
map_contains_key(labels, 'x')
mod(n, 7)
months_between(ts, ntz)
named_struct('a', n)
next_day(day, 'MON')
overlay(s, 'x', 1)
parse_url(s, 'HOST')
pmod(n, 7)
position('x', s)
printf('%s-%05d', s, n)
regexp(s, '^a[bc]')
regexp_count(s, 'a[bc]')
regexp_extract(s, '([0-9]{1,5})', 1)
regexp_extract_all(s, '([0-9]{1,5})', 1)
regexp_instr(s, 'a[bc]')
regexp_like(s, '^a[bc]')
regexp_replace(s, '[^0-9]', '')
regexp_substr(s, 'a[bc]')
repeat(s, 3)
replace(s, '-', '')
reverse(s)
right(s, 3)
rlike(s, '^a[bc]')
round(d, 2)
bround(d, 2)
rpad(s, 5, ' ')
schema_of_csv('1,a')
schema_of_json('{"a": 1}')
schema_of_variant(parse_json('{"a": 1}'))
schema_of_xml('<r><a>1</a></r>')
sequence(1, n)
sha2(s, 256)
shiftleft(n, 1)
shiftright(n, 1)
shiftrightunsigned(n, 1)
slice(tags, 1, 2)
space(3)
split(s, ',')
split_part(s, ',', 1)
startswith(s, 'x')
str_to_map(s, ',', ':')
substr(s, 1, 3)
substring(s, 1, 3)
substring_index(s, '.', 1)
to_binary(s, 'hex')
to_char(d, '999.99')
to_csv(named_struct('a', n, 'b', s))
to_date(s, 'dd.MM.yyyy')
to_json(tags)
to_number(s, '999.99')
to_timestamp(s, 'dd.MM.yyyy HH:mm')
to_timestamp_ltz(s, 'dd.MM.yyyy HH:mm')
to_timestamp_ntz(s, 'dd.MM.yyyy HH:mm')
to_try_variant_get(parse_json(s), '$.a', 'int')
unix_timestamp(s, 'dd.MM.yyyy HH:mm')
variant_get(parse_json(s), '$.a', 'int')
to_utc_timestamp(ts, 'Europe/Berlin')
to_varchar(ts, 'yyyy-MM')
to_variant_object(tags)
to_xml(named_struct('a', n, 'b', s))
translate(s, 'abc', 'xyz')
trim(s)
trunc(day, 'MONTH')
try_element_at(tags, 1)
try_make_interval(1, n)
try_make_timestamp(2024, n, 1, 12, 30, 0)
try_make_timestamp_ltz(2024, n, 1, 12, 30, 0)
try_make_timestamp_ntz(2024, n, 1, 12, 30, 0)
try_parse_url(s, 'HOST')
try_to_binary(s, 'hex')
try_to_number(s, '999.99')
try_to_timestamp(s, 'dd.MM.yyyy HH:mm')
try_variant_get(parse_json(s), '$.a', 'int')
unix_timestamp(s, 'dd.MM.yyyy HH:mm')
variant_get(parse_json(s), '$.a', 'int')
width_bucket(n, 0, 100, 10)
xpath('<a><b>1</b></a>', 'a/b/text()')
xpath_boolean('<a><b>1</b></a>', 'a/b')
xpath_double('<a><b>1</b></a>', 'sum(a/b)')
xpath_float('<a><b>1</b></a>', 'sum(a/b)')
xpath_int('<a><b>1</b></a>', 'sum(a/b)')
xpath_long('<a><b>1</b></a>', 'sum(a/b)')
xpath_number('<a><b>1</b></a>', 'sum(a/b)')
xpath_short('<a><b>1</b></a>', 'sum(a/b)')
xpath_string('<a><b>1</b></a>', 'a/b')
""".strip().splitlines()
    }
)


@dataclass(frozen=True, slots=True)
class Builtin:
    """An entry of the list of functions: a function of Spark, or a function of shapes and positions.

    ``arguments`` describes the arguments. ``verdict`` is the group of an allowed function, or the reason for a refusal.
    ``of_null`` describes the result if an argument is NULL; it is empty if the function has no arguments. ``example``
    is a call over the columns n, d, s, t, day, ts, ntz, flag, raw, tags and labels. These three texts are empty if the
    function is part of the grammar or refused.
    """

    name: str
    allowed: bool
    arguments: str
    verdict: str
    example: str = ""
    of_null: str = ""


def builtins() -> Sequence[Builtin]:
    """Return every built-in function of Spark, sorted by name."""
    allowed = [
        Builtin(name, True, _arguments(function), family, _example(name, function), _of_null(name, function))
        for family, functions in FAMILIES.items()
        for name, function in functions.items()
    ]
    language = [Builtin(name, True, "", "part of the SQL grammar") for name in LANGUAGE]
    refused = [Builtin(name, False, "", f"{why.problem}: {why.remedy}") for name, why in REFUSALS.items()]
    return sorted([*allowed, *language, *refused], key=lambda builtin: builtin.name)


def markdown() -> str:
    """Return the list of built-in functions as the Markdown table of docs/reference/functions.md."""
    lines = [
        "| function | arguments | result if an argument is NULL | group, or reason for the refusal |",
        "|---|---|---|---|",
    ]
    for builtin in builtins():
        name = builtin.name.replace("|", "\\|")
        verdict = builtin.verdict if builtin.allowed else f"refused, {builtin.verdict}"
        lines.append(f"| `{name}` | {builtin.arguments} | {builtin.of_null} | {verdict} |")
    return "\n".join(lines)


def _arguments(function: Function) -> str:
    """Return a description of the function's arguments, with optional arguments in brackets.

    >>> from asc.predicate.functions import FUNCTIONS
    >>> _arguments(FUNCTIONS["substring"]), _arguments(FUNCTIONS["concat"]), _arguments(FUNCTIONS["pi"])
    ('string, integer[, integer]', '[value, ...]', '')
    """
    words = [_WORDS[function.sort(i)] for i in range(min(function.most, max(function.least, _SHOWN)))]
    if function.most > _SHOWN:
        words = [*words[: max(function.least, 1)], "..."]
        return ", ".join(words) if function.least else f"[{', '.join(words)}]"
    needed, more = words[: function.least], words[function.least :]
    optional = "".join(f"[, {word}" if needed or i else f"[{word}" for i, word in enumerate(more)) + "]" * len(more)
    return ", ".join(needed) + optional


def _of_null(name: str, function: Function) -> str:
    return OF_NULL.get(name, "NULL" if function.most else "")


def _example(name: str, function: Function) -> str:
    args = (_SAMPLES[function.sort(i)] for i in range(function.least))
    return _EXAMPLES.get(name) or f"{name}({', '.join(args)})"
