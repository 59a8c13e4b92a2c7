"""The exposition as a whole: one that Prometheus reads, and to whom what is told."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import pytest
from prometheus_client.parser import text_string_to_metric_families

from broker.access.audit import Audit
from broker.access.scope import Scope, unlimited
from broker.errors import ForbiddenError
from broker.http.metrics import exposition, metric_forms, permitted_exposition
from broker.http.request_metrics import RequestCounts
from broker.http.scoped_service import ScopedService

if TYPE_CHECKING:
    from conftest import Counted, Resting

    from broker.stream.stream import Stream


def requests() -> RequestCounts:
    counts = RequestCounts(["/metrics"])
    counts.count("GET", "/metrics", 200, 0.25)
    return counts


def whole(streams: dict[str, Counted]) -> str:
    of_streams = cast("dict[str, Stream]", streams)
    return exposition(of_streams, {}, ready=True, requests=requests(), queries_max=100)


def samples(text: str) -> dict[tuple[str, ...], float]:
    families = text_string_to_metric_families(text)
    return {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}


def test_all_that_is_declared_is_told_in_the_format_of_prometheus(counted: Callable[[str], Counted]) -> None:
    name = 'a"b\\c\nd é'
    text = whole({name: counted(name)})
    typed = dict(line.split()[2:4] for line in text.splitlines() if line.startswith("# TYPE"))
    declared = {form.name: form.kind for form in metric_forms()}
    assert {name: kind for name, kind in typed.items() if name.startswith("asc_")} == declared
    assert not any(name.endswith("_created") for name in typed)
    found = samples(text)
    assert (found["asc_ready",], found["asc_queries", name]) == (1, 0)
    assert next(each for each in found if each[0] == "asc_build_info")[1][0].isdigit()
    # Of the process and of Python.
    assert found["process_resident_memory_bytes",] > 1e6
    assert {"process_start_time_seconds", "python_info", "python_gc_collections_total"} <= {each[0] for each in found}
    assert samples(text) == {**found, **samples(text)}


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is missing (Debian: package prometheus)")
def test_names_and_units_are_as_prometheus_has_them(counted: Callable[[str], Counted]) -> None:
    text = whole({"s": counted("s")})
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=text.encode(), capture_output=True, check=False, timeout=60
    )
    # The names of prometheus_client's own are not ours to choose.
    faults = [line for line in checked.stderr.decode().splitlines() if line.startswith("asc_")]
    assert (faults, b"error while linting" in checked.stderr) == ([], False)


class Starting:
    """A daemon that has not got as far as its streams."""

    def __getattr__(self, name: str) -> Any:
        from broker.errors import BrokerError

        def refused() -> None:
            raise BrokerError("daemon not ready, it is", "starting", "try again")

        return refused

    def readiness(self) -> str | None:
        return "starting"


def test_while_the_daemon_starts_it_says_so() -> None:
    permitted = ScopedService(cast("Any", Starting()), unlimited("all"), "127.0.0.1", Audit())
    found = samples(permitted_exposition(permitted, requests(), 100))
    assert found["asc_ready",] == 0
    assert found["asc_api_requests_total", "GET", "/metrics", "200"] == 1
    assert not any(name[0].startswith("asc_stream") for name in found)


@pytest.mark.kafka
@pytest.mark.spark
def test_one_is_told_of_the_streams_one_sees(resting: Resting) -> None:
    one, other = resting.config.streams
    text = permitted_exposition(resting.within(Scope("one", streams=frozenset([one]))), requests(), 100)
    assert one in text
    assert other not in text
    assert "asc_api_requests" not in text
    assert "process_" not in text
    whole = permitted_exposition(resting.permitted, requests(), 100)
    assert {one, other} <= {name[1] for name in samples(whole) if name[0] == "asc_queries"}
    assert "asc_api_requests" in whole
    with pytest.raises(ForbiddenError, match="tells of queries that token 'ops' does not see"):
        permitted_exposition(resting.within(Scope("ops", id_prefix="ops-")), requests(), 100)
