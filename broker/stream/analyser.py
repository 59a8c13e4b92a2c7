"""The analysis of predicates over a stream: their normal form, and whether Spark accepts their expressions."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from datetime import datetime, timedelta, timezone
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from asc.keys.attribute import PAttribute
from asc.predicate import Limits, normalise
from asc.predicate.expressions.spelling import read_as
from asc.predicate.normal_form.disjunctive_form import Form, Predicate
from asc.predicate.normal_form.join_predicate import JoinPredicate
from asc.predicate.normal_form.plain_reader import PlainReader
from asc.schema import Schema
from asc.spatial.layer import Layer
from broker.cancellation import Cancellation
from broker.errors import BrokerError, ConfigError, QueryError
from broker.failure import one_line, root_cause
from broker.formats.dead_letter_reason import DeadLetterReason
from broker.formats.decoder import ERROR, KAFKA_FIELDS, Decoder
from broker.formats.format import Given
from broker.formats.record_format import DATE_PATTERNS
from broker.formats.registry import RECORD_FORMATS
from broker.kafka.source_record import SourceRecord
from broker.matching.expressions import Analysis, analyse, countable_errors
from broker.matching.parsing import NOT_PARSED, differences, pieces
from broker.stream.record_values import RecordValues

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LOG = logging.getLogger("asc.registration")

_KAFKA_DDL = ", ".join(f"{name} {kind}" for name, kind in KAFKA_FIELDS)

_ACCEPTED_MAX = 10_000
"""The largest number of expressions that are remembered because Spark accepted them. Beyond this number, the least
recently used expression is forgotten; if it is used again, Spark analyses it again.
"""

_TOGETHER_NODES = 2_000
"""The largest number of nodes of the expressions that one question to Spark contains. An expression with more nodes is
sent alone.
"""

_TOGETHER_CHARS = 20_000
"""The largest number of characters of predicate text that Spark parses in one question."""

_ASKED_S = 10.0
"""The timeout of one question to Spark, in seconds.

The limits on predicates keep an answer within a twentieth of this timeout.
"""

_ASKED_AT_ONCE = 4

_START_TIMEOUT_S = 10.0
"""The time in seconds that a question waits for a free thread while Spark works on other questions."""

_CONFIRMED_MAX = 20_000
"""The largest number of term forms that are remembered because Spark parses them as this module does.

When the number is reached, all forms are forgotten.
"""

_TOO_LONG = f"Spark did not make it out in {_ASKED_S:.0f} s: write it more simply, or try again"

NO_LAYERS: Mapping[str, Layer] = MappingProxyType({})

_T = TypeVar("_T")


class StreamAnalyser:
    """The analyser of predicates over one stream, which holds the attributes as a schema and as an empty DataFrame.

    Spark analyses each expression over the empty DataFrame before the job uses the expression. The last
    ``_ACCEPTED_MAX`` expressions that Spark accepted are remembered, and pass again without Spark. Thread-safe: several
    threads ask Spark concurrently, and hold no lock meanwhile.
    """

    def __init__(
        self,
        spark: SparkSession,
        topic: str,
        decoder: Decoder,
        attributes: Schema,
        limits: Limits,
        *,
        empty: DataFrame | None = None,
    ) -> None:
        """Create the analyser.

        ``empty``: an empty DataFrame with the attributes; if it is None, the decoder makes one.
        """
        self._spark = spark
        self._topic = topic
        self._decoder = decoder
        self._attributes = attributes
        self._limits = limits
        self._plain = PlainReader(attributes, limits, decoder.time_zone)
        self._confirmed: frozenset[Form] = frozenset()
        self._lock = threading.Lock()
        self._accepted: dict[PAttribute, None] = {}
        self._empty = empty
        self._over_others: dict[str, StreamAnalyser] = {}
        self._asking = ThreadPoolExecutor(_ASKED_AT_ONCE, thread_name_prefix="ask-spark")
        self._free = threading.BoundedSemaphore(_ASKED_AT_ONCE)

    def check_decoding(self) -> None:
        """Decode a sample record, and raise ConfigError if Spark cannot decode with the stream's options."""
        decoder = self._decoder
        self._check_patterns()
        try:
            decoder.decode(self._records(decoder.sample())).collect()
        except Exception as error:
            remedy = f"Spark cannot decode with them: {one_line(root_cause(error))}"
            raise ConfigError(f"options of stream with topic {self._topic}", dict(decoder.options), remedy) from error

    def _check_patterns(self) -> None:
        # An invalid pattern raises no error in a decoder: each record would become a dead letter.
        from pyspark.sql import functions as sf

        for option, reader in DATE_PATTERNS.items():
            pattern = self._decoder.options.get(option)
            if pattern is None:
                continue
            try:
                read = sf.call_function(reader, sf.col("id").cast("string"), sf.lit(pattern))
                self._spark.range(1, numPartitions=1).select(read).collect()
            except Exception as error:
                remedy = f"is no pattern that Spark reads by: {one_line(root_cause(error), 2_000)}"
                # Remove the rest of Spark's message, which only recommends a property.
                remedy = remedy.partition(": [INCONSISTENT_BEHAVIOR")[0].partition(" You can form")[0]
                raise ConfigError(f"options.{option} of stream with topic {self._topic}", pattern, remedy) from error

    def normalise(self, where: str, layers: Mapping[str, Layer] = NO_LAYERS, *, may_wait: bool = False) -> Predicate:
        """Return the normal form of a predicate over the stream's attributes and the shapes of layers.

        Raise PredicateError if the predicate is invalid. ``may_wait``: whether a missing shape evaluates to NULL; if
        false, a predicate that names a missing shape is refused.
        """
        found = self._plain.predicate(where)
        if found is not None:
            return found
        zone = self._decoder.time_zone
        return normalise(where, self._over(layers), limits=self._limits, time_zone=zone, may_wait=may_wait)

    def join(self, where: str, layer: str, layers: Mapping[str, Layer], *, may_wait: bool = False) -> JoinPredicate:
        """Return the predicate of a join over one of the layers.

        Errors and ``may_wait`` are as in :meth:`normalise`.
        """
        zone = self._decoder.time_zone
        attributes = self._over(layers)
        return JoinPredicate(where, attributes, layer, limits=self._limits, time_zone=zone, may_wait=may_wait)

    def _over(self, layers: Mapping[str, Layer]) -> Schema:
        # Cached with its known columns, because layers rarely change.
        attributes = self._attributes
        if attributes.layers is not layers:
            self._attributes = attributes = attributes.with_layers(layers)
        return attributes

    def misread(
        self,
        predicates: Sequence[Predicate],
        *,
        patiently: bool = False,
        cancellation: Cancellation | None = None,
    ) -> dict[int, QueryError]:
        """Return an error for each predicate that Spark parses differently from this module, by the predicate's index.

        The result should be empty: the check prevents that a fault of this module's parser routes records wrongly.
        ``patiently`` and ``cancellation``: as in :meth:`refusals`.
        """
        wheres = [predicate.text for predicate in predicates]
        confirmed = self._confirmed
        unconfirmed = {
            position: predicate.forms
            for position, predicate in enumerate(predicates)
            if predicate.forms is None or not predicate.forms <= confirmed
        }
        # Of predicates that differ only in constants, Spark checks the first one.
        seen: set[Form] = set()
        first: list[int] = []
        for position, forms in unconfirmed.items():
            if forms is None or not forms <= seen:
                first.append(position)
                seen.update(forms or ())
        refused = self._parsed_otherwise(wheres, first, patiently=patiently, cancellation=cancellation)
        passed = [forms for position in first if position not in refused and (forms := unconfirmed[position])]
        known = confirmed.union(*passed)
        self._confirm(frozenset().union(*passed))
        asked = set(first)
        others = [i for i, forms in unconfirmed.items() if i not in asked and not (forms and forms <= known)]
        more = self._parsed_otherwise(wheres, others, patiently=patiently, cancellation=cancellation)
        return {**refused, **more}

    def _confirm(self, forms: frozenset[Form]) -> None:
        with self._lock:
            before = self._confirmed if len(self._confirmed) < _CONFIRMED_MAX else frozenset()
            self._confirmed = before | forms

    def _parsed_otherwise(
        self, wheres: Sequence[str], places: Sequence[int], *, patiently: bool, cancellation: Cancellation | None
    ) -> dict[int, QueryError]:
        """Return the errors of the predicates at some indexes that Spark parses differently, or not in time."""
        refused: dict[int, QueryError] = {}
        for piece in pieces([len(wheres[place]) for place in places], _TOGETHER_CHARS):
            positions = [places[i] for i in piece]
            asked = [(wheres[i], read_as(wheres[i], self._limits, self._decoder.time_zone)) for i in positions]
            differing = self._in_time(
                partial(differences, self._spark, asked), None if patiently else _ASKED_S, cancellation
            )
            if differing is None:
                refused.update((i, QueryError("predicate", wheres[i][:200], _TOO_LONG)) for i in positions)
                continue
            for place, difference in differing.items():
                where, remedy = asked[place][0], difference
                if not difference.startswith(NOT_PARSED):
                    LOG.error("a predicate was misread: %s: %s", where, difference)
                    remedy = f"is read otherwise by Spark: put its operands in parentheses; {difference}"
                refused[positions[place]] = QueryError("predicate", where[:200], remedy)
        return refused

    def refusals(
        self,
        attributes: Iterable[PAttribute],
        *,
        patiently: bool = False,
        cancellation: Cancellation | None = None,
    ) -> dict[PAttribute, QueryError]:
        """Return the p-attributes whose expressions Spark refuses, each with an error that has the reason in one line.

        An expression that Spark does not analyse in time is refused too, unless ``patiently`` waits as long as Spark
        needs. Raise CancelledError if ``cancellation`` is set while Spark works.
        """
        unknown = self._unknown(dict.fromkeys(attribute for attribute in attributes if attribute.is_computed))
        refused: dict[PAttribute, QueryError] = {}
        for places in pieces([attribute.weight for attribute in unknown], _TOGETHER_NODES):
            asked = [unknown[place] for place in places]
            found = self._in_time(partial(self._analysis, asked), None if patiently else _ASKED_S, cancellation)
            if found is None:
                refused.update((a, QueryError("expression", a.as_written, _TOO_LONG)) for a in asked)
                continue
            self._remember(found.nullable)
            refused.update((a, QueryError("expression", a.as_written, reason)) for a, reason in found.refusals.items())
        return refused

    def _unknown(self, computed: dict[PAttribute, None]) -> list[PAttribute]:
        with self._lock:
            known = {attribute: None for attribute in computed if attribute in self._accepted}
            for attribute in known:
                # Move the attribute to the end, because the least recently used ones are removed first.
                del self._accepted[attribute]
            self._accepted.update(known)
        return [attribute for attribute in computed if attribute not in known]

    def _remember(self, accepted: Iterable[PAttribute]) -> None:
        with self._lock:
            self._accepted.update(dict.fromkeys(accepted))
            for oldest in list(self._accepted)[: max(0, len(self._accepted) - _ACCEPTED_MAX)]:
                del self._accepted[oldest]

    def _frame(self) -> DataFrame:
        """Return an empty DataFrame with the stream's attributes."""
        with self._lock:
            if self._empty is None:
                self._empty = self._decoder.decode(self._records())
            return self._empty

    @property
    def time_zone(self) -> str:
        """Return the time zone of timestamps without a zone, in records and in texts."""
        return self._decoder.time_zone

    @property
    def attributes(self) -> Schema:
        """Return the attributes of a record."""
        return self._attributes

    def over(self, schema: Schema) -> StreamAnalyser:
        """Return the analyser of predicates over another schema, such as the schema of two records.

        The analyser has the stream's settings. Analysers are cached by schema: the kinds of operators use only a few
        schemas.
        """
        ddl = schema.ddl()
        with self._lock:
            if ddl not in self._over_others:
                empty = self._spark.createDataFrame([], ddl)
                own = (self._spark, self._topic, self._decoder, schema, self._limits)
                self._over_others[ddl] = StreamAnalyser(*own, empty=empty)
            return self._over_others[ddl]

    def check(self, predicate: Predicate, *, patiently: bool = False) -> None:
        """Raise QueryError if Spark parses a predicate differently from this module, or refuses one of its expressions.

        ``patiently``: as in :meth:`refusals`.
        """
        misread = self.misread([predicate], patiently=patiently)
        for error in (*misread.values(), *self.refusals(predicate.read, patiently=patiently).values()):
            raise error

    def close(self) -> None:
        """Stop: no further question is sent to Spark."""
        for other in self._over_others.values():
            other.close()
        self._asking.shutdown(wait=False, cancel_futures=True)

    def _analysis(self, asked: list[PAttribute]) -> Analysis:
        return analyse(self._frame(), asked, plan=True)

    def _in_time(
        self, question: Callable[[], _T], timeout_s: float | None, cancellation: Cancellation | None = None
    ) -> _T | None:
        """Return Spark's answer to a question.

        Return None after a timeout; the question then goes on in the background.

        Raise BrokerError if all threads are busy with other questions for too long. Then Spark has not started this
        question.
        """
        if not self._free.acquire(timeout=None if timeout_s is None else _START_TIMEOUT_S):
            raise BrokerError("Spark", f"for {_START_TIMEOUT_S:.0f} s", "was busy with what others asked: try again")
        asked = self._asking.submit(question)
        asked.add_done_callback(lambda _: self._free.release())
        try:
            return (cancellation or Cancellation()).result(asked, timeout_s)
        except FutureTimeoutError:
            return None

    def tuple_values(self, value: bytes, attributes: Iterable[PAttribute]) -> RecordValues:
        """Return the values of p-attributes for a tuple in JSON.

        Raise QueryError if the text is not a JSON object of the schema, or if the evaluation takes too long.
        """
        subject = "tuple", value.decode("utf-8", "replace")[:200]
        found = self._values(self._json_decoder(), self._records(value), list(attributes), subject)
        if found.reason is not None:
            raise QueryError(*subject, f"the {found.reason.text}")
        return found

    def _json_decoder(self) -> Decoder:
        """Return the decoder from JSON objects to the fields of the stream."""
        return RECORD_FORMATS["json"].decoder(self._decoder.fields, {}, self._decoder.time_zone, Given())

    def record_values(self, record: SourceRecord, attributes: Iterable[PAttribute]) -> RecordValues:
        """Return the values of p-attributes for a record, which is decoded like the stream's records.

        Raise QueryError if the evaluation takes too long or if the timestamp has no date in the years 1 to 9999. Raise
        SchemaRegistryError if the schema registry does not answer.
        """
        subject = ("record", str(record.place))
        try:
            at = datetime.fromtimestamp(0, timezone.utc) + timedelta(milliseconds=record.timestamp_ms)
        except OverflowError:
            # Kafka takes any number; Python has no date for it, Spark has.
            remedy = f"its timestamp, {record.timestamp_ms} ms, is none of the years 1 to 9999: it cannot be followed"
            raise QueryError(*subject, remedy) from None
        # Spark's source has NULL for a record without headers.
        headers = [(name, None if value is None else bytearray(value)) for name, value in record.headers] or None
        key, value = (None if part is None else bytearray(part) for part in (record.key, record.value))
        row = (key, value, *record.place, at, record.timestamp_type, headers)
        frame = self._spark.createDataFrame([row], _KAFKA_DDL)
        return self._values(self._decoder, frame, list(attributes), subject)

    def _values(
        self, decoder: Decoder, records: DataFrame, attributes: Sequence[PAttribute], subject: tuple[str, str]
    ) -> RecordValues:
        """Return the values of p-attributes for the only record of a frame."""
        from pyspark.sql import functions as sf

        def asked() -> tuple[Any, list[int]]:
            # The record may name a schema that was not yet requested from the schema registry.
            knowing = decoder.for_records(records)
            if decoder is self._decoder:
                self._decoder = knowing
            frame = knowing.decode(records)
            conditions = countable_errors(frame, attributes)
            columns = [sf.expr(attribute.sql).alias(f"a{slot}") for slot, attribute in enumerate(attributes)]
            fails = [sf.expr(text).alias(f"e{slot}") for slot, text in conditions.items()]
            return frame.select(sf.col(ERROR), *columns, *fails).toArrow(), list(conditions)

        found = self._in_time(asked, _ASKED_S)
        if found is None:
            raise QueryError(*subject, f"the expressions over it take {_ASKED_S:.0f} s")
        (reason, *row), slots = (column[0] for column in found[0].columns), found[1]
        values = [row[slot].cast(attribute.type) for slot, attribute in enumerate(attributes)]
        fails = zip(slots, row[len(attributes) :], strict=True)
        known = {reason.text: reason for reason in decoder.reasons}
        text = reason.as_py()
        return RecordValues(
            values,
            tuple(attributes[slot] for slot, failed in fails if failed.as_py()),
            None if text is None else known.get(text, DeadLetterReason(text)),
        )

    def _records(self, *values: bytes) -> DataFrame:
        """Return records of the stream's topic that have these values, without keys, timestamps or headers."""
        rows = [(None, bytearray(value), self._topic, 0, 0, None, 0, None) for value in values]
        return self._spark.createDataFrame(rows, _KAFKA_DDL)
