"""Effect of each action at `answering` on a client: fewer, changed or slow bytes of the response."""

from __future__ import annotations

import pytest

from fauxka.faults.actions import Close, Corrupt, Delay, Drip, Drop, Error, Reset, Truncate
from fauxka.faults.rules.fault_rules import When
from fauxka.faults.rules.match import Match
from fauxka.protocol.error_codes import ErrorCode

from ..wire.frames import framed
from .interception_scene import (
    PRODUCE,
    PRODUCE_VERSION,
    TOPIC,
    RawClient,
    batch,
    interception_scene,
    produce_request,
)

pytestmark = pytest.mark.asyncio


async def answer_bytes() -> bytes:
    """Return the response to the first batch without a fault, size included."""
    async with interception_scene() as scene:
        client = await scene.client()
        await client.produce(0)
        return framed(await client.frame())


@pytest.mark.parametrize("size", [0, 1, 4, 20])
async def test_truncate_sends_the_first_bytes_and_ends_the_connection(size: int) -> None:
    whole = await answer_bytes()
    async with interception_scene() as scene:
        scene.arm("answering", Truncate(bytes=size))
        client = await scene.client()

        await client.produce(0)

        assert await client.ended() == whole[:size]
        assert scene.log.log_end_offset == 1


async def test_corrupt_changes_only_the_chosen_bytes() -> None:
    whole = await answer_bytes()
    async with interception_scene() as scene:
        scene.arm("answering", Corrupt(at=4, bytes=2))
        client = await scene.client()

        await client.produce(0)
        changed = await client.receive(len(whole))

        assert changed == whole[:4] + bytes(byte ^ 0xFF for byte in whole[4:6]) + whole[6:]


async def test_drip_sends_one_piece_per_interval() -> None:
    whole = await answer_bytes()
    async with interception_scene() as scene:
        scene.arm("answering", Drip(bytes=10, every_ms=100))
        client = await scene.client()

        await client.produce(0)
        await scene.settle()
        seen = [client.waiting_bytes()]
        for _ in range(2):
            scene.clock.advance(100)
            await scene.settle()
            seen.append(client.waiting_bytes())
        scene.clock.advance(100_000)

        assert seen == [whole[:10], whole[:20], whole[:30]]
        assert await client.receive(len(whole)) == whole


async def test_later_responses_follow_the_last_byte_of_a_drip() -> None:
    whole = await answer_bytes()
    async with interception_scene() as scene:
        scene.arm("answering", Drip(bytes=10, every_ms=100))
        client = await scene.client()

        await client.produce(0)
        await client.produce(1)
        await scene.settle()
        before = client.waiting_bytes()
        scene.clock.advance(100_000)

        assert before == whole[:10]
        assert await client.receive(len(whole)) == whole
        assert (await client.produced()).base_offset == 1


async def test_delay_sends_nothing_before_its_end() -> None:
    async with interception_scene() as scene:
        scene.arm("answering", Delay(ms=50))
        client = await scene.client()

        await client.produce(0)
        await scene.settle()
        before = client.waiting_bytes()
        scene.clock.advance(50)

        assert before == b""
        assert (await client.produced()).base_offset == 0


async def test_close_sends_nothing() -> None:
    async with interception_scene() as scene:
        scene.arm("answering", Close())
        client = await scene.client()

        await client.produce(0)

        assert await client.ended() == b""


async def test_reset_sends_nothing() -> None:
    async with interception_scene() as scene:
        scene.arm("answering", Reset())
        client = await scene.client()

        await client.produce(0)

        with pytest.raises(ConnectionResetError):
            await client.frame()


async def test_connection_stays_open_after_a_corrupt_response() -> None:
    async with interception_scene() as scene:
        scene.arm("answering", Corrupt(at=8, bytes=1), when=When(times=1))
        client = await scene.client()

        await client.produce(0)
        await client.frame()
        await client.produce(1)

        assert (await client.produced()).base_offset == 1


async def test_disconnect_during_a_drip_cancels_its_timers() -> None:
    async with interception_scene() as scene:
        scene.arm("answering", Drip(bytes=1, every_ms=100))
        client: RawClient = await scene.client()

        await client.produce(0)
        await scene.settle()
        client.close()
        await scene.settle()
        pending = scene.clock.pending_count

        scene.clock.advance(100)
        assert scene.clock.pending_count == pending


async def test_injected_error_passes_answering_as_any_response_does() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Error(error="NOT_LEADER_OR_FOLLOWER"))
        never_applied = scene.arm("applied", Drop())
        late = scene.arm("answering", Delay(ms=1_000))
        client = await scene.client()

        await client.produce(0)
        await scene.settle()
        before = client.waiting_bytes()
        scene.clock.advance(1_000)

        assert (before, (await client.produced()).error_code) == (b"", ErrorCode.NOT_LEADER_OR_FOLLOWER)
        assert (late.hits, never_applied.hits, scene.log.log_end_offset) == (1, 0, 0)


async def test_injected_error_of_one_partition_is_cut_off_with_the_rest() -> None:
    async with interception_scene() as scene:
        match = Match(api="Produce", topic=TOPIC, partition=0)
        scene.arm("received", Error(error="NOT_LEADER_OR_FOLLOWER"), match=match)
        cut = scene.arm("answering", Truncate(bytes=7))
        client = await scene.client()

        await client.send(PRODUCE, PRODUCE_VERSION, produce_request((0, batch(0)), (1, batch(0))))

        assert len(await client.ended()) == 7
        assert (cut.hits, scene.log.log_end_offset, scene.other_log.log_end_offset) == (1, 0, 1)
