"""Effect of each action at `accepted` on a client, before its first request."""

from __future__ import annotations

import pytest

from fauxka.faults.actions import Close, Delay, Drip, Hang, Observe, Reset
from fauxka.faults.rules.fault_rules import When
from fauxka.faults.rules.match import Match

from .interception_scene import interception_scene

pytestmark = pytest.mark.asyncio

# So that the connections by which a scene settles are not hit.
FIRST_CONNECTION = Match(connection=1)


async def test_observe_counts_connections() -> None:
    async with interception_scene() as scene:
        rule = scene.arm("accepted", Observe(), when=When(times=None))

        await (await scene.client()).produce(0)
        await scene.settle()

        assert rule.hits == 2


async def test_close_ends_a_connection_at_once() -> None:
    async with interception_scene() as scene:
        scene.arm("accepted", Close(), match=FIRST_CONNECTION)

        client = await scene.client()

        assert await client.ended() == b""


async def test_reset_resets_a_new_connection() -> None:
    async with interception_scene() as scene:
        scene.arm("accepted", Reset(), match=FIRST_CONNECTION)

        client = await scene.client()

        with pytest.raises(ConnectionResetError):
            await client.receive(1)


async def test_hang_never_reads() -> None:
    async with interception_scene() as scene:
        scene.arm("accepted", Hang(), match=FIRST_CONNECTION)
        client = await scene.client()

        await client.produce(0)
        await scene.settle()
        scene.clock.advance(86_400_000)
        await scene.settle()

        assert (client.waiting_bytes(), scene.log.log_end_offset) == (b"", 0)


async def test_hanging_connection_is_closed_by_a_reset_of_faults() -> None:
    async with interception_scene() as scene:
        scene.arm("accepted", Hang(), match=FIRST_CONNECTION)
        client = await scene.client()

        await scene.settle()
        scene.server.lift_faults()

        assert await client.ended() == b""


async def test_delay_reads_when_the_clock_advances() -> None:
    async with interception_scene() as scene:
        scene.arm("accepted", Delay(ms=100), match=FIRST_CONNECTION)
        client = await scene.client()

        await client.produce(0)
        await scene.settle()
        before = (client.waiting_bytes(), scene.log.log_end_offset)
        scene.clock.advance(100)

        assert before == (b"", 0)
        assert (await client.produced()).base_offset == 0


async def test_drip_sends_every_response_of_the_connection_in_pieces() -> None:
    async with interception_scene() as scene:
        scene.arm("accepted", Drip(bytes=30, every_ms=100), match=FIRST_CONNECTION)
        client = await scene.client()

        await client.produce(0)
        await scene.settle()
        first = client.waiting_bytes()
        scene.clock.advance(1000)
        answer = await client.produced()
        await client.produce(1)
        await scene.settle()
        second = client.waiting_bytes()
        scene.clock.advance(1000)
        next_answer = await client.produced()

        assert (len(first), len(second)) == (30, 30)
        assert (answer.base_offset, next_answer.base_offset) == (0, 1)
