"""A predicate reaches nothing but the record: no file, no class of the JVM, no session; in whatever spelling."""

from __future__ import annotations

import pytest

from asc.errors import PredicateError
from asc.predicate import normalise
from asc.predicate.catalogue.refusals import refusal
from asc.predicate.functions import FUNCTIONS
from asc.schema import Schema

SCHEMA = Schema.from_ddl("n INT, s STRING, b BINARY, t TIMESTAMP, xs ARRAY<INT>, labels MAP<STRING, STRING>")

REFUSED = """
java_method('java.lang.System', 'exit', 0) IS NULL
JAVA_METHOD('java.lang.System', 'exit', 0) IS NULL
`java_method`('java.lang.System', 'exit', 0) IS NULL
reflect('java.lang.System', 'getenv', 'HOME') = s
reflect /* */ ('java.lang.System', 'getenv', 'HOME') = s
try_reflect('java.lang.System', 'getenv', 'HOME') = s
spark_catalog.default.reflect('a', 'b') = s
system.builtin.reflect('a', 'b') = s
IDENTIFIER('reflect')('a', 'b') = s
input_file_name() = s
input_file_block_start() = n
_metadata.file_path = s
current_user() = s
current_user = s
user = s
session_user() = s
current_database() = s
current_catalog() = s
current_timezone() = s
version() = s
spark_partition_id() = n
monotonically_increasing_id() = n
uuid() = s
rand() > 0.5
now() > t
current_date > t
raise_error(s) IS NULL
assert_true(n = 1) IS NULL
n = (SELECT 1)
n IN (SELECT 1)
n IN (VALUES (1))
n IN (TABLE x)
EXISTS (SELECT 1)
EXISTS (FROM x)
n = (WITH a AS (SELECT 1) SELECT * FROM a)
n IN (SELECT * FROM range(10))
n IN (SELECT * FROM csv.`/etc/passwd`)
n = 1 LATERAL VIEW explode(xs) e AS x
explode(xs) = 1
/*+ REPARTITION(1000) */ n = 1
n /*+ BROADCAST(x) */ = 1
n = 1; SET spark.sql.ansi.enabled = true
n = :name
n = ?
n = ${spark.app.name}
n = @@version
my_udf(n) = 1
ai_query('model', s) = 'x'
http_request(s) = 'x'
read_files('/etc/passwd') = s
secret('scope', 'key') = s
sleep(10) = 1
sum(n) OVER () = 1
row_number() OVER (ORDER BY n) = 1
count(n) FILTER (WHERE n = 1) = 1
hash(*) = 1
s COLLATE UTF8_LCASE LIKE '%x%'
from_xml(s, 'a INT').a = 1
from_xml('<a><b>1</b></a>', 'b INT', map('rowValidationXSDPath', '/etc/passwd')).b = n
schema_of_xml('<a/>', map('rowValidationXSDPath', '/etc/passwd')) = s
xpath_string(s, 'a') = s
xpath_string('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', 'a') = s
xpath_string('<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>', 'a') = s
xpath_string('<a>1</a>', 'system-property("java.version")') = s
xpath_string('<a>1</a>', 'concat("(", system-property ("user.home"))') = s
xpath_string('<a>1</a>', 'a[system-property("user.home") = "/root"]') = s
xpath_string('<a>1</a>', 'document("file:///etc/passwd")') = s
xpath_string('<a>1</a>', 'java:java.lang.System.exit(0)') = s
xpath_string('<a>1</a>', 'unparsed-text("/etc/passwd")') = s
xpath_int('<a>1</a>', '1-system-property("a")') = n
from_json(s, 'n INT', map('mode', 'FAILFAST')).n = 1
from_csv(s, 'n INT', map('inputBufferSize', '2147483647')).n = 1
to_avro(n) = b
""".strip().splitlines()

UNBOUNDED = {
    "a long text": "length(repeat('x', 2147483647)) = n",
    "repeated repeats": "length(repeat(repeat(repeat(s, 100), 100), 100)) = n",
    "spaces": "length(space(2147483647)) = n",
    "padding": "length(lpad(s, 2147483647, 'x')) = n",
    "a long sequence": "size(sequence(1, 2147483647)) = n",
    "days": "size(sequence(DATE '0001-01-01', DATE '9999-12-31', INTERVAL 1 DAY)) = n",
    "a long array": "size(array_repeat(1, 2147483647)) = n",
    "arrays of arrays": "size(array_repeat(array_repeat(array_repeat(s, 100), 100), 100)) = n",
    "replacements": "length(" + "replace(" * 9 + "s" + ", 'a', 'aaaaaaaa')" * 9 + ") = n",
    "a format": "format_string('%2147483647d', n) = s",
    "loops of an array": "exists(xs, a -> exists(xs, b -> exists(xs, c -> a + b + c = 1)))",
    "a loop of a sequence": "aggregate(sequence(1, 1000000), 0, (a, x) -> a + x) = 1",
    "repeated repetition": "s RLIKE '(a+)+$'",
    "overlapping choices": "s RLIKE '(a|aa)+$'",
    "repeated anything": "s RLIKE '(.*)*x'",
    "many anythings": "s RLIKE '(.*a){20}'",
    "a look ahead": r"s RLIKE '(?=(a+))\\1b'",
    "nested counts": "s RLIKE '((a{1,1000}){1,1000}){1,1000}'",
    "a replacement": "regexp_replace(s, '(x+x+)+y', '') = 'a'",
    "a split": "size(split(s, '(a+)+$')) = 1",
    "a pattern of the record": "s RLIKE concat(s, 'a')",
    "parentheses": "(" * 9_000 + "n = 1" + ")" * 9_000,
    "minus signs": "n = " + "- " * 9_000 + "1",
    "a megabyte": "n = 1 OR " * 110_000 + "n = 1",
    "comments": "/*" * 9_000,
    "digits": "n = " + "9" * 19_000,
    "a deep schema": "from_json(s, 'a " + "STRUCT<a:" * 500 + "INT" + ">" * 500 + "') IS NULL",
    "a normal form": "NOT (" + " OR ".join(f"(n = {i} AND length(s) = {i})" for i in range(600)) + ")",
}


@pytest.mark.parametrize("where", REFUSED)
def test_what_reaches_beyond_the_record_is_refused(where: str) -> None:
    with pytest.raises(PredicateError):
        normalise(where, SCHEMA)


@pytest.mark.parametrize("kind", UNBOUNDED)
def test_what_would_take_time_or_memory_without_bound_is_refused(kind: str) -> None:
    with pytest.raises(PredicateError) as refused:
        normalise(UNBOUNDED[kind], SCHEMA)
    assert len(str(refused.value)) < 1_000


def test_no_function_that_reaches_beyond_the_record_is_allowed() -> None:
    for name in ("java_method", "reflect", "try_reflect", "raise_error", "input_file_name", "current_user", "version"):
        assert name not in FUNCTIONS
        assert refusal(name)[0].split()[0] in ("forbidden", "non-deterministic")


VARIABLES = ("${env:HOME}", "${system:user.name}", "${spark.app.name}", "$${env:HOME}}", "${env:${env:HOME}}")


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize(
    "where",
    [
        "startswith(concat('{0}', ''), s)",
        'concat(s, "{0}") = s',
        "s = concat(s, r'{0}')",
        "labels['{0}'] = upper(s)",
        "translate(s, '{0}', '') = s",
        "get_json_object(s, '$.{0}') = s",
        "upper(s) IN ('{0}', s)",
        "upper(s) LIKE concat('{0}', '_')",
        "upper(s) LIKE '{0}_'",
    ],
)
def test_nothing_that_spark_takes_for_a_variable_is_left_in_what_it_computes(where: str, variable: str) -> None:
    """Spark puts values of the environment and of the session into the text that it parses."""
    predicate = normalise(where.replace("{0}", variable), SCHEMA)
    for attribute in predicate.read:
        assert "${" not in attribute.sql
        assert "${" not in (attribute.error_condition or "")
