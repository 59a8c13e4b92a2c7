"""A schema registry that answers some questions and not others holds a stream up for a while, and no longer."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from broker.errors import SchemaRegistryError
from broker.formats import framed_decoder
from broker.formats.decoder import ERROR
from broker.stream.schema_questions import BLAMES_MAX, SchemaQuestions
from tests.broker.formats import conftest
from tests.broker.formats.test_avro_decoder import body, decoder_of, frame_of, framed, record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.broker.formats.conftest import RegistryServer

pytestmark = pytest.mark.spark
registry_server = conftest.registry_server

UNANSWERED = "value names a schema for which the registry gives no answer, though it answers other questions"
SCHEMA = record(("a", "int"))


class Stream:
    """The batches of a stream of Avro records: what each of their records becomes."""

    def __init__(self, spark: SparkSession, registry: RegistryServer, pauses_s: tuple[float, ...] = (0.01,)) -> None:
        self._spark = spark
        self._decoder: Any = decoder_of("a INT", registry.url)
        self.questions = SchemaQuestions("s", pauses_s=pauses_s)
        self.stopping = threading.Event()

    def batch(self, *ids: int) -> list[Any]:
        records = frame_of(self._spark, [framed(schema_id, body(SCHEMA, {"a": 7})) for schema_id in ids])

        def unknown(decoder: Any) -> Any:
            return decoder.unknown(records).collect()

        self._decoder = self.questions.answered(self._decoder, unknown, records, self.stopping)
        rows = self._decoder.decode(records).orderBy("_offset").select(ERROR, "a").collect()
        return [row[0] or row[1] for row in rows]


@pytest.mark.parametrize("status", [500, *(pytest.param(each, marks=pytest.mark.nightly) for each in (403, 404))])
def test_a_schema_without_an_answer_is_given_up_where_others_have_one(
    status: int, spark: SparkSession, registry_server: RegistryServer
) -> None:
    good, bad = (registry_server.register(SCHEMA) for _ in range(2))
    registry_server.broken_ids[bad] = status
    stream = Stream(spark, registry_server)
    assert stream.batch(bad, good) == [UNANSWERED, 7]
    assert registry_server.asked.count(f"/schemas/ids/{bad}") == BLAMES_MAX
    assert stream.questions.waits_for is None
    # It is not asked for again with every batch.
    assert stream.batch(bad, good) == [UNANSWERED, 7]
    assert registry_server.asked.count(f"/schemas/ids/{bad}") == BLAMES_MAX


@pytest.mark.nightly
def test_after_a_time_it_is_asked_for_again_once(
    spark: SparkSession, registry_server: RegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.stream.schema_questions._UNANSWERED_S", 0.0)
    bad = registry_server.register(SCHEMA)
    registry_server.broken_ids[bad] = 500
    stream = Stream(spark, registry_server)
    assert stream.batch(bad) == [UNANSWERED]
    assert stream.batch(bad) == [UNANSWERED]
    assert registry_server.asked.count(f"/schemas/ids/{bad}") == BLAMES_MAX + 1
    del registry_server.broken_ids[bad]
    assert stream.batch(bad) == [7]


def test_a_registry_that_answers_nothing_is_waited_for(spark: SparkSession, registry_server: RegistryServer) -> None:
    good = registry_server.register(SCHEMA)
    registry_server.broken = 503
    stream = Stream(spark, registry_server)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(stream.batch(good)))
    thread.start()
    while registry_server.asked.count(f"/schemas/ids/{good}") <= 2 * BLAMES_MAX:
        thread.join(0.01)
        assert thread.is_alive()
    assert stream.questions.waits_for is not None
    assert "answers 503" in stream.questions.waits_for
    registry_server.broken = None
    thread.join()
    assert found == [[7]]


def test_a_batch_of_many_schemas_goes_on_where_the_attempt_before_it_ended(
    spark: SparkSession, registry_server: RegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(framed_decoder, "_TIMEOUTS_A_BATCH_MAX", 0.02)
    registry_server.delay_s = 0.1
    ids = [registry_server.register({**SCHEMA, "doc": str(number)}) for number in range(6)]
    missing = [max(ids) + 1, max(ids) + 2]
    stream = Stream(spark, registry_server)
    reasons: list[str | None] = []
    monkeypatch.setattr(stream.stopping, "wait", lambda _: reasons.append(stream.questions.waits_for))
    found = stream.batch(*ids, *missing)
    assert found == [7] * len(ids) + ["value names a schema that the registry does not have"] * len(missing)
    # Each is asked for once, over all attempts, and an attempt ends with the time for a batch.
    assert registry_server.asked == [f"/schemas/ids/{schema_id}" for schema_id in (*ids, *missing)]
    assert len(reasons) > 1
    assert all("answers slowly: " in (reason or "") for reason in reasons)
    # What was not there is asked for again in the next batch.
    assert stream.batch(missing[0]) == found[-1:]
    assert registry_server.asked[-1] == f"/schemas/ids/{missing[0]}"


def test_a_stream_that_stops_waits_no_longer(spark: SparkSession, registry_server: RegistryServer) -> None:
    bad = registry_server.register(SCHEMA)
    registry_server.broken_ids[bad] = 500
    stream = Stream(spark, registry_server, (60.0,))
    stream.stopping.set()
    with pytest.raises(SchemaRegistryError, match=f"schema {bad}: is not answered for: .* answers 500"):
        stream.batch(bad)
