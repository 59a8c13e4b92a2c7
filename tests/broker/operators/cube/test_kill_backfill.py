"""A daemon that is killed at each step of a backfill batch: its cube has every record once, and goes on by itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.broker.operators.cube.test_kill_daemon import BATCH, Cube, await_until, prelude

if TYPE_CHECKING:
    from conftest import Process

    from broker.kafka.embedded import EmbeddedKafka

# In the gate test_backfilling.py backfills between live batches, and test_keeper_model.py starts the keeper again.
pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(900)]

SMALL = """
import broker.operators.cube.backfill as of_cubes
of_cubes.BATCH_RECORDS = 700
"""
"""Python that makes the batches of a backfill small, so that there are several."""

_FOLDER = "broker.operators.cube.folder.CubeFolder"
STEPS = {
    "read, and not collected": prelude("broker.stream.fold_commits.FoldCommits", "collected", is_before=True),
    "collected, and not committed": prelude(_FOLDER, "commit_backfill", is_before=True),
    "committed": prelude(_FOLDER, "commit_backfill", is_before=False),
}


@pytest.fixture
def cube(process: Process, kafka: EmbeddedKafka) -> Cube:
    return Cube(process, kafka)


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_a_step_of_a_backfill_it_counts_each_record_once(cube: Cube, step: str) -> None:
    process = cube.process
    process.prelude = SMALL + STEPS[step]
    process.start()
    # The stream has no query yet, so nothing counts these records but the backfill.
    cube.publish(4 * BATCH)
    cube.register(**{"from": "earliest"})
    cube.publish(BATCH // 2)
    cube.await_killed()
    process.prelude = SMALL
    process.start()
    cube.publish(BATCH // 2)
    cube.check()


def test_killed_again_and_again_a_requested_backfill_counts_each_record_once(cube: Cube) -> None:
    process = cube.process
    process.prelude = SMALL
    process.start()
    cube.publish(12 * BATCH)
    cube.register()
    cube.publish(10)
    cube.await_count(10)
    address = "/v1/queries/all/cube/backfill"
    assert process.client.post(address, json={}).status_code == 200
    for begun in (0, 3 * BATCH // 2):
        await_until(lambda begun=begun: process.client.get(address).json()["backfilled"] > begun, process)
        assert process.child is not None
        os.kill(process.child.pid, 9)
        process.child.wait()
        process.start()
        cube.publish(10)
    cube.check()
    await_until(lambda: process.client.get(address).json()["phase"] == "done", process)
