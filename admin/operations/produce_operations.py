"""Operation that sends a record to the broker as a producer does, so that fault rules apply and the journal has it.

The request goes over a connection of the broker to itself, with one batch without a producer id. Whatever a fault rule
does to it or to its response is the result of the call, and no error.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Annotated, Literal

from msgspec import Meta, Struct

from ...broker.metadata.metadata_image import TopicImage
from ...protocol.api_keys import APIS, ApiKey
from ...protocol.batches.records import BatchOptions, Record, build_batch
from ...protocol.client_requests import read_response, request_frame
from ...protocol.error_codes import ErrorCode
from ...protocol.frames import FrameError
from ...protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from ...protocol.murmur2 import partition_of_key
from ..control import Control
from ..errors import CallError, conflict
from ..operation import PATIENT, Caller, Operation
from .offset_pages import unknown_partition
from .seed_operations import SeedRecord, decoded_record
from .topic_operations import TAG, TopicPath, topic_of

# The last version with topic names that every release from 2.1 on has.
VERSION = 7
CORRELATION_ID = 1
CLIENT_ID = "fauxka-admin"
TIMEOUT_MS_MAX = 60_000
# A response to one partition is smaller.
RESPONSE_BYTES_MAX = 64 * 1024
FRAME_SIZE_BYTES = 4


class ProducedBody(Struct, kw_only=True, forbid_unknown_fields=True):
    """A record to produce. partition: null for Kafka's partition of the key, and 0 without a key.

    acks: 0 for no response. timeout_ms: how long to wait for the response, in real time.
    """

    records: Annotated[list[SeedRecord], Meta(min_length=1, max_length=1)]
    client_id: Annotated[str, Meta(max_length=249)] = CLIENT_ID
    acks: Literal[-1, 0, 1] = -1
    timeout_ms: Annotated[int, Meta(ge=1, le=TIMEOUT_MS_MAX)] = 5_000


class Produced(Struct, kw_only=True):
    """What became of a Produce.

    outcome: responded; sent, with acks=0; closed or timeout, without a response: the record may be in the log.
    error: the error code of the response by name; null for none. base_offset: of the response; null without one.
    """

    topic: str
    partition: int
    outcome: Literal["responded", "sent", "closed", "timeout"]
    error: str | None = None
    message: str | None = None
    base_offset: int | None = None


async def produce_record(control: Control, path: TopicPath, body: ProducedBody, caller: Caller = PATIENT) -> Produced:
    """Send a record to the leader of its partition as a Produce request: fault rules apply, and the journal has it.

    A lost response is no error: the outcome says what the client saw.
    """
    control.check_running()
    topic = topic_of(control, path)
    record = decoded_record("records[0]", body.records[0], control.clock.now_ms())
    partition = _partition_of(topic, body.records[0].partition, record.key)
    leader_id = topic.partitions[partition].leader_id
    if control.cluster.find_node(leader_id) is None:
        raise conflict(f"{topic.name}-{partition} has no leader", field="topic", value=topic.name)
    try:
        client = control.server.server_of(leader_id).open_internally()
    except OSError as error:
        raise conflict(f"the broker cannot be connected to: {error}") from error
    exchange = asyncio.ensure_future(_exchange(client, _request(topic.name, partition, record, body), body))
    disconnected = asyncio.ensure_future(caller.disconnected())
    try:
        await asyncio.wait({exchange, disconnected}, return_when=asyncio.FIRST_COMPLETED)
        if not exchange.done():
            raise CallError(503, "the call was ended")
        return _produced(topic.name, partition, exchange.result())
    finally:
        for task in (exchange, disconnected):
            task.cancel()
        client.close()


def _partition_of(topic: TopicImage, partition: int | None, key: bytes | None) -> int:
    count = len(topic.partitions)
    if partition is None:
        return 0 if key is None else partition_of_key(key, count)
    if partition >= count:
        raise unknown_partition(topic, partition, "records[0].partition")
    return partition


def _request(topic: str, partition: int, record: Record, body: ProducedBody) -> bytes:
    data = PartitionProduceData(index=partition, records=build_batch([record], BatchOptions()))
    request = ProduceRequest(
        acks=body.acks,
        timeout_ms=body.timeout_ms,
        topic_data=[TopicProduceData(name=topic, partition_data=[data])],
    )
    return request_frame(APIS[ApiKey.PRODUCE], VERSION, CORRELATION_ID, request, client_id=body.client_id)


Outcome = Literal["sent", "closed", "timeout"] | PartitionProduceResponse


async def _exchange(client: socket.socket, frame: bytes, body: ProducedBody) -> Outcome:
    """Send a request, and return its response, or why there is none."""
    client.setblocking(False)
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(body.timeout_ms / 1000):
            await loop.sock_sendall(client, frame)
            if body.acks == 0:
                return "sent"
            size = int.from_bytes(await _received(client, FRAME_SIZE_BYTES), "big")
            if not 0 < size <= RESPONSE_BYTES_MAX:
                return "closed"
            received = await _received(client, size)
    except TimeoutError:
        return "timeout"
    except OSError:
        return "closed"
    try:
        response = read_response(APIS[ApiKey.PRODUCE], VERSION, CORRELATION_ID, received, ProduceResponse.read)
        return response.responses[0].partition_responses[0]
    except (FrameError, IndexError):
        # A fault rule has damaged it: a client closes the connection.
        return "closed"


async def _received(client: socket.socket, size: int) -> bytes:
    """Return so many bytes. Raises OSError for a closed connection."""
    received = bytearray()
    while len(received) < size:
        part = await asyncio.get_running_loop().sock_recv(client, size - len(received))
        if not part:
            raise ConnectionResetError("the broker closed the connection")
        received += part
    return bytes(received)


def _produced(topic: str, partition: int, outcome: Outcome) -> Produced:
    if isinstance(outcome, str):
        return Produced(topic=topic, partition=partition, outcome=outcome)
    has_error = outcome.error_code != ErrorCode.NONE
    return Produced(
        topic=topic,
        partition=partition,
        outcome="responded",
        error=ErrorCode(outcome.error_code).name if has_error else None,
        message=outcome.error_message,
        base_offset=None if has_error else outcome.base_offset,
    )


OPERATIONS = (
    Operation(
        method="POST", path="/v1/topics/{topic}/produce", perform=produce_record, tag=TAG, errors=(404, 409, 503)
    ),
)
