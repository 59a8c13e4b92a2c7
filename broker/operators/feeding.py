"""Feeding, in the job of a stream: records, as the tracks of its queries see them, go to the feed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asc.operators.feed import NEAR_TRACK
from broker.formats.decoder import ERROR, RECORD
from broker.matching.matches_text import AFTER_TOPIC, BEFORE_OPERATOR, BETWEEN_TOPICS
from broker.matching.tally import NO_TIME
from broker.operators.fed_destination import FedDestination, Track, target_of
from broker.operators.near.condition import carried_sql
from broker.operators.operator import Operator

if TYPE_CHECKING:
    from pyspark.sql import Column

BUCKETS = 16
"""Partitions of a feed: an object is in one, by a hash of its key. States are kept by them, so it is for ever."""

_COLUMN = "__asc_track_"
_OVERHEAD_BYTES = 200


@dataclass(frozen=True, slots=True)
class Feeding(Operator):
    """What queries with events, and near queries, of a plan have written: observations (:mod:`asc.operators.feed`).

    For the tracks of events each record, accepted or not, for what leaves is seen by what does not accept it; for those
    of near queries, what one of them accepts. ``tracks`` in the order of their names, none twice.
    ``max_future_s``: how far past its record's timestamp a time may be. Cost: of a record, a JSON text of some 100
    bytes a track.
    """

    feed_topic: str
    tracks: tuple[Track, ...]
    max_future_s: float

    @staticmethod
    def of(found: Sequence[FedDestination], max_future_s: float) -> Feeding | None:
        """That of the destinations of a plan; None where there are none."""
        if not found:
            return None
        tracks = {one.track.name: one.track for one in found}
        return Feeding(found[0].feed_topic, tuple(tracks[name] for name in sorted(tracks)), max_future_s)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns, a track each."""
        return tuple(f"{_COLUMN}{track.name}" for track in self.tracks)

    @property
    def columns(self) -> tuple[Column, ...]:
        """A struct for each track: its name, the key, the time, whether that is too far ahead, the position, and what
        else is carried.
        """
        from pyspark.sql import functions as sf

        ahead_us = round(self.max_future_s * 1_000_000)
        # A record without a timestamp has one before 1970.
        stamp = f"{RECORD}.timestamp"
        found = []
        for track, name in zip(self.tracks, self.names, strict=True):
            time_us = f"CAST(({track.time_us}) AS BIGINT)"
            is_ahead = f"coalesce({time_us} - {ahead_us}L > unix_micros({stamp}) AND unix_micros({stamp}) >= 0, false)"
            position = f"array({', '.join(track.position)})" if track.position else "CAST(NULL AS ARRAY<DOUBLE>)"
            text = f"""named_struct('t', '{track.name}', 'k', {track.key}, 'e', if({is_ahead}, NULL, {time_us}),
                                    'a', {is_ahead}, 'x', {position}, 'v', {carried_sql(track.carried or ())})"""
            # What has a lambda is kept out of the arguments of the function in Python, as in Transport.
            apart = f"if(rand() + 1D > 0D, {text}, NULL)" if "->" in text else text
            found.append(sf.expr(apart).alias(name))
        return tuple(found)

    def times(self) -> tuple[Column, ...]:
        """What the tally needs to tell how far event time is: the source partition, and a time for each track."""
        from pyspark.sql import functions as sf

        partition = sf.coalesce(sf.col(f"{RECORD}.partition"), sf.lit(0))
        times = (f"if({ERROR} IS NULL, coalesce({name}.e, {_LEAST}), {_LEAST})" for name in self.names)
        return (partition, *map(sf.expr, times))

    def targets(self, deliveries: Column) -> Column:
        """Those of a record with one for each track; where no query of it accepts the record, without ids."""
        from pyspark.sql import functions as sf

        seen = (track for track in self.tracks if track.carried is None)
        own = [f"{target_of(self.feed_topic, track.name)}{AFTER_TOPIC}" for track in seen]
        missing = (sf.when(sf.coalesce(sf.instr(deliveries, text), sf.lit(0)) == 0, sf.lit(text)) for text in own)
        return sf.concat_ws(BETWEEN_TOPICS, deliveries, *missing)

    def takes(self) -> Column:
        from pyspark.sql import functions as sf

        return sf.instr("target", BEFORE_OPERATOR) > 0

    def topic(self) -> Column:
        from pyspark.sql import functions as sf

        return sf.lit(self.feed_topic)

    def partition(self) -> Column:
        from pyspark.sql import functions as sf

        seen = self._seen()
        # What is near is found among all objects of a track.
        key = sf.when(~sf.startswith(seen.getField("t"), sf.lit(NEAR_TRACK)), seen.getField("k"))
        return sf.pmod(sf.hash(seen.getField("t"), key), sf.lit(BUCKETS)).cast("int")

    def key(self) -> Column:
        from pyspark.sql import functions as sf

        return sf.lit(None).cast("binary")

    def value(self) -> Column:
        from pyspark.sql import functions as sf

        seen = self._seen()
        fields = [seen.getField(name).alias(name) for name in ("t", "k", "e", "a", "x", "v")]
        place = [sf.col(f"{RECORD}.partition").alias("p"), sf.col(f"{RECORD}.offset").alias("o")]
        ids = sf.substring_index("target", AFTER_TOPIC, -1).alias("q")
        return sf.to_json(sf.struct(*fields, *place, ids)).cast("binary")

    def headers(self) -> Column:
        from pyspark.sql import functions as sf

        return sf.expr("CAST(array() AS ARRAY<STRUCT<key: STRING, value: BINARY>>)")

    def size(self) -> Column:
        from pyspark.sql import functions as sf

        return (sf.octet_length("value") + _OVERHEAD_BYTES).cast("bigint")

    def _seen(self) -> Column:
        """The record as the track of the target sees it."""
        from pyspark.sql import functions as sf

        *others, last = zip(self.tracks, self.names, strict=True)
        found = sf.col(last[1])
        for track, name in others:
            is_own = sf.startswith(sf.col("target"), sf.lit(target_of(self.feed_topic, track.name)))
            found = sf.when(is_own, sf.col(name)).otherwise(found)
        return found


_LEAST = f"{NO_TIME + 1}L - 1L"
"""Of BIGINT: its literal would be one too large, and then the sign."""
