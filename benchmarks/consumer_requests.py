"""What a consumer sends, one request at a time: OffsetCommit and Fetch with and without records."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.client_requests import request_frame
from fauxka.protocol.message import Message
from fauxka.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

from .measurement import CPU_US, REQUESTS_PER_S, Figures
from .process_tree import cpu_seconds
from .targets import RunningTarget

COMMIT, EMPTY = "OffsetCommit", "Fetch without records"
FULL, WIDE = "Fetch of 2 records", "Fetch of 20 partitions"
NAMES = (COMMIT, EMPTY, FULL, WIDE)
REQUESTS, WARM_UP_REQUESTS = 5_000, 2_000
WAIT_SECONDS_MAX = 30.0
TOPIC, PARTITIONS, RECORDS = "consumed", 20, 2
BYTES_MAX = 1_000_000
# The versions before topic ids, in which a group without members commits.
COMMIT_VERSION, FETCH_VERSION, CREATE_VERSION, PRODUCE_VERSION = 8, 11, 5, 8


def measure(broker: RunningTarget, figures: Figures) -> None:
    """Add the requests a second of each kind of request, and the processor time of one."""
    with socket.create_connection(("127.0.0.1", broker.port), WAIT_SECONDS_MAX) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for frame in _filling_frames():
            _load(connection, frame, 1)
        for name, frame in zip(NAMES, _frames(), strict=True):
            _load(connection, frame, WARM_UP_REQUESTS)
            cpu, start = cpu_seconds(broker.process_id), time.perf_counter()
            _load(connection, frame, REQUESTS)
            figures[figure_of(name, REQUESTS_PER_S)] = REQUESTS / (time.perf_counter() - start)
            figures[figure_of(name, CPU_US)] = (cpu_seconds(broker.process_id) - cpu) / REQUESTS * 1e6


def figure_of(name: str, quantity: str) -> str:
    """Return the name of a figure of one kind of request."""
    return f"{name}: {quantity}"


def _filling_frames() -> Iterator[bytes]:
    topic = CreatableTopic(name=TOPIC, num_partitions=PARTITIONS, replication_factor=1)
    yield _frame(ApiKey.CREATE_TOPICS, CREATE_VERSION, CreateTopicsRequest(topics=[topic], timeout_ms=1000))
    batch = build_batch([Record(b"key", bytes(50), 0)] * RECORDS, BatchOptions())
    data = [PartitionProduceData(index=index, records=batch) for index in range(PARTITIONS)]
    request = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[TopicProduceData(name=TOPIC, partition_data=data)])
    yield _frame(ApiKey.PRODUCE, PRODUCE_VERSION, request)


def _frames() -> Iterator[bytes]:
    """Yield a frame for each of NAMES."""
    committed = OffsetCommitRequestPartition(partition_index=0, committed_offset=1, committed_metadata="")
    topic = OffsetCommitRequestTopic(name=TOPIC, partitions=[committed])
    commit = OffsetCommitRequest(group_id="committing", generation_id_or_member_epoch=-1, member_id="", topics=[topic])
    yield _frame(ApiKey.OFFSET_COMMIT, COMMIT_VERSION, commit)
    yield _fetch_frame(fetch_offset=RECORDS, partitions=1)
    yield _fetch_frame(fetch_offset=0, partitions=1)
    yield _fetch_frame(fetch_offset=0, partitions=PARTITIONS)


def _fetch_frame(fetch_offset: int, partitions: int) -> bytes:
    asked = [
        FetchPartition(partition=index, fetch_offset=fetch_offset, partition_max_bytes=BYTES_MAX)
        for index in range(partitions)
    ]
    topic = FetchTopic(topic=TOPIC, partitions=asked)
    request = FetchRequest(replica_id=-1, max_wait_ms=0, min_bytes=0, max_bytes=BYTES_MAX, topics=[topic])
    return _frame(ApiKey.FETCH, FETCH_VERSION, request)


def _frame(key: ApiKey, version: int, request: Message) -> bytes:
    return request_frame(APIS[key], version, 1, request)


def _load(connection: socket.socket, frame: bytes, count: int) -> None:
    """Send a request and read its response, count times."""
    for _ in range(count):
        connection.sendall(frame)
        size = int.from_bytes(_read(connection, 4))
        _read(connection, size)


def _read(connection: socket.socket, size: int) -> bytes:
    read = bytearray()
    while len(read) < size:
        piece = connection.recv(size - len(read))
        if not piece:
            raise EOFError("the broker has closed the connection")
        read += piece
    return bytes(read)
