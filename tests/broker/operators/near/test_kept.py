"""The observations of a near query, in answers of the API."""

from __future__ import annotations

from asc.operators.feed import Observation, Settings, Watermarks
from asc.operators.near.near_query import NearQuery
from asc.operators.near.ticks import Ticks
from broker.operators.near.kept import NearKept

S = 1_000_000
QUERY = NearQuery("close", "closes", "n1", "ts", ("close",), ("near", "apart"), 1_000.0, 30 * S, 10 * S)


def test_the_observations_are_reported_also_after_the_state_was_read() -> None:
    settings = Settings("near", "flights", False, 100, (QUERY.settings(),))
    texts = [settings.text()]
    for offset, key in enumerate("ab"):
        texts.append(Observation("near", "n1", key, 15 * S, (7.5, 47.0), 0, offset, ("close",)).text())
    ticks = Ticks()
    for wanted, more in (
        ({"observations": 2}, texts),
        ({"observations": 2}, [Watermarks({"ts": 31 * S}).text()]),
        ({"observations": 0}, [Watermarks({"ts": 91 * S}).text()]),
    ):
        list(ticks.read(more))
        assert ticks.counts.latest == {"close": wanted}
        ticks = Ticks.of_bytes(ticks.to_bytes())
        list(ticks.read([]))
        assert ticks.counts.latest == {"close": wanted}
        found = NearKept.model_validate({"name": "near", **wanted})
        assert found.model_dump(exclude_unset=True) == {"name": "near", **wanted}
