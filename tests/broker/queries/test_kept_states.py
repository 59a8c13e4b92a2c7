"""States that workers fill: kept for as long as their query stands, whatever becomes of the daemon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from asc.operators.cube.definition import CubeDefinition
from broker.operators.cube.folder import CubeFolder
from broker.operators.fold_destination import folds_in
from broker.operators.kinds import definition_of
from broker.queries.change import Put, Remove
from broker.queries.kept_states import keep_states
from broker.queries.query import RegisteredQuery
from broker.queries.recovered_state import RecoveredState
from broker.queries.registrar import Registrar
from broker.queries.snapshot import Snapshots
from tests.broker.operators.cube.kept_stream import BASE_US, MINUTE_US, at, batch, partial, topic_of

if TYPE_CHECKING:
    from conftest import Resting

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

DBSCAN = {"name": "dbscan", "attributes": ["n"], "eps": 1, "min_samples": 2, "window_s": 60, "slide_s": 10}
CUBE = {"name": "cube", "measures": ["count(*) AS c"], "grain_s": 60}


@pytest.fixture(autouse=True)
def nothing_is_left(resting: Resting) -> Iterator[None]:
    yield
    left = [query.id for query in resting.registrar().standing if query.id.startswith("kept-")]
    resting.registrar().apply([Remove(query_id) for query_id in left]).raised()


def put(resting: Resting, query_id: str, where: str = "n > 1", plain: dict[str, Any] | None = CUBE, **more: Any) -> Put:
    # The topic of a cube is compacted, and of no use to others.
    operator, topic = (None, "kept-routed") if plain is None else (definition_of(plain), f"asc.{query_id}")
    return Put(RegisteredQuery(query_id, resting.stream("json"), where, topic, operator=operator, **more))


def since(resting: Resting, query_id: str) -> int:
    """That of a query, which the registry and the plan have as well."""
    registrar = resting.registrar()
    found = registrar.standing.get(query_id).since
    assert resting.registry.load().queries[query_id].since == found
    planned = {own.id: own.since for own in folds_in(resting.streams()[resting.stream("json")].running.plan)}
    assert planned.get(query_id, found) == found
    return found


def kept(resting: Resting) -> set[str]:
    folder = resting.streams()[resting.stream("json")].folders["cube"]
    assert isinstance(folder, CubeFolder)
    return {cube.query for cube in folder.keeper.snapshot.cubes}


def test_a_registration_is_told_from_one_that_was_removed(resting: Resting) -> None:
    registrar = resting.registrar()
    registrar.apply([put(resting, "kept-a"), put(resting, "kept-b"), put(resting, "kept-c", plain=None)]).raised()
    first = since(resting, "kept-a")
    assert kept(resting) >= {"kept-a", "kept-b"}
    assert registrar.standing.get("kept-c").since == -1
    # Replaced, paused and resumed, it is the same registration.
    for change in (put(resting, "kept-a", "n > 2"), put(resting, "kept-a", "n > 2", paused=True)):
        registrar.apply([change]).raised()
        assert (since(resting, "kept-a"), "kept-a" in kept(resting)) == (first, True)
    registrar.apply([put(resting, "kept-a", "n > 2")]).raised()
    assert since(resting, "kept-a") == first
    registrar.apply([Remove("kept-a")]).raised()
    assert "kept-a" not in kept(resting)
    registrar.apply([put(resting, "kept-a", "n > 2")]).raised()
    assert since(resting, "kept-a") > first
    # As a query of another kind it has no state, and begins anew as a cube.
    again = since(resting, "kept-a")
    registrar.apply([put(resting, "kept-a", "n > 2", plain=None)]).raised()
    assert "kept-a" not in kept(resting)
    registrar.apply([put(resting, "kept-a", "n > 2")]).raised()
    assert since(resting, "kept-a") > again


def test_a_pause_discards_the_state_that_a_reader_of_the_feed_has(resting: Resting) -> None:
    registrar = resting.registrar()

    def registered(where: str, **more: Any) -> int:
        registrar.apply([put(resting, "kept-w", where, DBSCAN, **more)]).raised()
        found = registrar.standing.get("kept-w").since
        assert resting.registry.load().queries["kept-w"].since == found
        return found

    first = registered("n > 1")
    assert first == registered("n > 2")
    registered("n > 2", paused=True)
    resumed = registered("n > 2")
    assert resumed > first
    # No record came: the plan alone tells it from the one before the pause.
    destinations = resting.streams()[resting.stream("json")].running.plan.destinations
    (own,) = [each for each in destinations.used() if each.name == "kept-w"]
    assert json.loads(own.definition)["query"]["definition"]["since"] == resumed


def test_bands_that_no_pane_could_go_on_to_are_refused(resting: Resting) -> None:
    registrar = resting.registrar()

    def keeping(*keep: str, **more: Any) -> list[Put]:
        return [put(resting, "kept-h", plain={**CUBE, "keep": list(keep)}, **more)]

    registrar.apply(keeping("1min:1h", "6min:3h")).raised()
    folder = resting.streams()[resting.stream("json")].folders["cube"]
    assert isinstance(folder, CubeFolder)
    (cube,) = [own for own in folder.keeper.snapshot.cubes if own.query == "kept-h"]
    counted = CubeDefinition.parse({**CUBE, "time": "t"})
    topic = topic_of(*(at(each) for each in range(241)))
    folder.keeper.commit(
        batch(0, 241), {cube: partial(counted, [topic.partitions[0]])}, {"_timestamp": {0: BASE_US + 240 * MINUTE_US}}
    )
    folder.keeper.bands.age(10)
    version = registrar.standing.version
    for paused in (False, True):
        outcome = registrar.apply(keeping("1min:1h", "8min:3h", paused=paused))
        assert "operator.keep '8min:3h': does not fit the older panes, which are stored as () at 6min" in str(
            outcome.refused[0]
        )
    assert (registrar.standing.version, folder.keeper.bands.problem(cube)) == (version, None)
    assert 0 in registrar.rehearsed(keeping("1min:1h", "8min:3h")).refused
    registrar.apply(keeping("1min:1h", "12min:3h")).raised()
    registrar.apply([Remove("kept-h")]).raised()
    registrar.apply(keeping("1min:1h", "8min:3h")).raised()


def test_one_that_expires_is_deleted(resting: Resting, monkeypatch: pytest.MonkeyPatch) -> None:
    registrar = resting.registrar()
    soon = datetime.now(timezone.utc) + timedelta(days=1)
    registrar.apply([put(resting, "kept-brief", expires_at=soon)]).raised()
    assert "kept-brief" in kept(resting)
    monkeypatch.setattr("broker.queries.registrar._now", lambda: soon)
    assert registrar.expire() == ["kept-brief"]
    assert "kept-brief" not in kept(resting)


def test_a_daemon_that_starts_deletes_what_was_removed_without_it(resting: Resting) -> None:
    registrar = resting.registrar()
    registrar.apply([put(resting, "kept-d"), put(resting, "kept-e"), put(resting, "kept-f", paused=True)]).raised()
    before = since(resting, "kept-e")
    # Its state is there though it was never in a plan, as after a pause.
    registrar.apply([put(resting, "kept-f")]).raised()
    registrar.apply([put(resting, "kept-f", paused=True)]).raised()
    snapshots = Snapshots.of(resting.config, resting.cluster, dict.fromkeys(resting.config.streams, ""))
    snapshots.write(registrar.standing, {name: own.running.plan for name, own in resting.streams().items()})
    resting.registry.write((), ["kept-d"])
    other = Registrar(resting.config, resting.cluster, resting.registry, resting.streams())
    try:
        other.load()
        assert kept(resting) >= {"kept-e", "kept-f"}
        assert "kept-d" not in kept(resting)
        assert other.standing.get("kept-e").since == before
    finally:
        other.close()
        registrar._query_state.relearn()
    stored = RecoveredState.read(snapshots, resting.registry, ())
    assert stored is not None
    assert stored.at()[0].get("kept-e").since == before


def test_one_that_cannot_be_read_keeps_its_state(resting: Resting) -> None:
    registrar = resting.registrar()
    registrar.apply([put(resting, "kept-g")]).raised()
    standing = registrar.standing
    unread = replace(standing.get("kept-g"), stream="", unreadable="is of a later version", operator=None)
    keep_states(resting.streams(), standing.changed([unread], (), standing.version), {})
    assert "kept-g" in kept(resting)
    keep_states(resting.streams(), standing.changed((), ["kept-g"], standing.version), {})
    assert "kept-g" not in kept(resting)
