"""Effect of each action at `applied` on a client: its batch is appended; the response is lost, late or false."""

from __future__ import annotations

import pytest

from fauxka.faults.actions import Close, Delay, Drop, Error, Hang, Hold, Observe, Reset, Throttle
from fauxka.faults.rules.fault_rules import When
from fauxka.faults.rules.match import Match
from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.api_versions import ApiVersionsRequest
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic

from .interception_scene import (
    API_VERSIONS,
    PRODUCE,
    PRODUCE_VERSION,
    TOPIC,
    batch,
    interception_scene,
    produce_request,
)

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize("action", [Close(), Reset()], ids=["close", "reset"])
async def test_retry_after_a_lost_acknowledgement_gets_the_first_offset(action: Close | Reset) -> None:
    async with interception_scene() as scene:
        scene.arm("applied", action)
        client = await scene.client()

        await client.produce(0)
        with pytest.raises((EOFError, ConnectionResetError)) as ended:
            await client.frame()
        again = await scene.client()
        await again.produce(0)
        answer = await again.produced()

        assert isinstance(ended.value, EOFError if isinstance(action, Close) else ConnectionResetError)
        assert (answer.error_code, answer.base_offset, scene.log.log_end_offset) == (0, 0, 1)


async def test_connection_stays_open_after_a_dropped_response() -> None:
    async with interception_scene() as scene:
        scene.arm("applied", Drop())
        client = await scene.client()

        await client.produce(0)
        await client.produce(1)
        answer = await client.produced()

        assert (answer.base_offset, scene.log.log_end_offset) == (1, 2)


async def test_error_at_applied_keeps_the_append() -> None:
    async with interception_scene() as scene:
        scene.arm("applied", Error(error="REQUEST_TIMED_OUT"))
        client = await scene.client()

        await client.produce(0)
        answer = await client.produced()

        assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT
        assert scene.log.log_end_offset == 1


async def test_error_for_one_partition_keeps_the_response_of_the_other() -> None:
    async with interception_scene() as scene:
        match = Match(api="Produce", topic=TOPIC, partition=1)
        scene.arm("applied", Error(error="NOT_ENOUGH_REPLICAS_AFTER_APPEND"), match=match)
        client = await scene.client()

        await client.send(PRODUCE, PRODUCE_VERSION, produce_request((0, batch(0)), (1, batch(0))))
        (topic,) = (await client.produce_answer()).responses

        codes = {each.index: each.error_code for each in topic.partition_responses}
        assert codes == {0: ErrorCode.NONE, 1: ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND}
        assert (scene.log.log_end_offset, scene.other_log.log_end_offset) == (1, 1)


async def test_delayed_response_is_sent_when_the_clock_advances() -> None:
    async with interception_scene() as scene:
        scene.arm("applied", Delay(ms=30_000))
        client = await scene.client()

        await client.produce(0)
        await scene.settle()
        before = (client.waiting_bytes(), scene.log.log_end_offset)
        scene.clock.advance(30_000)

        assert before == (b"", 1)
        assert (await client.produced()).base_offset == 0


async def test_later_responses_wait_for_a_delayed_one() -> None:
    async with interception_scene() as scene:
        scene.arm("applied", Delay(ms=10))
        client = await scene.client()

        first = await client.produce(0)
        second = await client.send(API_VERSIONS, 0, ApiVersionsRequest())
        await scene.settle()
        before = client.waiting_bytes()
        scene.clock.advance(10)
        answered = [(await client.frame())[:4], (await client.frame())[:4]]

        assert before == b""
        assert answered == [first.to_bytes(4), second.to_bytes(4)]


async def test_hanging_response_is_never_sent() -> None:
    async with interception_scene() as scene:
        scene.arm("applied", Hang())
        client = await scene.client()

        await client.produce(0)
        await scene.settle()
        scene.clock.advance(86_400_000)
        await scene.settle()

        assert (client.waiting_bytes(), scene.log.log_end_offset) == (b"", 1)


async def test_held_response_is_sent_at_its_release() -> None:
    async with interception_scene() as scene:
        scene.arm("applied", Hold())
        client = await scene.client()

        await client.produce(0)
        await scene.settle()
        (held,) = scene.server.held.items()
        scene.server.held.release([held.held_id])

        assert (held.point, (await client.produced()).base_offset) == ("applied", 0)


async def test_throttle_sets_throttle_time_ms() -> None:
    async with interception_scene() as scene:
        scene.arm("applied", Throttle(ms=77))
        client = await scene.client()

        await client.produce(0)

        assert (await client.produce_answer()).throttle_time_ms == 77


async def test_observe_counts_requests_without_a_response() -> None:
    async with interception_scene() as scene:
        rule = scene.arm("applied", Observe(), when=When(times=None))
        client = await scene.client()

        await client.produce(0, acks=0)
        await scene.settle()

        assert (rule.hits, client.waiting_bytes(), scene.log.log_end_offset) == (1, b"", 1)


async def test_fault_applies_to_a_waiting_fetch_when_it_has_a_response() -> None:
    async with interception_scene() as scene:
        rule = scene.arm("applied", Close(), match=Match(api="Fetch", topic=TOPIC))
        consumer, producer = await scene.client(), await scene.client()
        topic = FetchTopic(
            topic=TOPIC, partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)]
        )

        await consumer.send(APIS[ApiKey.FETCH], 11, FetchRequest(max_wait_ms=60_000, min_bytes=1, topics=[topic]))
        await scene.settle()
        before = rule.hits
        await producer.produce(0)
        await producer.produced()

        assert await consumer.ended() == b""
        assert (before, rule.hits) == (0, 1)
