"""Conversion of feed messages from form 1 to form 2. An earlier version, which had no selections, wrote form 1.

Form 1 has no tags. Settings list event queries and near queries as arrays. Observations list the queries that accept
the record. Watermarks are per track. In form 2 each such query becomes a selection with the name of the query, and each
track becomes a time expression with the name of the track. So an old message keeps its meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_EVENTS, _NEAR = "events", "near"
_NEAR_TRACK = "n"
"""The first letter of the name of each near track in form 1. The names of other tracks were hexadecimal."""

_BETWEEN_IDS = "\x1f"


def messages_of_form_1(plain: Mapping[str, Any], op: str) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects of form 2 that correspond to a message of form 1, for the kind ``op``. Yield nothing if
    the message is only for other kinds.

    >>> [*messages_of_form_1({"watermarks": {"n1": 7, "ab": 8}}, "near")]
    [{'time': {'n1': 7}}]
    """
    if "t" in plain:
        if _kind_of(plain["t"]) == op:
            yield _observation(plain, op)
    elif "settings" in plain:
        settings = settings_of_form_1(plain["settings"], op)
        if settings is not None:
            yield {"op": op, "settings": settings}
    else:
        own = {track: time_us for track, time_us in plain["watermarks"].items() if _kind_of(track) == op}
        if own:
            yield {"time": own}


def settings_of_form_1(plain: Mapping[str, Any], op: str) -> dict[str, Any] | None:
    """Return settings of form 1 as the settings of the kind ``op`` in form 2. Return None if form 1 did not have the
    kind.
    """
    if op == _EVENTS:
        limit, queries = plain["objects_max"], list(map(_event_query, plain["queries"]))
    elif op == _NEAR:
        limit, queries = plain.get("near_objects_max", 0), list(map(_near_query, plain.get("near", ())))
    else:
        return None
    return {"source": plain["source"], "planar": plain["planar"], "limit": limit, "queries": queries}


def _kind_of(track: str) -> str:
    return _NEAR if track.startswith(_NEAR_TRACK) else _EVENTS


def _observation(plain: Mapping[str, Any], op: str) -> dict[str, Any]:
    accepted = plain.get("q")
    return {
        "op": op,
        **{name: plain[name] for name in ("t", "k", "e", "x", "p", "o") if name in plain},
        "f": plain.get("a", False),
        "c": plain.get("v"),
        "s": accepted.split(_BETWEEN_IDS) if accepted else [],
    }


def _event_query(plain: Sequence[Any]) -> dict[str, Any]:
    query_id, topic, track, kinds, dwell_us, lost_after_us = plain
    definition = {"events": kinds, "dwell_us": dwell_us, "lost_after_us": lost_after_us}
    return _query(query_id, topic, track, definition)


def _near_query(plain: Sequence[Any]) -> dict[str, Any]:
    query_id, topic, track, kinds, distance_m, window_us, every_us, condition = plain
    definition = {"distance_m": distance_m, "window_us": window_us, "every_us": every_us, "on": condition}
    return _query(query_id, topic, track, {**definition, "events": kinds})


def _query(query_id: str, topic: str, track: str, definition: Mapping[str, Any]) -> dict[str, Any]:
    names = {"id": query_id, "topic": topic, "track": track, "time": track}
    return {**names, "selections": [query_id], "definition": definition}
