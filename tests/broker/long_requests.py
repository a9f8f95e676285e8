"""Requests that once stopped the broker for seconds, and a command that measures what they do to other clients.

    python -m tests.broker.long_requests

It runs a broker, sends each request, and prints how long a second connection waited at most, and the memory.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from struct import pack

from fauxka.protocol.batches.compression import compress
from fauxka.protocol.batches.record_batch import Compression
from fauxka.protocol.buffer_codec import encode_unsigned_varint
from fauxka.protocol.wire_writer import Writer

from ..protocol.batch_bytes import batch
from ..wire.frames import METADATA, PRODUCE, api_versions_request, framed, header
from ..wire.wire_connection import WireConnection
from .server_process import ServerProcess, running_server

TOPIC = b"wide"
ANSWER_SECONDS_MAX = 300
# A batch of this many bytes is accepted.
SETTINGS = ("num.partitions=1", "message.max.bytes=90000000")
OFFSET_COMMIT, LIST_OFFSETS, CREATE_TOPICS, DELETE_RECORDS, DESCRIBE_CONFIGS, HEARTBEAT = 8, 2, 19, 21, 32, 68
FETCH = 1
TOPIC_RESOURCE, BROKER_RESOURCE = b"\x02", b"\x04"
_NULL = b"\xff\xff"


@dataclass(frozen=True)
class LongRequest:
    """A request; its frame is built when it is needed, because it has megabytes."""

    name: str
    frame: Callable[[], bytes]

    def __str__(self) -> str:
        return self.name


def _text(value: bytes) -> bytes:
    return pack(">h", len(value)) + value


def _list(count: int, elements: bytes) -> bytes:
    return pack(">i", count) + elements


def _names(count: int) -> bytes:
    return b"".join(_text(b"name-%d" % index) for index in range(count))


def describe_configs(count: int) -> bytes:
    resource = BROKER_RESOURCE + _text(b"1") + pack(">i", -1)
    return framed(header(DESCRIBE_CONFIGS, 1, 1) + _list(count, resource * count) + b"\1")


def offset_commit(count: int) -> bytes:
    offsets = b"".join(pack(">iqh", index, 5, -1) for index in range(count))
    committer = _text(b"group") + pack(">i", -1) + _text(b"")
    return framed(header(OFFSET_COMMIT, 5, 1) + committer + _list(1, _text(TOPIC) + _list(count, offsets)))


def tagged_fields(count: int) -> bytes:
    """A Metadata request of no topics with tagged fields of no bytes."""
    fields = encode_unsigned_varint(count) + b"\5\0" * count
    return framed(header(METADATA, 9, 1, is_flexible=True) + b"\1\1\0\0" + fields)


def tagged_fields_of_header(count: int) -> bytes:
    return framed(header(METADATA, 9, 1) + encode_unsigned_varint(count) + b"\5\0" * count + b"\1\1\0\0\0")


def produce_topics(count: int) -> bytes:
    """A Produce of topics without a name and without partitions."""
    return framed(header(PRODUCE, 3, 1) + _NULL + pack(">hi", 1, 1000) + _list(count, b"\0\0\0\0\0\0" * count))


def fetch_session(count: int) -> bytes:
    partitions = b"".join(pack(">iqqi", index, 0, 0, 100) for index in range(count))
    head = pack(">iiiib", -1, 0, 1, 1000, 0) + pack(">ii", 0, 0)
    return framed(header(FETCH, 7, 1) + head + _list(1, _text(TOPIC) + _list(count, partitions)) + _list(0, b""))


def metadata(count: int) -> bytes:
    return framed(header(METADATA, 4, 1) + _list(count, _names(count)) + b"\1")


def create_topics(count: int) -> bytes:
    topics = b"".join(_text(b"name-%d" % index) + pack(">ihii", 1, 1, 0, 0) for index in range(count))
    return framed(header(CREATE_TOPICS, 4, 1) + _list(count, topics) + pack(">ib", 1000, 0))


def delete_records(count: int) -> bytes:
    partitions = b"".join(pack(">iq", index, 0) for index in range(count))
    return framed(header(DELETE_RECORDS, 1, 1) + _list(1, _text(TOPIC) + _list(count, partitions)) + pack(">i", 1000))


def list_offsets(count: int) -> bytes:
    partitions = b"".join(pack(">iq", index, -1) for index in range(count))
    return framed(header(LIST_OFFSETS, 1, 1) + pack(">i", -1) + _list(1, _text(TOPIC) + _list(count, partitions)))


def produce(batches: int, codec: Compression, payload: bytes, records: int) -> bytes:
    sent = batch(compress(codec, payload), count=records, attributes=codec)
    topics = b"".join(
        _text(b"%s-%d" % (TOPIC, index)) + _list(1, pack(">ii", 0, len(sent)) + sent) for index in range(batches)
    )
    return framed(header(PRODUCE, 7, 1) + _NULL + pack(">hi", 1, 60_000) + _list(batches, topics))


def empty_records(count: int) -> bytes:
    """Return records without key, value and headers."""
    offsets = (encode_unsigned_varint(index << 1) for index in range(count))
    # Size, attributes, timestamp; offset; no key, no value, no headers.
    return b"".join(b"%c\0\0%b\1\1\0" % (2 * (5 + len(offset)), offset) for offset in offsets)


def gzip_members(count: int) -> bytes:
    """A Produce of a batch that is many empty gzip streams."""
    sent = batch(compress(Compression.GZIP, b"") * count, count=1, attributes=Compression.GZIP)
    topic = _text(b"%s-0" % TOPIC) + _list(1, pack(">ii", 0, len(sent)) + sent)
    return framed(header(PRODUCE, 7, 1) + _NULL + pack(">hi", 1, 60_000) + _list(1, topic))


def expression(text: str) -> bytes:
    """A ConsumerGroupHeartbeat that subscribes to the topics of a regular expression (KIP-848)."""
    body = Writer()
    body.compact_string("group")
    body.compact_string("member")
    body.int32(0)
    for _ in range(2):
        body.compact_nullable_string(None)
    body.int32(60_000)
    body.array_length(0, flexible=True)
    body.compact_nullable_string(text)
    body.compact_nullable_string(None)
    body.array_length(0, flexible=True)
    body.no_tagged_fields()
    return framed(header(HEARTBEAT, 1, 1, is_flexible=True) + body.getvalue())


# Those that were tried, and what they took then.
LONG_REQUESTS = (
    LongRequest("DescribeConfigs, one broker 20,000 times", lambda: describe_configs(20_000)),
    LongRequest("KIP-848 expression, nested counts", lambda: expression("((((a{9}){9}){9}){9}){9}" * 1000)),
    LongRequest("KIP-848 expression, Unicode classes", lambda: expression(r"\pL" * 10_000)),
    LongRequest(
        "Produce, 3 x zstd of 10 M empty records",
        lambda: produce(3, Compression.ZSTD, empty_records(10_000_000), 10_000_000),
    ),
    LongRequest("Produce, 500,000 empty gzip streams", lambda: gzip_members(500_000)),
    LongRequest("Produce, 100 MB of zeros in zstd", lambda: produce(1, Compression.ZSTD, bytes(100_000_000), 1)),
    LongRequest("OffsetCommit, 500,000 partitions", lambda: offset_commit(500_000)),
    LongRequest("Metadata, 30 M tagged fields", lambda: tagged_fields(30_000_000)),
    LongRequest("Metadata, 30 M tagged fields of the header", lambda: tagged_fields_of_header(30_000_000)),
    LongRequest("Produce, 5 M empty topics", lambda: produce_topics(5_000_000)),
    LongRequest("Fetch session, 1 M partitions", lambda: fetch_session(1_000_000)),
    LongRequest("Metadata, 1 M topics", lambda: metadata(1_000_000)),
    LongRequest("CreateTopics, 1 M topics", lambda: create_topics(1_000_000)),
    LongRequest("DeleteRecords, 1 M partitions", lambda: delete_records(1_000_000)),
    LongRequest("ListOffsets, 1 M partitions", lambda: list_offsets(1_000_000)),
)


def create_batch_topics(address: str, count: int = 3) -> None:
    """Create the topics that the batches are for, and the one whose partitions are named."""
    names = [TOPIC, *(b"%s-%d" % (TOPIC, index) for index in range(count))]
    with WireConnection(address) as client:
        client.send(framed(header(METADATA, 4, 1) + _list(len(names), b"".join(map(_text, names))) + b"\1"))
        client.receive_frame()


def ask(address: str, frame: bytes) -> bytes | None:
    """Return the response; None for a closed connection."""
    with WireConnection(address, seconds_max=ANSWER_SECONDS_MAX) as client:
        client.send_what_is_taken(frame)
        try:
            return client.receive_frame()
        except ConnectionError:
            return None


@dataclass
class Probe:
    """A second connection, and the longest time that it waited for a response; the memory of the broker meanwhile."""

    server: ServerProcess
    longest: float = 0.0
    memory_mib: float = 0.0
    _is_on: bool = True
    _threads: list[threading.Thread] = field(default_factory=list[threading.Thread])

    def __enter__(self) -> Probe:
        for work in (self._ask, self._watch):
            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(self, *error: object) -> None:
        self._is_on = False
        for thread in self._threads:
            thread.join()

    def _ask(self) -> None:
        connection = WireConnection(self.server.address, seconds_max=ANSWER_SECONDS_MAX)
        with connection as client, contextlib.suppress(ConnectionError):
            while self._is_on:
                started = time.perf_counter()
                client.send(api_versions_request())
                client.receive_frame()
                self.longest = max(self.longest, time.perf_counter() - started)
                time.sleep(0.001)

    def _watch(self) -> None:
        while self._is_on:
            self.memory_mib = max(self.memory_mib, self.server.memory_mib())
            time.sleep(0.02)


def measurements() -> Iterator[tuple[str, float, float]]:
    """Yield for each request the longest pause in ms, and the memory above that before it in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        for request in LONG_REQUESTS:
            frame = request.frame()
            # One broker each: memory that an earlier request took may be used again.
            with running_server(Path(folder), *SETTINGS) as server:
                create_batch_topics(server.address)
                before = server.memory_mib()
                with Probe(server) as probe:
                    ask(server.address, frame)
                yield request.name, probe.longest * 1000, probe.memory_mib - before


def main() -> None:
    """Print the table of docs/limits.md."""
    for name, pause_ms, memory_mib in measurements():
        sys.stdout.write(f"| {name} | {pause_ms:.0f} ms | {memory_mib:.0f} MiB |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
