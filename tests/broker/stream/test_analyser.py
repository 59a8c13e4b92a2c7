"""What Spark says of a stream's options and expressions before its job begins."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from asc.keys.attribute import PAttribute
from asc.predicate import Limits
from asc.predicate.normal_form.disjunctive_form import Predicate
from broker.config.streams import StreamConfig
from broker.errors import BrokerError, ConfigError, QueryError, http_status
from broker.formats.record_attributes import attributes_of
from broker.operators.near.condition import near_condition
from broker.stream import analyser as analyser_module
from broker.stream.analyser import StreamAnalyser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark(spark: SparkSession) -> SparkSession:
    """A session of the module's own: its settings are nobody else's."""
    return spark.newSession()


def analyser_of(spark: SparkSession, stream: StreamConfig) -> StreamAnalyser:
    fields = stream.fields()
    return StreamAnalyser(spark, stream.topic, stream.decoder(fields, "UTC"), attributes_of(fields), Limits())


@pytest.mark.parametrize(
    ("record_format", "options", "said"),
    [
        (
            "json",
            {"dateFormat": "bbb"},
            "dateFormat .*'bbb': is no pattern that Spark reads by: Unknown pattern letter",
        ),
        ("json", {"timestampFormat": "yyyy-MM-dd'T"}, "Pattern ends with an incomplete string literal"),
        ("csv", {"timestampFormat": "YYYY"}, "options.timestampFormat .*'YYYY': is no pattern that Spark reads by$"),
        ("csv", {"timestampNTZFormat": "bbb"}, "Fail to recognize ''bbb'' pattern in the DateTimeFormatter[.]$"),
        ("json", {"timeZone": "Nowhere"}, "Spark cannot decode with them: .*The timezone: Nowhere is invalid"),
        ("json", {"allowComments": "maybe"}, 'Spark cannot decode with them: .*For input string: "maybe"'),
        ("csv", {"quote": "ab"}, "quote cannot be more than one character"),
        ("csv", {"sep": "\\x"}, "Unsupported special character for delimiter"),
        ("csv", {"unescapedQuoteHandling": "FOO"}, "No enum constant .*FOO"),
        ("csv", {"ignoreLeadingWhiteSpace": "maybe"}, "flag can be true or false"),
    ],
)
@pytest.mark.parametrize("schema", ["s STRING", "d DATE, t TIMESTAMP"])
def test_an_option_that_spark_cannot_decode_with_is_one_line_at_the_start(
    spark: SparkSession, record_format: str, options: dict[str, str], said: str, schema: str
) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": record_format, "schema": schema, "options": options})
    with pytest.raises(ConfigError, match=said) as raised:
        analyser_of(spark, stream).check_decoding()
    assert "\n" not in str(raised.value)


def test_options_that_spark_decodes_with_pass(spark: SparkSession) -> None:
    options = {"dateFormat": "dd.MM.yyyy", "timestampFormat": "HH:mm dd/MM/yyyy[.SSS]", "timestampNTZFormat": "yyyy"}
    schema = "d DATE, t TIMESTAMP, n TIMESTAMP_NTZ"
    for more in ({"quote": "'", "sep": ";", "locale": "de-DE"}, {"quote": "", "comment": "#"}):
        model = {"topic": "t", "format": "csv", "schema": schema, "options": {**options, **more}}
        analyser_of(spark, StreamConfig.model_validate(model)).check_decoding()


def misread(analyser: StreamAnalyser, *wheres: str) -> dict[int, QueryError]:
    return analyser.misread([analyser.normalise(where) for where in wheres])


def test_of_the_expressions_that_passed_only_the_last_ones_are_remembered(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analyser_module, "_ACCEPTED_MAX", 3)
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "n INT, s STRING"})
    analyser = analyser_of(spark, stream)
    attributes = [attribute for i in range(5) for attribute in analyser.normalise(f"n * {i + 2} > 1").p_attributes]
    assert analyser.refusals(attributes) == {}
    assert list(analyser._accepted) == attributes[2:]
    refused = PAttribute("length(gone)", attributes[0].type)
    assert list(analyser.refusals([*attributes, refused])) == [refused]


def test_spark_is_not_waited_for_without_end(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "n INT, s STRING"})
    analyser = analyser_of(spark, stream)
    (attribute,) = analyser.normalise("n * 2 > 1").p_attributes
    monkeypatch.setattr(analyser_module, "_ASKED_S", 0.0)
    assert "did not make it out" in str(analyser.refusals([attribute])[attribute])
    assert "did not make it out" in str(misread(analyser, "n * 2 > 1")[0])
    monkeypatch.undo()
    assert analyser.refusals([attribute]) == {}


def test_what_others_ask_is_not_held_against_a_predicate(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "n INT, s STRING"})
    analyser = analyser_of(spark, stream)
    (attribute,) = analyser.normalise("n * 2 > 1").p_attributes
    answered = threading.Event()
    for _ in range(4):
        assert analyser._in_time(answered.wait, 0) is None
    monkeypatch.setattr(analyser_module, "_START_TIMEOUT_S", 0.05)
    for ask in (lambda: analyser.refusals([attribute]), lambda: misread(analyser, "n * 2 > 1")):
        with pytest.raises(BrokerError, match="busy with what others asked: try again") as caught:
            ask()
        assert http_status(caught.value) == 503
    answered.set()
    monkeypatch.undo()
    assert analyser.refusals([attribute], patiently=True) == analyser.refusals([attribute]) == {}


def test_a_condition_that_stands_is_not_refused_for_what_others_ask(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would be told by it is left out where it is refused."""
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "n INT, s STRING"})
    analyser = analyser_of(spark, stream)
    monkeypatch.setattr(analyser_module, "_ASKED_S", 0.0)
    with pytest.raises(QueryError, match="try again"):
        near_condition("a.n < b.n", analyser)
    # For one that is registered Spark has the time that it needs.
    assert [column.name for column in near_condition("a.n < b.n", analyser, patiently=True).columns] == ["`n`"]


def test_what_was_misread_is_refused_and_told(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "n INT, s STRING"})
    analyser = analyser_of(spark, stream)
    wheres = ["n > 1", "n > 1 OR n < 0 AND s = 'a'"]
    assert misread(analyser, *wheres) == {}
    # What Spark does not parse at all is told as its refusal.
    monkeypatch.setattr(analyser_module, "read_as", lambda *rest: "n > 1")
    refused = str(analyser.misread([Predicate("d > DATE '10000000-01-99'", ())])[0])
    assert "Spark does not parse it" in refused
    assert "operands" not in refused + caplog.text
    monkeypatch.setattr(analyser_module, "read_as", lambda where, *rest: where.replace(" AND ", " OR "))
    (position,) = found = misread(analyser, *wheres)
    assert position == 1
    assert "is read otherwise by Spark" in str(found[1])
    assert "n > 1 OR n < 0 AND s = 'a'" in caplog.text


def test_of_predicates_that_differ_in_constants_spark_parses_one(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "n INT, s STRING"})
    analyser = analyser_of(spark, stream)
    asked: list[str] = []

    def differences(spark: SparkSession, pairs: Sequence[tuple[str, str]]) -> dict[int, str]:
        asked.extend(text for text, _ in pairs)
        return {place: "another" for place, (text, _) in enumerate(pairs) if "n <" in text}

    monkeypatch.setattr(analyser_module, "differences", differences)
    assert misread(analyser, "n > 1", "s = 'a' AND n > 2", "n > 3", "s = 'b'", "n * 2 > 1", "n * 3 > 1") == {}
    assert asked == ["n > 1", "s = 'a' AND n > 2", "n * 2 > 1", "n * 3 > 1"]
    # What is confirmed is not asked again; where the first of its kind is refused, each of the others is asked about.
    asked.clear()
    assert list(misread(analyser, "n > 9 AND s = 'x'", "n < 1", "n < 2")) == [1, 2]
    assert asked == ["n < 1", "n < 2"]


REACHING = [
    "startswith(concat('${env:ASC_TEST_SECRET}', ''), s)",
    "contains(concat('${spark.sql.session.timeZone}', ''), s)",
    "upper(s) = upper('${env:ASC_TEST_SECRET}')",
    "s LIKE concat('${env:ASC_TEST_SECRET}', '%')",
]


@pytest.mark.parametrize("substitute", ["false", "true"])
def test_no_predicate_reads_the_environment_or_the_session(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, substitute: str
) -> None:
    """Neither by the session's setting, nor where somebody sets it otherwise."""
    name = "spark.sql.variable.substitute"
    assert spark.conf.get(name) == "false"
    stream = StreamConfig.model_validate({"topic": "t", "format": "json", "schema": "n INT, s STRING"})
    analyser = analyser_of(spark, stream)
    jvm: Any = spark._jvm
    # A variable that this JVM has, whatever the environment of the tests.
    known = str(jvm.java.lang.System.getenv("PATH"))
    spark.conf.set(name, substitute)
    try:
        for where in REACHING:
            predicate = analyser.normalise(where.replace("ASC_TEST_SECRET", "PATH"))
            for value in (known, "UTC", "U"):
                read = analyser.tuple_values(json.dumps({"s": value}).encode(), predicate.read).values
                assert not any(found.as_py() is True for found in read), where
                assert known.upper() not in [found.as_py() for found in read] or value == known
    finally:
        spark.conf.set(name, "false")
