"""So many requests of a caller at a time, and nobody waits for another."""

from __future__ import annotations

import asyncio

import pytest

from broker.access.concurrency_limit import ConcurrencyLimit


def test_those_beyond_wait_in_their_order_and_others_do_not() -> None:
    started: list[str] = []

    async def asked() -> None:
        turns = ConcurrencyLimit(2)
        done = {name: asyncio.Event() for name in ("a1", "a2", "a3", "a4", "b1")}

        async def request(name: str) -> None:
            async with turns.of(name[0]):
                started.append(name)
                await done[name].wait()

        tasks = []
        for name in done:
            tasks.append(asyncio.create_task(request(name)))
            await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        assert started == ["a1", "a2", "b1"]
        done["a2"].set()
        await asyncio.sleep(0.01)
        assert started[3:] == ["a3"]
        for event in done.values():
            event.set()
        await asyncio.gather(*tasks)
        assert turns._callers == {}

    asyncio.run(asked())
    assert started == ["a1", "a2", "b1", "a3", "a4"]


def test_a_request_that_fails_or_is_given_up_gives_its_turn_back() -> None:
    async def asked() -> None:
        turns = ConcurrencyLimit(1)
        for _ in range(2):
            with pytest.raises(ValueError, match="no"):
                async with turns.of("a"):
                    raise ValueError("no")

        async def wait() -> None:
            async with turns.of("a"):
                await asyncio.sleep(60)

        first, second = asyncio.create_task(wait()), asyncio.create_task(wait())
        await asyncio.sleep(0.01)
        for task in (second, first):
            task.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        assert turns._callers == {}

    asyncio.run(asked())
