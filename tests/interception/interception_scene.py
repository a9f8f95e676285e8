"""A broker on the test's event loop with rules and a manual clock, and raw clients."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from struct import unpack

from fauxka.admin.fault_injection import FaultInjection
from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.lifecycle.cluster_server import ClusterServer
from fauxka.broker.network.listeners import ListenerConfig
from fauxka.faults.actions import Action
from fauxka.faults.rules.armed_rule import ArmedRule
from fauxka.faults.rules.fault_rules import FaultRule, Point, When
from fauxka.faults.rules.match import Match
from fauxka.protocol.api_keys import APIS, Api, ApiKey
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.client_requests import RequestMessage, read_response, request_frame
from fauxka.protocol.messages.api_versions import ApiVersionsRequest
from fauxka.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from fauxka.storage.partition_log import PartitionLog

from ..manual_clock import manual_clock
from ..wire.frames import framed, header

# Generous: what has to come comes within a millisecond.
COMES_SECONDS_MAX = 5.0
PRODUCE_VERSION = 9
TOPIC = "events"
PRODUCER_ID = 4000

PRODUCE = APIS[ApiKey.PRODUCE]
API_VERSIONS = APIS[ApiKey.API_VERSIONS]


def batch(base_sequence: int, value: bytes = b"value", producer_id: int = PRODUCER_ID) -> bytes:
    """Return a batch of one record."""
    return build_batch(
        [Record(value, timestamp=1_700_000_000_000)],
        BatchOptions(producer_id=producer_id, producer_epoch=0, base_sequence=base_sequence),
    )


def produce_request(*batches: tuple[int, bytes], acks: int = -1) -> ProduceRequest:
    """Return a Produce of batches for partitions of the topic."""
    data = [PartitionProduceData(index=index, records=records) for index, records in batches]
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[TopicProduceData(name=TOPIC, partition_data=data)])


class RawClient:
    """A connection on the event loop of the broker, which may therefore not block as a WireConnection does."""

    def __init__(self, raw: socket.socket) -> None:
        self._raw = raw
        self._correlation_id = 0

    @classmethod
    async def connected(cls, port: int) -> RawClient:
        raw = socket.socket()
        raw.setblocking(False)
        await asyncio.get_running_loop().sock_connect(raw, ("127.0.0.1", port))
        return cls(raw)

    async def send(self, api: Api, version: int, message: RequestMessage) -> int:
        """Send the request and return its correlation id."""
        self._correlation_id += 1
        frame = request_frame(api, version, self._correlation_id, message)
        await asyncio.get_running_loop().sock_sendall(self._raw, frame)
        return self._correlation_id

    async def send_body(self, api: Api, version: int, body: bytes) -> None:
        """Send a request with any bytes as its body."""
        request = header(api.key, version, 1, is_flexible=version >= api.versions.flexible_since) + body
        await asyncio.get_running_loop().sock_sendall(self._raw, framed(request))

    async def produce(self, base_sequence: int, partition: int = 0, *, acks: int = -1) -> int:
        """Send one batch and return the correlation id."""
        return await self.send(PRODUCE, PRODUCE_VERSION, produce_request((partition, batch(base_sequence)), acks=acks))

    async def receive(self, size: int) -> bytes:
        """Return exactly size bytes; raises EOFError when the connection ends before, ConnectionResetError on RST."""
        loop = asyncio.get_running_loop()
        data = b""
        async with asyncio.timeout(COMES_SECONDS_MAX):
            while len(data) < size:
                piece = await loop.sock_recv(self._raw, size - len(data))
                if not piece:
                    raise EOFError(f"{len(data)} of {size} bytes")
                data += piece
        return data

    async def frame(self) -> bytes:
        """Return the next response, without its size."""
        (size,) = unpack(">i", await self.receive(4))
        return await self.receive(size)

    async def produced(self) -> PartitionProduceResponse:
        """Return the next response, to a Produce of one partition."""
        ((answer,),) = [each.partition_responses for each in (await self.produce_answer()).responses]
        return answer

    async def produce_answer(self) -> ProduceResponse:
        """Return the next response, to a Produce."""
        frame = await self.frame()
        (correlation_id,) = unpack(">i", frame[:4])
        return read_response(PRODUCE, PRODUCE_VERSION, correlation_id, frame, ProduceResponse.read)

    async def ended(self) -> bytes:
        """Return the bytes before the end (FIN)."""
        loop = asyncio.get_running_loop()
        data = b""
        async with asyncio.timeout(COMES_SECONDS_MAX):
            while piece := await loop.sock_recv(self._raw, 65536):
                data += piece
        return data

    def waiting_bytes(self) -> bytes:
        """Return the received bytes without consuming them. Call settle first."""
        try:
            return self._raw.recv(65536, socket.MSG_PEEK)
        except BlockingIOError:
            return b""

    def close(self) -> None:
        self._raw.close()


class InterceptionScene:
    """One node with a topic of two partitions."""

    def __init__(self) -> None:
        self.clock = manual_clock()
        self.cluster = Cluster(BrokerConfig.from_entries({"fauxka.busy.poll.us": "0"}), clock=self.clock)
        self.topic = self.cluster.controller.create_topic(TOPIC, 2)
        self.fault_injection = FaultInjection(self.cluster, [[ListenerConfig(port=0)]])
        self.server: ClusterServer = self.fault_injection.server
        self.clients: list[RawClient] = []

    @property
    def log(self) -> PartitionLog:
        return self.cluster.node.replicas.partition_of(TOPIC, 0).log

    @property
    def other_log(self) -> PartitionLog:
        return self.cluster.node.replicas.partition_of(TOPIC, 1).log

    def arm(self, point: Point, action: Action, *, match: Match | None = None, when: When | None = None) -> ArmedRule:
        """Add a rule, for Produce by default if the point is one of requests."""
        if match is None:
            match = Match() if point == "accepted" else Match(api="Produce")
        rule = FaultRule(match=match, when=when or When(), point=point, action=action)
        return self.fault_injection.plan.add(rule)

    async def client(self) -> RawClient:
        self.clients.append(await RawClient.connected(self.server.servers[0].listeners[0].port))
        return self.clients[-1]

    async def settle(self) -> None:
        """Return when the broker has handled everything sent.

        A connection with many requests handles them in slices, one request at least in each turn of the event loop.
        Nothing is left when the broker handles a request of another connection and no other one in the same time.
        """
        client = await RawClient.connected(self.server.servers[0].listeners[0].port)
        await self._handled_during_request(client)
        while await self._handled_during_request(client) > 1:
            pass
        client.close()

    async def _handled_during_request(self, client: RawClient) -> int:
        """Send a request, wait for its response, and return how many requests the broker has handled meanwhile."""
        before = self._last_request_id()
        await client.send(API_VERSIONS, 0, ApiVersionsRequest())
        await client.frame()
        return self._last_request_id() - before

    def _last_request_id(self) -> int:
        return max((request_id for request_id, _ in self.fault_injection.journal.records()), default=0)


@asynccontextmanager
async def interception_scene() -> AsyncGenerator[InterceptionScene]:
    scene = InterceptionScene()
    await scene.server.start()
    try:
        yield scene
    finally:
        for client in scene.clients:
            client.close()
        await scene.server.stop()
