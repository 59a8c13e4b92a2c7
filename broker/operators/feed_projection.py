"""The projection of records to observations of the feed, in the job of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asc.keys.byte_strings import quoted
from asc.operators.feed import FORM, WRITER
from asc.operators.times import FIRST_US, LAST_US
from broker.formats.decoder import ERROR, RECORD
from broker.matching.matches_text import AFTER_TARGET, AFTER_TOPIC, BETWEEN_IDS, BETWEEN_TOPICS
from broker.matching.tally import NO_TIME
from broker.operators.feed_destination import FeedDestination, Track
from broker.operators.feed_part import PARTS, part_of
from broker.operators.operator import Operator

if TYPE_CHECKING:
    from pyspark.sql import Column

_COLUMN = "__asc_track_"
_OVERHEAD_BYTES = 200


@dataclass(frozen=True, slots=True)
class FeedProjection(Operator):
    """The projection of records to observations (:mod:`asc.operators.feed`), for the tracks of a plan.

    A track with ``observes_all`` has an observation of each decoded record. Any other track has observations of the
    records that at least one of its queries accepts. ``tracks``: sorted by name, without repetition. ``max_future_s``:
    the largest number of seconds by which a time may be later than its record's timestamp. ``writer``: the name under
    which the daemon claims the feed. Cost: for each record and track, a JSON text of some 120 bytes.
    """

    feed_topic: str
    tracks: tuple[Track, ...]
    max_future_s: float
    writer: str

    @staticmethod
    def of(
        destinations: Sequence[FeedDestination], feed_topic: str, max_future_s: float, writer: str
    ) -> FeedProjection | None:
        """Return the projection for the destinations of a plan. Return None if there are no destinations."""
        if not destinations:
            return None
        tracks = {each.track.name: each.track for each in destinations}
        return FeedProjection(feed_topic, tuple(tracks[name] for name in sorted(tracks)), max_future_s, writer)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the projection's columns, one for each track."""
        return tuple(f"{_COLUMN}{track.name}" for track in self.tracks)

    @property
    def time_names(self) -> tuple[str, ...]:
        """Return the names of the tracks' event times, without repetition."""
        return tuple(self._first_with_time())

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return a struct for each track, which has the values of the track's observation of a record. Its fields are
        kind and name of the track, the key, the usable time, whether the time is in the future, the position, and the
        carried values.
        """
        from pyspark.sql import functions as sf

        return tuple(
            sf.expr(self._struct(track)).alias(name) for track, name in zip(self.tracks, self.names, strict=True)
        )

    def _struct(self, track: Track) -> str:
        future_us = round(self.max_future_s * 1_000_000)
        # A record without a timestamp has one before 1970.
        stamp = f"{RECORD}.timestamp"
        time_us = f"CAST(({track.time_us}) AS BIGINT)"
        # As in Times of fold tasks: a time out of range is not in the future either, and its difference could wrap.
        is_timed = f"({time_us} BETWEEN {FIRST_US}L AND {LAST_US}L)"
        is_later = f"{time_us} - {future_us}L > unix_micros({stamp}) AND unix_micros({stamp}) >= 0"
        is_future = f"coalesce({is_timed} AND {is_later}, false)"
        position = f"array({', '.join(track.position)})" if track.position else "CAST(NULL AS ARRAY<DOUBLE>)"
        # JSON has no bytes that are no UTF-8: keys would become equal that differ.
        key = f"if(is_valid_utf8({track.key}), {track.key}, NULL)"
        text = f"""named_struct('op', '{track.op}', 't', '{track.name}', 'k', {key},
                                'e', if({is_timed} AND NOT {is_future}, {time_us}, NULL),
                                'f', if({is_future}, true, NULL),
                                'x', {position}, 'c', {carried_sql(track.carried or ())})"""
        # Spark must not move a text with a lambda into the arguments of a Python function (see Transport).
        return f"if(rand() + 1D > 0D, {text}, NULL)" if "->" in text else text

    def times(self) -> tuple[Column, ...]:
        """Return the columns from which the tally computes the progress of event time: the source partition and each
        event time of the tracks. The value of a time is NO_TIME for a dead letter, and for a record without a usable
        time.
        """
        from pyspark.sql import functions as sf

        first = self._first_with_time().values()
        times = (f"if({ERROR} IS NULL, coalesce({name}.e, {_LEAST}), {_LEAST})" for name in first)
        return (source_partition(), *map(sf.expr, times))

    def _first_with_time(self) -> dict[str, str]:
        """Return, by the name of each event time, the name of the column of the first track that has this event
        time.
        """
        found: dict[str, str] = {}
        for track, name in zip(self.tracks, self.names, strict=True):
            found.setdefault(track.time_name, name)
        return found

    def targets(self, deliveries: Column) -> Column:
        """Return the targets of a record, including one target for each track that observes all records. Return NULL if
        there is no target.

        A target has no selections if no query of its track accepts the record.
        """
        from pyspark.sql import functions as sf

        texts = [f"{target_of(track)}{AFTER_TOPIC}" for track in self.tracks if track.observes_all]
        missing = (sf.when(sf.coalesce(sf.instr(deliveries, text), sf.lit(0)) == 0, sf.lit(text)) for text in texts)
        # concat_ws makes an empty text of nothing but NULL, and that would be a target without a name.
        return sf.nullif(sf.concat_ws(BETWEEN_TOPICS, deliveries, *missing), sf.lit(""))

    def takes(self) -> Column:
        from pyspark.sql import functions as sf

        return sf.instr("target", AFTER_TARGET) > 0

    def topic(self) -> Column:
        from pyspark.sql import functions as sf

        return sf.lit(self.feed_topic)

    def partition(self) -> Column:
        from pyspark.sql import functions as sf

        def part(track: Track, column: str) -> Column:
            if not track.by_key:
                return sf.lit(part_of(track.name))
            return sf.pmod(sf.hash(sf.lit(track.name), sf.col(column).getField("k")), sf.lit(PARTS)).cast("int")

        return self._of_target([part(*each) for each in zip(self.tracks, self.names, strict=True)])

    def key(self) -> Column:
        from pyspark.sql import functions as sf

        return self._of_target([sf.lit(track.op).cast("binary") for track in self.tracks])

    def value(self) -> Column:
        from pyspark.sql import functions as sf

        seen = self._of_target([sf.col(name) for name in self.names])
        fields = [seen.getField(name).alias(name) for name in ("op", "t", "k", "e", "f", "x", "c")]
        place = [sf.col(f"{RECORD}.partition").alias("p"), sf.col(f"{RECORD}.offset").alias("o")]
        names = sf.substring_index("target", AFTER_TOPIC, -1)
        none = sf.array().cast("array<string>")
        selections = sf.when(names == "", none).otherwise(sf.split(names, BETWEEN_IDS)).alias("s")
        head = (sf.lit(FORM).alias("v"), sf.lit(self.writer).alias(WRITER))
        return sf.to_json(sf.struct(*head, *fields, *place, selections)).cast("binary")

    def headers(self) -> Column:
        from pyspark.sql import functions as sf

        return sf.expr("CAST(array() AS ARRAY<STRUCT<key: STRING, value: BINARY>>)")

    def size(self) -> Column:
        from pyspark.sql import functions as sf

        return (sf.octet_length("value") + _OVERHEAD_BYTES).cast("bigint")

    def _of_target(self, columns: Sequence[Column]) -> Column:
        """Return the column of the track that a target names. ``columns``: one for each track, in the order of the
        tracks.
        """
        from pyspark.sql import functions as sf

        *others, found = columns
        for track, column in reversed(list(zip(self.tracks, others, strict=False))):
            is_own = sf.startswith(sf.col("target"), sf.lit(target_of(track)))
            found = sf.when(is_own, column).otherwise(found)
        return found


def source_partition() -> Column:
    """Return the column of a record's source partition."""
    from pyspark.sql import functions as sf

    return sf.coalesce(sf.col(f"{RECORD}.partition"), sf.lit(0))


def target_of(track: Track) -> str:
    """Return the text with which a target begins if it names a track. The last character of this text cannot occur in
    the name of a topic.
    """
    return f"{track.name}{AFTER_TARGET}"


def carried_sql(columns: Sequence[tuple[str, str]]) -> str:
    """Return Spark SQL for the carried values of an observation: a JSON text with a field for each column. The text is
    NULL if there are no columns.
    """
    fields = ", ".join(f"{quoted(name)}, {sql}" for name, sql in columns)
    return f"to_json(named_struct({fields}))" if fields else "CAST(NULL AS STRING)"


_LEAST = f"{NO_TIME + 1}L - 1L"
"""The least BIGINT as SQL. A literal is not possible: Spark reads the digits before the sign, and without the sign the
number is one too large.
"""
