"""What every record format promises: what it encodes it decodes, on a real Spark session."""

from __future__ import annotations

import math
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from asc.schema import Schema
from broker.formats.decoder import ERROR, KAFKA_FIELDS
from broker.formats.record_decoder import RecordDecoder
from broker.formats.record_format import RecordFormat, wrong_pattern
from broker.formats.registry import RECORD_FORMATS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = Schema.from_ddl(
    "b BOOLEAN, i INT, l BIGINT, f FLOAT, x DOUBLE, p DECIMAL(20,4), s STRING, d DATE, t TIMESTAMP"
)
KAFKA_DDL = ", ".join(f"{name} {kind}" for name, kind in KAFKA_FIELDS)

# A CSV line ends at a line break, has no empty string beside NULL, and its blanks at the ends are text.
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
ROWS = st.fixed_dictionaries(
    {
        "b": st.none() | st.booleans(),
        "i": st.none() | st.integers(-(2**31), 2**31 - 1),
        "l": st.none() | st.integers(-(2**63), 2**63 - 1),
        "f": st.none() | st.floats(width=32),
        "x": st.none() | st.floats(),
        "p": st.none() | st.decimals(-(10**15), 10**15, places=4),
        "s": st.none() | TEXTS,
        "d": st.none() | st.dates(date(1900, 1, 1), date(9999, 12, 31)),
        "t": st.none() | st.datetimes(datetime(1900, 1, 1), datetime(9999, 12, 30), timezones=st.just(timezone.utc)),
    }
)


@pytest.fixture(params=list(RECORD_FORMATS.values()), ids=lambda record_format: record_format.name)
def record_format(request: pytest.FixtureRequest) -> RecordFormat:
    found: RecordFormat = request.param
    return found


def decoded(
    spark: SparkSession, record_format: RecordFormat, values: list[bytes]
) -> list[tuple[str | None, list[Any]]]:
    decoder = RecordDecoder(record_format, SCHEMA, {}, "UTC")
    rows = [(None, bytearray(value), "t", 0, place, None, 0, None) for place, value in enumerate(values)]
    names = [field.name for field in SCHEMA.arrow]
    table = decoder.decode(spark.createDataFrame(rows, KAFKA_DDL)).orderBy("_offset").select(ERROR, *names).toArrow()
    return [(row.pop(ERROR), list(row.values())) for row in table.to_pylist()]


def same(found: Any, expected: Any) -> bool:
    if isinstance(expected, float) and math.isnan(expected):
        return isinstance(found, float) and math.isnan(found)
    return bool(found == expected)


@pytest.mark.spark
@settings(
    max_examples=3,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(rows=st.lists(ROWS, min_size=60, max_size=60))
def test_what_is_encoded_is_decoded(
    spark: SparkSession, record_format: RecordFormat, rows: list[dict[str, Any]]
) -> None:
    rows = [{"b": None, "i": 1, **dict.fromkeys("lfxpsdt")}, *({**row, "i": row["i"] or 0} for row in rows)]
    encode = record_format.encoder(SCHEMA)
    found = decoded(spark, record_format, [encode(row) for row in rows])
    for row, (error, values) in zip(rows, found, strict=True):
        assert error is None, row
        assert all(map(same, values, (row[field.name] for field in SCHEMA.arrow))), (row, values)


@pytest.mark.spark
def test_texts_of_a_file_become_what_they_say(spark: SparkSession, record_format: RecordFormat) -> None:
    texts = ["true", "7", "-8", "1.5", "1e300", "12.3400", 'say "x", y', "2013-01-31", "2013-01-31T10:00:00Z"]
    encode = record_format.encoder_of_texts(SCHEMA)
    names = [field.name.upper() for field in SCHEMA.arrow]
    ((error, values),) = decoded(spark, record_format, [encode(dict(zip(names, texts, strict=True)))])
    assert (error, values) == (
        None,
        [
            *(True, 7, -8, 1.5, 1e300, Decimal("12.3400"), 'say "x", y', date(2013, 1, 31)),
            datetime(2013, 1, 31, 10, tzinfo=timezone.utc),
        ],
    )


@pytest.mark.spark
def test_its_sample_decodes(spark: SparkSession, record_format: RecordFormat) -> None:
    decoder = RecordDecoder(record_format, Schema.from_ddl("s STRING, i STRING"), {}, "UTC")
    row = (None, bytearray(record_format.sample(["s", "i"], {})), "t", 0, 0, None, 0, None)
    found = decoder.decode(spark.createDataFrame([row], KAFKA_DDL)).select(ERROR, "s", "i").collect()
    assert [tuple(one) for one in found] == [(None, "1", "1")]


def test_an_option_that_it_does_not_know_is_named_with_the_nearest_one(record_format: RecordFormat) -> None:
    ((option, value, remedy),) = record_format.wrong_options({"timestampFormt": "yyyy"})
    assert (option, value) == ("timestampFormt", "yyyy")
    assert remedy == "is not a decoding option: did you mean 'timestampFormat'?"
    ((_, _, remedy),) = record_format.wrong_options({"qqq": "1"})
    assert remedy.startswith(f"is not a decoding option: known for {record_format.name}: ")


def test_options_that_all_formats_share_are_checked(record_format: RecordFormat) -> None:
    assert list(record_format.wrong_options({"locale": "de-DE", "timeZone": "UTC", "dateFormat": "yyyy"})) == []
    found = list(record_format.wrong_options({"locale": "en_US!", "dateFormat": " "}))
    assert [option for option, _, _ in found] == ["locale", "dateFormat"]


@pytest.mark.spark
def test_a_pattern_is_refused_only_where_spark_refuses_it(spark: SparkSession) -> None:
    from pyspark.sql import functions as sf

    def read(*patterns: str) -> None:
        columns = [sf.to_timestamp(sf.col("id").cast("string"), pattern) for pattern in patterns]
        spark.range(1, numPartitions=1).select(*columns).collect()

    # A lone bracket, and how often a letter may stand, are left to Spark.
    patterns = [f"yyyy-MM-dd {char}" for char in map(chr, range(33, 127)) if char not in "]V"]
    refused = [pattern for pattern in patterns if wrong_pattern(pattern)]
    assert len(refused) == 34
    read(*(pattern for pattern in patterns if pattern not in refused), "yyyy 'T#''x' VV", "''yyyy")
    for pattern in refused:
        with pytest.raises(Exception, match=r"(?i)pattern"):
            read(pattern)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]", None),
        ("yyyy-MM-dd''HH", None),
        ("'quoted: T{#}'yyyy", None),
        ("dd. MMMM yyyy 'um' HH 'Uhr'", None),
        ("yyyy-MM-ddTHH:mm:ss", "'T' is no letter"),
        ("%Y-%m-%d", "'Y' is no letter"),
        ("yyyy-MM-dd'THH:mm", "a quote is not closed"),
        ("yyyy'", "a quote is not closed"),
        ("epoch", "'e' is no letter"),
    ],
)
def test_a_pattern_is_told_what_is_wrong_with_it(pattern: str, said: str | None) -> None:
    found = [remedy for _, _, remedy in RECORD_FORMATS["csv"].wrong_options({"timestampFormat": pattern})]
    assert len(found) == (0 if said is None else 1)
    assert all(remedy.startswith(str(said)) for remedy in found)
