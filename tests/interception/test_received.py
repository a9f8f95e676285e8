"""Effect of each action at `received` on a client: its request is not applied yet."""

from __future__ import annotations

import pytest

from fauxka.faults.actions import Close, Delay, DeliverTwice, Drop, Error, Hang, Hold, Observe, Reset, Throttle
from fauxka.faults.rules.fault_rules import When
from fauxka.faults.rules.match import Match
from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.client_requests import read_response
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.api_versions import ApiVersionsRequest
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic

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

FETCH = APIS[ApiKey.FETCH]


async def test_observe_only_counts() -> None:
    async with interception_scene() as scene:
        rule = scene.arm("received", Observe(), when=When(times=None))
        client = await scene.client()

        await client.produce(0)
        answer = await client.produced()

        assert (answer.error_code, answer.base_offset, rule.hits) == (0, 0, 1)


async def test_error_at_received_appends_nothing() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Error(error="NOT_LEADER_OR_FOLLOWER"))
        client = await scene.client()

        await client.produce(0)
        answer = await client.produced()

        assert (answer.error_code, answer.base_offset) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
        assert scene.log.log_end_offset == 0


async def test_error_for_one_partition_appends_the_other() -> None:
    async with interception_scene() as scene:
        match = Match(api="Produce", topic=TOPIC, partition=0)
        scene.arm("received", Error(error="NOT_LEADER_OR_FOLLOWER"), match=match)
        client = await scene.client()

        await client.send(PRODUCE, PRODUCE_VERSION, produce_request((0, batch(0)), (1, batch(0))))
        (topic,) = (await client.produce_answer()).responses

        codes = {each.index: each.error_code for each in topic.partition_responses}
        assert codes == {0: ErrorCode.NOT_LEADER_OR_FOLLOWER, 1: ErrorCode.NONE}
        assert (scene.log.log_end_offset, scene.other_log.log_end_offset) == (0, 1)


async def test_error_for_the_topic_refuses_all_its_partitions() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Error(error="TOPIC_AUTHORIZATION_FAILED"), match=Match(api="Produce", topic=TOPIC))
        client = await scene.client()

        await client.send(PRODUCE, PRODUCE_VERSION, produce_request((0, batch(0)), (1, batch(0))))
        (topic,) = (await client.produce_answer()).responses

        codes = [each.error_code for each in topic.partition_responses]
        assert codes == [ErrorCode.TOPIC_AUTHORIZATION_FAILED] * 2
        assert (scene.log.log_end_offset, scene.other_log.log_end_offset) == (0, 0)


async def test_error_none_reports_success_and_appends_nothing() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Error(error="NONE"))
        client = await scene.client()

        await client.produce(0)
        answer = await client.produced()

        assert answer.error_code == ErrorCode.NONE
        assert scene.log.log_end_offset == 0


async def test_error_for_a_request_without_response_closes_the_connection() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Error(error="NOT_LEADER_OR_FOLLOWER"))
        client = await scene.client()

        await client.produce(0, acks=0)

        assert await client.ended() == b""
        assert scene.log.log_end_offset == 0


async def test_later_requests_are_answered_after_a_dropped_one() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Drop())
        client = await scene.client()

        await client.produce(5)
        second = await client.send(API_VERSIONS, 0, ApiVersionsRequest())
        frame = await client.frame()

        assert frame[:4] == second.to_bytes(4)
        assert scene.log.log_end_offset == 0


async def test_delayed_request_is_applied_when_the_clock_advances() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Delay(ms=1000))
        client = await scene.client()

        await client.produce(0)
        await scene.settle()
        scene.clock.advance(999)
        before = (client.waiting_bytes(), scene.log.log_end_offset)
        scene.clock.advance(1)
        answer = await client.produced()

        assert before == (b"", 0)
        assert answer.base_offset == 0


async def test_delayed_requests_are_applied_in_the_order_of_their_timers() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Delay(ms=500))
        scene.arm("received", Delay(ms=100))
        first, second = await scene.client(), await scene.client()

        await first.send(PRODUCE, PRODUCE_VERSION, produce_request((0, batch(0, b"first", producer_id=1))))
        await scene.settle()
        await second.send(PRODUCE, PRODUCE_VERSION, produce_request((0, batch(0, b"second", producer_id=2))))
        await scene.settle()
        scene.clock.advance(86_400_000)

        assert ((await first.produced()).base_offset, (await second.produced()).base_offset) == (1, 0)


async def test_a_hanging_request_is_never_applied_and_its_connection_stays_open() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Hang())
        client = await scene.client()

        await client.produce(0)
        await scene.settle()
        scene.clock.advance(86_400_000)
        await scene.settle()

        assert client.waiting_bytes() == b""
        assert scene.log.log_end_offset == 0


async def test_later_requests_overtake_a_held_one_and_their_responses_wait() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Hold())
        client = await scene.client()

        await client.produce(0)
        await client.produce(0, partition=1)
        await scene.settle()
        appended = (scene.log.log_end_offset, scene.other_log.log_end_offset)
        waiting = client.waiting_bytes()
        (held,) = scene.server.held.items()
        scene.server.held.release([held.held_id])
        answers = [await client.produce_answer(), await client.produce_answer()]

        assert appended == (0, 1)
        assert waiting == b""
        assert [answer.responses[0].partition_responses[0].index for answer in answers] == [0, 1]
        assert scene.log.log_end_offset == 1


async def test_overtaking_batch_is_refused_and_the_held_one_appended() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Hold(), when=When(skip=1))
        client = await scene.client()

        await client.produce(0)
        await client.produce(1)
        await client.produce(2)
        await scene.settle()
        scene.server.held.release([held.held_id for held in scene.server.held.items()])
        answers = [await client.produced() for _ in range(3)]

        assert [each.error_code for each in answers] == [0, 0, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER]


async def test_requests_are_released_in_the_given_order() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Hold(), when=When(times=2))
        client = await scene.client()

        await client.send(PRODUCE, PRODUCE_VERSION, produce_request((0, batch(0, producer_id=1))))
        await client.send(PRODUCE, PRODUCE_VERSION, produce_request((0, batch(0, producer_id=2))))
        await scene.settle()
        first, second = scene.server.held.items()
        scene.server.held.release([second.held_id, first.held_id])
        answers = [await client.produced(), await client.produced()]

        assert [each.base_offset for each in answers] == [1, 0]


async def test_with_release_order_later_responses_do_not_wait() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Hold(release_order=True))
        client = await scene.client()

        first = await client.produce(0)
        second = await client.produce(0, partition=1)
        answered = [(await client.frame())[:4]]
        scene.server.held.release([held.held_id for held in scene.server.held.items()])
        answered.append((await client.frame())[:4])

        assert answered == [second.to_bytes(4), first.to_bytes(4)]


async def test_no_request_is_applied_before_one_that_mutes_its_connection() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Hold(mute=True))
        client = await scene.client()

        for producer_id in (1, 2):
            body = produce_request((0, batch(0, producer_id=producer_id)))
            await client.send(PRODUCE, PRODUCE_VERSION, body)
        await scene.settle()
        before = scene.log.log_end_offset
        scene.server.held.release([held.held_id for held in scene.server.held.items()])
        answers = [await client.produced(), await client.produced()]

        assert before == 0
        assert [each.base_offset for each in answers] == [0, 1]


@pytest.mark.parametrize("mute", [False, True])
async def test_held_request_of_a_disconnected_client_is_applied_at_its_release(mute: bool) -> None:
    async with interception_scene() as scene:
        scene.arm("received", Hold(mute=mute))
        client = await scene.client()

        await client.produce(0)
        await scene.settle()
        client.close()
        await scene.settle()
        (held,) = scene.server.held.items()
        scene.server.held.release([held.held_id])

        assert scene.log.log_end_offset == 1


async def test_reset_of_faults_drops_held_requests_and_closes_their_connection() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Hold())
        client = await scene.client()

        await client.produce(0)
        await scene.settle()
        scene.server.lift_faults()

        assert await client.ended() == b""
        assert scene.server.held.count == 0
        assert scene.log.log_end_offset == 0


async def test_close_ends_the_connection_without_a_response() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Close())
        client = await scene.client()

        await client.produce(0)

        assert await client.ended() == b""
        assert scene.log.log_end_offset == 0


async def test_reset_resets_the_connection() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Reset())
        client = await scene.client()

        await client.produce(0)

        with pytest.raises(ConnectionResetError):
            await client.frame()
        assert scene.log.log_end_offset == 0


async def test_earlier_responses_arrive_before_a_close() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Close(), when=When(skip=1))
        client = await scene.client()

        await client.produce(0)
        await client.produce(1)
        answer = await client.produced()

        assert answer.base_offset == 0
        assert await client.ended() == b""


async def test_throttle_sets_the_time_and_applies_the_request() -> None:
    async with interception_scene() as scene:
        scene.arm("received", Throttle(ms=1234))
        client = await scene.client()

        await client.produce(0)
        answer = await client.produce_answer()

        assert answer.throttle_time_ms == 1234
        assert scene.log.log_end_offset == 1


async def test_a_request_delivered_twice_is_recognised_and_answered_once() -> None:
    async with interception_scene() as scene:
        scene.arm("received", DeliverTwice())
        client = await scene.client()

        await client.produce(0)
        answer = await client.produced()
        await client.produce(1)
        next_answer = await client.produced()

        assert (answer.error_code, answer.base_offset) == (0, 0)
        assert (next_answer.base_offset, scene.log.log_end_offset) == (1, 2)


async def test_without_a_producer_id_a_request_delivered_twice_is_appended_twice() -> None:
    async with interception_scene() as scene:
        scene.arm("received", DeliverTwice())
        client = await scene.client()
        records = batch(-1, producer_id=-1)

        await client.send(PRODUCE, PRODUCE_VERSION, produce_request((0, records)))
        await client.produced()

        assert scene.log.log_end_offset == 2


async def test_rule_that_does_not_match_has_no_effect() -> None:
    async with interception_scene() as scene:
        rule = scene.arm("received", Close(), match=Match(api="Produce", topic=TOPIC, partition=1))
        client = await scene.client()

        await client.produce(0)

        assert (await client.produced()).base_offset == 0
        assert rule.hits == 0


async def test_error_for_one_partition_of_a_fetch_reads_the_other() -> None:
    async with interception_scene() as scene:
        match = Match(api="Fetch", topic=TOPIC, partition=0)
        scene.arm("received", Error(error="NOT_LEADER_OR_FOLLOWER"), match=match)
        client = await scene.client()
        await client.send(PRODUCE, PRODUCE_VERSION, produce_request((0, batch(0)), (1, batch(0))))
        await client.produce_answer()
        partitions = [FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1000) for index in (0, 1)]

        request = FetchRequest(
            max_wait_ms=0, max_bytes=1000, topics=[FetchTopic(topic_id=scene.topic.topic_id, partitions=partitions)]
        )
        await client.send(FETCH, 13, request)
        (topic,) = read_response(FETCH, 13, 2, await client.frame(), FetchResponse.read).responses

        results = {each.partition_index: (each.error_code, bool(each.records)) for each in topic.partitions}
        assert results == {0: (ErrorCode.NOT_LEADER_OR_FOLLOWER, False), 1: (ErrorCode.NONE, True)}


async def test_topic_rule_matches_a_fetch_that_has_the_topic_only_in_its_session() -> None:
    async with interception_scene() as scene:
        client = await scene.client()
        partitions = [FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)]
        topics = [FetchTopic(topic_id=scene.topic.topic_id, partitions=partitions)]

        await client.send(FETCH, 13, FetchRequest(max_wait_ms=0, session_id=0, session_epoch=0, topics=topics))
        session_id = read_response(FETCH, 13, 1, await client.frame(), FetchResponse.read).session_id
        scene.arm("received", Close(), match=Match(api="Fetch", topic=TOPIC, partition=0))
        await client.send(FETCH, 13, FetchRequest(max_wait_ms=0, session_id=session_id, session_epoch=1))

        assert session_id > 0
        assert await client.ended() == b""


@pytest.mark.parametrize("version", [3, 9, 13])
@pytest.mark.parametrize("is_armed", [False, True])
async def test_produce_without_a_body_closes_the_connection_with_and_without_a_rule(
    version: int, is_armed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with interception_scene() as scene:
        if is_armed:
            scene.arm("received", Drop(), match=Match(api="Produce", topic="another"))
        client = await scene.client()

        await client.send_body(PRODUCE, version, b"")

        assert await client.ended() == b""
        assert [
            record.getMessage().partition("closed: ")[2] for record in caplog.records if record.levelname != "INFO"
        ] == [f"Produce version {version} ends within a field"]
