"""``asc demo aircraft``: geofences over simulated aircraft, and the report of the demonstration."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import shapely
from shapely.geometry.base import BaseGeometry

from asc.errors import ShapeError
from asc.layer_file import file_rows
from asc.spatial.feature import feature_document
from asc.spatial.reading import Rules
from broker.consuming.consume import delivery_of
from cli.client import kafka_of, stream_of
from cli.demo.crossings import JOIN, crossings, join_body, lines_of, received_crossings
from cli.demo.crossings import compared as crossings_compared
from cli.demo.crowds import QUERY as CROWDS_QUERY
from cli.demo.crowds import compared as crowds_compared
from cli.demo.crowds import crowds_body, crowds_of, received_windows
from cli.demo.crowds import lines_of as crowd_lines
from cli.demo.daemon import PATIENCE_S, QUIET_S, Topics, demo_daemon, receive, say
from cli.demo.pairs import QUERY as NEAR_QUERY
from cli.demo.pairs import compared as pairs_compared
from cli.demo.pairs import later_rows, meetings, near_body, received_pairs
from cli.demo.pairs import lines_of as pair_lines
from cli.demo.run import compare
from cli.output import table_text
from cli.record_output import record_json
from workloads.aircraft import SCHEMA, Aircraft, Reports, rows, simulated
from workloads.natural_earth import countries_path

if TYPE_CHECKING:
    from broker.client.client import Client
    from broker.kafka.client import KafkaClient

Mask = npt.NDArray[np.bool_]

STREAM, LAYER = "aircraft", "countries"
AIRCRAFT, HOURS = 250, 2
SHOWN = ("CHE", "AUT", "DEU", "FRA", "ITA")
"""The countries for which the demonstration registers a predicate."""

AIRPORT = ("zurich", 8.5481, 47.4515, 20_000.0)
"""Name, longitude and latitude of an airport, and the distance in metres within which an aircraft is near it."""

LOW_FT = 30_000
_HIGH_FT = 38_000
_EARTH_M = 6_371_008


@dataclass(frozen=True, slots=True)
class Fence:
    """A predicate, and its oracle: a function that computes, by shapely or a plain loop, the reports that the predicate
    accepts. The predicate's topic must contain exactly these reports.
    """

    where: str
    oracle: Callable[[Mapping[str, BaseGeometry], Reports], Mask]


def fences() -> Mapping[str, Fence]:
    """Return the predicates of the demonstration, by id."""
    position = "ST_Point(longitude, latitude)"
    name, x, y, near_m = AIRPORT
    fences_by_id = {
        f"over-{code.lower()}": Fence(
            f"ST_Contains(shape('{LAYER}', '{code}'), {position})",
            lambda shapes, reports, code=code: _within(shapes[code], reports),  # type: ignore[misc]
        )
        for code in SHOWN
    }
    fences_by_id["low-over-che"] = Fence(
        f"ST_Contains(shape('{LAYER}', 'CHE'), {position}) AND altitude < {LOW_FT}",
        lambda shapes, reports: _within(shapes["CHE"], reports) & (reports.altitude_ft < LOW_FT),
    )
    fences_by_id["high-elsewhere"] = Fence(
        f"NOT ST_Covers(shape('{LAYER}', 'CHE'), {position}) AND altitude >= {_HIGH_FT}",
        lambda shapes, reports: ~_covered(shapes["CHE"], reports) & (reports.altitude_ft >= _HIGH_FT),
    )
    fences_by_id[f"near-{name}"] = Fence(
        f"ST_DistanceSphere(ST_Point({x}, {y}), {position}) <= {near_m:.0f}",
        lambda _, reports: _near(x, y, near_m, reports),
    )
    return MappingProxyType(fences_by_id)


def run_aircraft(picture: Path | None = None) -> dict[str, Any]:
    """Run the demonstration in a temporary folder, and return the report. ``agrees`` in the report is true if every
    topic contains exactly the expected records.
    """
    stream = {"topic": STREAM, "format": "json", "schema": SCHEMA, "starting_offsets": "earliest"}
    tables = {"streams": {STREAM: stream}, "layers": {LAYER: {"topic": LAYER}}}
    aircraft, reports = simulated(AIRCRAFT, duration_s=HOURS * 3_600)
    with demo_daemon(tables) as (client, _):
        report = flown_through(client, aircraft, reports)
    if picture is not None:
        from cli.demo.map import draw_map

        is_drawn = draw_map(picture, aircraft, reports, report["accepted"], report["crossings"])
        report["picture"] = str(picture) if is_drawn else None
    del report["accepted"], report["crossings"]
    return report


def flown_through(client: Client, aircraft: list[Aircraft], reports: Reports) -> dict[str, Any]:
    """Send the reports through a daemon, and compare its output with the expected output. The daemon has only the
    demonstration's stream and layer.
    """
    from broker.kafka.batch_sender import BatchSender

    shapes, refused = _put_countries(client)
    wanted = fences()
    say(f"registering {len(wanted)} predicates through {client.url} ...")
    client.apply({"id": query_id, "where": fence.where} for query_id, fence in wanted.items())
    topics = {query["id"]: query["topic"] for query in client.list()}
    say(f"registering join {JOIN}, of events, over the {len(shapes)} shapes of layer {LAYER} ...")
    join_topic = client.register(join_body(STREAM, LAYER))["query"]["topic"]
    say(f"registering near query {NEAR_QUERY}, of aircraft that come near each other ...")
    near_topic = client.register(near_body(STREAM))["query"]["topic"]
    say(f"registering DBSCAN query {CROWDS_QUERY}, of crowds of aircraft that merge and split ...")
    crowds_topic = client.register(crowds_body(STREAM))["query"]["topic"]
    say("asking shapely, and plain loops, what each accepts and tells ...")
    accepted = {query_id: fence.oracle(shapes, reports) for query_id, fence in wanted.items()}
    expected = {query_id: Counter(mask.nonzero()[0].tolist()) for query_id, mask in accepted.items()}
    crossed, met, crowds = crossings(shapes, reports), meetings(aircraft, reports), crowds_of(reports)
    every_topic = [*topics.values(), join_topic]
    topic, kafka = stream_of(client, STREAM)["topic"], kafka_of(client, None)
    with kafka.reading(every_topic, from_beginning=True) as messages:
        say(f"publishing {len(reports):,} reports of {len(aircraft)} aircraft into topic {topic} ...")
        started = time.monotonic()
        with BatchSender(kafka, topic) as sender:
            content = [(json.dumps(row).encode(), row["icao24"].encode()) for row in rows(aircraft, reports)]
            sender.send([value for value, _ in content], [key for _, key in content])
            sender.flush()
        say("receiving from every topic ...")
        received, last = receive(messages, every_topic, sum(each.total() for each in expected.values()) + len(crossed))
    # The topic is new, has one partition, and is written in order, so that the offset of a report is its number.
    row_of = {f"{topic}-0-{row}": row for row in range(len(reports))}
    say("receiving pairs and crowds, as later reports let time pass ...")

    def are_there(later: Topics) -> bool:
        windows, _ = received_windows(later[crowds_topic], row_of)
        return len(received_pairs(later[near_topic])) >= len(met) and len(windows) >= len(crowds)

    later = _received_later(kafka, topic, (near_topic, crowds_topic), are_there)
    pairs, (windows, changes) = received_pairs(later[near_topic]), received_windows(later[crowds_topic], row_of)
    compared = {query_id: compare(received[name], row_of, expected[query_id]) for query_id, name in topics.items()}
    events = received_crossings(received.pop(join_topic), row_of)
    beside = (crossings_compared(events, crossed), pairs_compared(pairs, met), crowds_compared(windows, crowds))
    return {
        "agrees": all(one["agrees"] for one in (*beside, *compared.values())),
        "countries": {"shapes": len(shapes), "refused": refused},
        "topics": [
            {"query": query_id, "where": wanted[query_id].where, "topic": name, **compared[query_id]}
            for query_id, name in topics.items()
        ],
        "events": {"query": JOIN, "topic": join_topic, **beside[0]},
        "pairs": {"query": NEAR_QUERY, "topic": near_topic, **beside[1]},
        "crowds": {"query": CROWDS_QUERY, "topic": crowds_topic, **beside[2]},
        "last_events": sorted(
            [*lines_of(events, LAYER, aircraft, reports), *pair_lines(pairs, aircraft), *crowd_lines(changes)]
        ),
        "reports": len(reports),
        "aircraft": len(aircraft),
        "deliveries": sum(map(len, received.values())),
        "until_last_delivery_s": round(last - started, 3),
        "accepted": accepted,
        "crossings": crossed,
    }


def _received_later(
    kafka: KafkaClient, topic: str, topics: Sequence[str], are_there: Callable[[Topics], bool]
) -> Topics:
    """Publish reports with later and later times, so that ticks and windows become final, and return the records that
    arrive in ``topics``. End when no record has arrived for two seconds and ``are_there`` accepts the records, or when
    no record has arrived for a minute.
    """
    from broker.kafka.batch_sender import BatchSender

    later, received = later_rows(), Topics({name: [] for name in topics})
    came, is_whole = time.monotonic(), False
    with kafka.reading(topics, from_beginning=True) as messages:
        while time.monotonic() - came < (QUIET_S if is_whole else PATIENCE_S):
            with BatchSender(kafka, topic) as sender:
                sender.send([json.dumps(next(later)).encode()], [b"ffffff"])
                sender.flush()
            until, count = time.monotonic() + 1, sum(map(len, received.values()))
            while time.monotonic() < until:
                for batch in messages.poll(timeout_ms=200).values():
                    for message in batch:
                        received[message.topic].append(record_json(delivery_of(message)))
                        came = time.monotonic()
            if sum(map(len, received.values())) > count:
                is_whole = are_there(received)
    return received


def _put_countries(client: Client) -> tuple[dict[str, BaseGeometry], dict[str, str]]:
    """Put the packaged countries into the layer. Return the stored shapes by country code, and the reason for each
    refused shape.
    """
    shapes: dict[str, BaseGeometry] = {}
    refused: dict[str, str] = {}
    lines = []
    for one in file_rows(countries_path(), Rules(), "ADM0_A3"):
        if isinstance(one.row, ShapeError):
            refused[one.id] = str(one.row.value)
        elif one.row.shape is not None:
            shapes[one.id] = one.row.shape
            lines.append(json.dumps({"id": one.id, **feature_document(one.row)}))
    client.layers.put(LAYER, "\n".join(lines).encode())
    return shapes, refused


def _within(shape: BaseGeometry, reports: Reports) -> Mask:
    return np.asarray(shapely.contains(shape, _positions(reports)), dtype=np.bool_)


def _covered(shape: BaseGeometry, reports: Reports) -> Mask:
    return np.asarray(shapely.covers(shape, _positions(reports)), dtype=np.bool_)


def _positions(reports: Reports) -> Any:
    return shapely.points(reports.longitude, reports.latitude)


def _near(x: float, y: float, near_m: float, reports: Reports) -> Mask:
    places = zip(reports.longitude.tolist(), reports.latitude.tolist(), strict=True)
    return np.array([_haversine_m(x, y, *place) <= near_m for place in places])


def _haversine_m(x1: float, y1: float, x2: float, y2: float) -> float:
    """Return the distance in metres on the sphere between two positions in degrees."""
    across, up = math.radians(x2 - x1) / 2, math.radians(y2 - y1) / 2
    chord = math.sin(up) ** 2 + math.cos(math.radians(y1)) * math.cos(math.radians(y2)) * math.sin(across) ** 2
    return 2 * _EARTH_M * math.asin(math.sqrt(chord))


def report_text(report: Mapping[str, Any]) -> str:
    """Return the report as text for the terminal."""
    refused = [f"{code} {reason} (--repair mends it)" for code, reason in report["countries"]["refused"].items()]
    topics = table_text(
        ["topic", "received", "shapely", "agrees", "predicate"],
        [[topic[name] for name in ("topic", "received", "expected", "agrees", "where")] for topic in report["topics"]],
    )
    events, pairs, crowds = report["events"], report["pairs"], report["crowds"]
    verdict = "every topic holds exactly the reports, events and labels that shapely and plain loops have"
    lines = [
        f"countries: {report['countries']['shapes']} shapes, {len(refused)} refused: {', '.join(refused)}",
        topics,
        "\n".join(report["last_events"]),
        f"{events['received']:,} events in {events['topic']}, {events['expected']:,} by shapely and a loop; "
        f"{pairs['received']:,} in {pairs['topic']}, {pairs['expected']:,} by loops.",
        f"{crowds['received']:,} labels of {crowds['windows']:,} windows in {crowds['topic']}, "
        f"{crowds['expected']:,} by the definition of DBSCAN over all pairs.",
        f"{report['reports']:,} reports of {report['aircraft']} aircraft, {report['deliveries']:,} deliveries "
        f"received: the last one {report['until_last_delivery_s']} s after the first report was sent, into a stream "
        "that had just begun.",
    ]
    if report.get("picture"):
        lines.append(f"A map of it: {report['picture']}.png and .svg")
    elif "picture" in report:
        lines.append("No map is drawn, for matplotlib is not installed.")
    return "\n\n".join([*lines, f"OK: {verdict}." if report["agrees"] else f"FAILED: not {verdict}."])
