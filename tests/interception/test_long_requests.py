"""A request with a long body is matched in a thread, and its faults act as on any other."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from fauxka.broker.dispatch import fault_injector
from fauxka.broker.requests.encoded_response import encode_response
from fauxka.broker.requests.request_context import RequestContext
from fauxka.broker.runtime import long_work
from fauxka.broker.runtime.buffers import Buffers
from fauxka.faults.actions import Action, Close, Crash, Delay, Drop, Error, Hold, Observe
from fauxka.faults.journal.journal_entries import read_entries
from fauxka.faults.rules.armed_rule import ArmedRule
from fauxka.faults.rules.match import Match
from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.batches.record_batch import Compression
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.client_requests import read_response
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from fauxka.protocol.messages.produce import ProduceRequest

from .interception_scene import (
    COMES_SECONDS_MAX,
    PRODUCE,
    PRODUCE_VERSION,
    TOPIC,
    InterceptionScene,
    RawClient,
    interception_scene,
    produce_request,
)

if TYPE_CHECKING:
    from fauxka.broker.requests.encoded_response import Response

pytestmark = pytest.mark.asyncio

METADATA = APIS[ApiKey.METADATA]
METADATA_VERSION = 9
# More than 64 KiB.
NAMES = 10_000


def long_request() -> MetadataRequest:
    names = [TOPIC, *(f"unknown-{number}" for number in range(NAMES))]
    topics = [MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=False)


def arm(scene: InterceptionScene, action: Action) -> ArmedRule:
    return scene.arm("received", action, match=Match(api="Metadata", topic="unknown-9999"))


async def ask(client: RawClient) -> int:
    return await client.send(METADATA, METADATA_VERSION, long_request())


async def answered(client: RawClient, correlation_id: int) -> MetadataResponse:
    return read_response(METADATA, METADATA_VERSION, correlation_id, await client.frame(), MetadataResponse.read)


def compressed_produce(*keys: bytes) -> ProduceRequest:
    records = [Record(b"value", key, timestamp=1_700_000_000_000) for key in keys]
    return produce_request((0, build_batch(records, BatchOptions(compression=Compression.GZIP))))


async def test_long_request_is_matched_by_what_its_body_names() -> None:
    async with interception_scene() as scene:
        rule = arm(scene, Observe())
        client = await scene.client()

        answer = await answered(client, await ask(client))

        assert len(answer.topics) == NAMES + 1
        assert (rule.hits, rule.matched) == (1, 1)


async def test_later_requests_of_the_connection_are_answered_after_a_long_one() -> None:
    async with interception_scene() as scene:
        arm(scene, Observe())
        client = await scene.client()

        long, short = await ask(client), await client.produce(0)

        assert len((await answered(client, long)).topics) == NAMES + 1
        assert (await client.frame())[:4] == short.to_bytes(4, "big")


async def test_error_refuses_a_long_request() -> None:
    async with interception_scene() as scene:
        arm(scene, Error(error="NOT_CONTROLLER", scope="request"))
        client = await scene.client()

        answer = await answered(client, await ask(client))

        assert {topic.error_code for topic in answer.topics} == {ErrorCode.NOT_CONTROLLER}


async def test_dropped_long_request_lets_the_next_one_through() -> None:
    async with interception_scene() as scene:
        arm(scene, Drop())
        client = await scene.client()

        await ask(client)
        short = await client.produce(0)

        assert (await client.frame())[:4] == short.to_bytes(4, "big")


async def test_connection_closes_at_a_long_request() -> None:
    async with interception_scene() as scene:
        arm(scene, Close())
        client = await scene.client()

        await ask(client)

        assert await client.ended() == b""


async def test_delayed_long_request_lets_later_ones_be_applied_meanwhile() -> None:
    async with interception_scene() as scene:
        arm(scene, Delay(ms=1000))
        client = await scene.client()

        long, _ = await ask(client), await client.produce(0)
        await until(lambda: scene.server.held.count == 1)
        await until(lambda: scene.log.log_end_offset == 1)
        assert client.waiting_bytes() == b""
        scene.clock.advance(1000)

        assert len((await answered(client, long)).topics) == NAMES + 1
        assert (await client.produced()).base_offset == 0


async def test_held_long_request_may_be_answered_after_later_ones() -> None:
    async with interception_scene() as scene:
        arm(scene, Hold(release_order=True))
        client = await scene.client()

        long, short = await ask(client), await client.produce(0)
        assert (await client.frame())[:4] == short.to_bytes(4, "big")
        scene.server.held.release([1])

        assert len((await answered(client, long)).topics) == NAMES + 1


async def test_crash_at_a_long_request_ends_its_connection() -> None:
    async with interception_scene() as scene:
        rule = arm(scene, Crash())
        client = await scene.client()

        await ask(client)

        with pytest.raises((EOFError, ConnectionResetError)):
            await client.frame()
        assert rule.hits == 1


async def test_long_request_that_does_not_decode_closes_its_connection() -> None:
    async with interception_scene() as scene:
        arm(scene, Observe())
        client = await scene.client()

        await client.send_body(METADATA, METADATA_VERSION, b"\x7f" * 100_000)

        with pytest.raises((EOFError, ConnectionResetError)):
            await client.frame()


@pytest.mark.parametrize(("keys", "hits"), [((b"other", b"wanted"), 1), ((b"other",), 0)])
async def test_compressed_records_are_matched_by_key(keys: tuple[bytes, ...], hits: int) -> None:
    async with interception_scene() as scene:
        rule = scene.arm("received", Observe(), match=Match(api="Produce", key=b"wanted"))
        client = await scene.client()

        await client.send(PRODUCE, PRODUCE_VERSION, compressed_produce(*keys))

        assert (await client.produced()).error_code == 0
        assert rule.hits == hits


async def test_journal_has_the_answer_to_a_long_request() -> None:
    async with interception_scene() as scene:
        arm(scene, Observe())
        client = await scene.client()

        await answered(client, await ask(client))

        (entry,) = read_entries(scene.fault_injection.journal)
        assert (entry.api, entry.answered, entry.size > NAMES) == ("Metadata", True, True)


async def test_journal_has_no_answer_to_a_long_request_of_a_closed_connection() -> None:
    async with interception_scene() as scene:
        arm(scene, Observe())
        client = await scene.client()

        await ask(client)
        client.close()
        await until(lambda: bool(read_entries(scene.fault_injection.journal)))
        await until(lambda: scene.server.connection_count == 0)

        (entry,) = read_entries(scene.fault_injection.journal)
        assert (entry.api, entry.answered) == ("Metadata", False)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(COMES_SECONDS_MAX):
        while not holds():
            await asyncio.sleep(0.001)


async def test_response_to_a_short_request_that_took_long_is_encoded_in_a_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoded_by: list[int] = []

    def encode(header: RequestContext, response: Response) -> Buffers:
        encoded_by.append(threading.get_ident())
        return encode_response(header, response)

    # Every slice is over after its least number of steps.
    monkeypatch.setattr(long_work, "SLICE_NS", 0)
    monkeypatch.setattr(fault_injector, "encode_response", encode)
    names = [f"unknown-{number}" for number in range(2 * long_work.SLICE_STEPS_MIN)]
    topics = [MetadataRequestTopic(name=name) for name in names]
    async with interception_scene() as scene:
        scene.arm("received", Observe())
        client = await scene.client()

        asked = await client.send(
            METADATA, METADATA_VERSION, MetadataRequest(topics=topics, allow_auto_topic_creation=False)
        )

        assert len((await answered(client, asked)).topics) == len(names)
        assert encoded_by and threading.get_ident() not in encoded_by
