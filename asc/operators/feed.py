"""The messages of a stream's feed, form 2: settings, watermarks and observations, in the order of a partition.

A message is a JSON object with its form ``v`` (version number). It has a writer ``w`` if a daemon that claims its feeds
wrote it. Settings and observations have the tag ``op`` of their kind. Watermarks have ``time`` and hold for all kinds.
Readers dispatch on these fields alone. ``docs/design/044-feed-is-one-sequence-a-part.md`` gives the reasons.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from asc.errors import FeedFormError
from asc.operators.feed_form_1 import messages_of_form_1
from asc.operators.times import SPAN_US, is_watermark

FORM = 2

TIME_KEY = "time"
"""The Kafka key of watermarks. The key of every other message is the name of its operator kind."""

WRITER = "w"
"""The field that names the writer of a message: the name under which a daemon claims the feed."""

OF_SHAPE = "/"
"""The character between a selection and a shape. For a join, the two together identify the records that the shape
accepts.
"""

Kind = str
"""The type of an output record, such as ``enter`` or ``pair``."""


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """A standing query as a feed describes it.

    ``track``: the name of the expressions that the query reads. ``time``: the name of the expression that is the
    query's event time. ``selections``: the selections whose records the query accepts. ``definition``: the parameters
    of the query's kind, as JSON.
    """

    id: str
    topic: str
    track: str
    time: str
    selections: tuple[str, ...]
    definition: Mapping[str, Any]

    def plain(self) -> dict[str, Any]:
        """Return the query as a JSON object."""
        return {
            "id": self.id,
            "topic": self.topic,
            "track": self.track,
            "time": self.time,
            "selections": list(self.selections),
            "definition": dict(self.definition),
        }

    @staticmethod
    def of_plain(plain: Mapping[str, Any]) -> QuerySettings:
        """Return the query in a JSON object. Raise ValueError, KeyError, TypeError or AttributeError if the object is
        invalid.
        """
        query_id, topic, track, time = (_name(plain[each]) for each in ("id", "topic", "track", "time"))
        return QuerySettings(query_id, topic, track, time, names(plain["selections"]), plain["definition"])


@dataclass(frozen=True, slots=True)
class Settings:
    """The queries of one kind. They apply to the messages that follow the settings in the feed.

    ``op``: the tag of the kind. ``source_topic``: the topic of the stream's records. ``is_planar``: true if positions
    are planar coordinates, false if they are degrees. ``limit``: the most objects or observations that one part, or one
    query, may hold. ``lateness_us``: the allowed lateness of the stream in microseconds. A watermark is the mark minus
    this time.
    """

    op: str
    source_topic: str
    is_planar: bool
    limit: int
    queries: tuple[QuerySettings, ...]
    lateness_us: int = 0

    def text(self, writer: str | None = None) -> str:
        """Return the settings as the text of a message. ``writer``: the writer to name in the message, if any."""
        return json.dumps({**_head(writer), "op": self.op, "settings": self.plain()}, **_COMPACT)

    def plain(self) -> dict[str, Any]:
        """Return the settings as a JSON object."""
        return {
            "source": self.source_topic,
            "planar": self.is_planar,
            "limit": self.limit,
            **({"lateness_us": self.lateness_us} if self.lateness_us else {}),
            "queries": [query.plain() for query in self.queries],
        }

    @staticmethod
    def of_plain(op: str, plain: Mapping[str, Any]) -> Settings:
        """Return the settings of a kind from their JSON object. Raise the errors of :meth:`QuerySettings.of_plain`."""
        queries = tuple(map(QuerySettings.of_plain, plain["queries"]))
        if len({query.id for query in queries}) < len(queries):
            raise ValueError("two queries have the same id")
        if type(plain["planar"]) is not bool:
            raise ValueError("planar is neither true nor false")
        # Earlier versions wrote no such field.
        lateness_us = duration_us(plain.get("lateness_us", 0))
        limit = whole_between(plain["limit"], 0)
        return Settings(op, _name(plain["source"]), plain["planar"], limit, queries, lateness_us)


@dataclass(frozen=True, slots=True)
class Watermarks:
    """A message with the watermark of each time expression, in microseconds since 1970."""

    by_time: Mapping[str, int]

    def text(self, writer: str | None = None) -> str:
        """Return the watermarks as the text of a message. ``writer``: the writer to name in the message, if any."""
        return json.dumps({**_head(writer), TIME_KEY: dict(sorted(self.by_time.items()))}, **_COMPACT)


# Not frozen, although nothing changes it: each record of a feed creates one, and a frozen one takes three times as
# long.
@dataclass(slots=True)
class Observation:
    """A record, reduced to the expressions of one track.

    ``op``: the tag of the kind. ``time_us``: microseconds since 1970. It is None if the record has no usable time, or
    if ``is_future``: the time is later than the record's own timestamp by more than the stream allows. ``position``:
    two numbers, or four for a box; empty if the track has no position. A number is None if the record has no value for
    it. ``selections``: the selections that accept the record, without repetition. For a join, a selection includes the
    shape (``selection/shape``). ``carried``: the values that conditions read, as the text of a JSON object; None if the
    track carries no values.
    """

    op: str
    track: str
    key: str | None
    time_us: int | None
    position: tuple[float | None, ...]
    partition: int
    offset: int
    selections: tuple[str, ...] = ()
    is_future: bool = False
    carried: str | None = None

    def text(self, writer: str | None = None) -> str:
        """Return the observation as the text of a message, in the same form as Spark writes it for a stream.
        ``writer``: the writer to name in the message, if any.
        """
        plain = {
            **_head(writer),
            "op": self.op,
            "t": self.track,
            "k": self.key,
            "e": self.time_us,
            **({"f": True} if self.is_future else {}),
            "x": list(self.position),
            **({} if self.carried is None else {"c": self.carried}),
            "p": self.partition,
            "o": self.offset,
            "s": list(self.selections),
        }
        return json.dumps(plain, **_COMPACT)

    @staticmethod
    def of_plain(plain: Mapping[str, Any]) -> Observation:
        """Return the observation in a JSON object, in which NULL fields are absent.

        Raise ValueError or TypeError if a field has a value that no record can have. So nothing in a feed makes its
        readers fail.
        """
        get = plain.get
        time_us, carried = get("e"), get("c")
        # A call for each field of each record would cost more than the check itself.
        return Observation(
            plain["op"],
            text_or_none(plain["t"]) or "",
            text_or_none(get("k")),
            None if time_us is None else whole(time_us),
            tuple(get("x") or ()),
            whole(plain["p"], 31),
            whole(plain["o"]),
            tuple([_name(each) for each in get("s", ())]),
            get("f") is True,
            None if carried is None else text_or_none(carried),
        )


Message = Settings | Watermarks | Observation


def parse(text: str | bytes, op: str, query_of: Callable[[QuerySettings], object]) -> tuple[Message, ...]:
    """Return the messages that a record of the feed contains for the kind with the tag ``op``. There is one message, or
    none if a record of form 1 is for another kind. ``query_of``: a function that reads a query of the kind from
    settings, and raises an exception for invalid settings.

    Raise ValueError, KeyError, TypeError or AttributeError if the record is no message of the kind. Raise FeedFormError
    if a later version wrote it.

    >>> parse(Watermarks({"a": 7}).text(), "near", lambda query: None)
    (Watermarks(by_time={'a': 7}),)
    """
    return messages_of(json.loads(text), op, query_of)


def messages_of(plain: Any, op: str, query_of: Callable[[QuerySettings], object]) -> tuple[Message, ...]:
    """Return the messages in the parsed text of a record, as :func:`parse` does."""
    # Form 1 has no tag, and field ``v`` has another meaning.
    if "op" not in plain and TIME_KEY not in plain:
        return tuple(_of_kind(own, query_of) for own in messages_of_form_1(plain, op))
    form, tag = plain["v"], plain.get("op", op)
    if tag != op:
        raise ValueError(f"{str(tag)[:50]} is another tag than {op}")
    if type(form) is not int or form < FORM:
        raise ValueError(f"{str(form)[:50]} is no form")
    if form > FORM:
        raise FeedFormError("form of a feed message", form, f"a later version wrote it: run that, {FORM} is known here")
    return (_of_kind(plain, query_of),)


def _head(writer: str | None) -> dict[str, Any]:
    """Return the fields with which a message begins: the form, and the writer if there is one."""
    return {"v": FORM} if writer is None else {"v": FORM, WRITER: writer}


def _of_kind(plain: Mapping[str, Any], query_of: Callable[[QuerySettings], object]) -> Message:
    if TIME_KEY in plain:
        # A watermark is a time minus the lateness, which may be less than the least integer of 64 bits.
        by_time = {str(time): whole(time_us, 64) for time, time_us in plain[TIME_KEY].items()}
        return Watermarks({time: time_us for time, time_us in by_time.items() if is_watermark(time_us)})
    if "settings" in plain:
        settings = Settings.of_plain(plain["op"], plain["settings"])
        for query in settings.queries:
            query_of(query)
        return settings
    return Observation.of_plain(plain)


def text_or_none(value: Any) -> str | None:
    """Return the value if it is None or a text that UTF-8 can encode, so that it can be written again. Raise ValueError
    or AttributeError for other values.
    """
    if value is not None and not value.isascii():
        value.encode()
    return value  # type: ignore[no-any-return]


def _name(given: Any) -> str:
    """Return the value if it can be the name of a selection or a query: a text that UTF-8 can encode. Raise ValueError
    or AttributeError for other values.
    """
    name = text_or_none(given)
    if name is None:
        raise ValueError("a name is missing")
    return name


def names(value: Any) -> tuple[str, ...]:
    """Return the elements of a list of names as a tuple. Raise ValueError, TypeError or AttributeError if the value is
    no list of names.
    """
    if not isinstance(value, (list, tuple)):
        raise TypeError("names are in a list")
    return tuple(map(_name, value))


def whole(value: Any, bits: int = 63) -> int:
    """Return the value if it is an integer of at most ``bits`` bits plus the sign. Raise ValueError for other
    values.
    """
    if type(value) is not int or not -(1 << bits) <= value < 1 << bits:
        raise ValueError(f"{str(value)[:50]} is no whole number of {bits} bits")
    return value


def whole_between(given: Any, least: int, most: int = (1 << 63) - 1) -> int:
    """Return the value if it is an integer from ``least`` to ``most``. Raise ValueError for other values."""
    if type(given) is not int or not least <= given <= most:
        raise ValueError(f"{str(given)[:50]} is no whole number from {least} to {most}")
    return given


def duration_us(given: Any, least_us: int = 0) -> int:
    """Return the value if it is a duration in whole microseconds, from ``least_us`` to SPAN_US. Raise ValueError for
    other values.
    """
    return whole_between(given, least_us, SPAN_US)


_COMPACT: Mapping[str, Any] = {"ensure_ascii": False, "separators": (",", ":")}
