"""Produce 9 with records and payloads of every kind, right and wrong: python -m tests.golden.capture_records HOST:PORT.

Needs a fresh broker with default configuration. Payloads stand here as bytes, so that no library's next version
changes what is sent.
"""

from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

from .capture_batches import FIRST_TIMESTAMP
from .capture_recorder import Recorder, main
from .raw_batches import GZIP, LZ4, SNAPPY, ZSTD, BatchFields, batch, record
from .raw_primitives import RawWriter

PRODUCE_VERSION = 9
FETCH_VERSION = 12
INT_MAX = 2**31 - 1
TIMESTAMP_TYPE_BIT = 0x08

# The record "v" at offset delta 0, and at offset delta 1, in each codec.
GZIP_FIRST = bytes.fromhex("1f8b0800000000000203e363606060642a63000020a0f5b208000000")
GZIP_SECOND = bytes.fromhex("1f8b0800000000000203e363606062642a63000040f335c808000000")
GZIP_BOTH = bytes.fromhex("1f8b0800000000000203e363606060642a63e063606002d100a691b05910000000")
SNAPPY_BARE = bytes.fromhex("081c0e00000001027600")
XERIAL_HEADER = bytes.fromhex("82534e4150505900 00000001 00000001")
XERIAL_FIRST = XERIAL_HEADER + bytes.fromhex("0000000a") + SNAPPY_BARE
LZ4_FIRST = bytes.fromhex("04224d186840080000000000000070080000800e0000000102760000000000")
LZ4_LINKED = bytes.fromhex("04224d184040c0 080000800e00000001027600 00000000")
LZ4_SECOND = bytes.fromhex("04224d186840080000000000000070080000800e0000020102760000000000")
LZ4_CHECKED = bytes.fromhex("04224d187c4008000000000000002d080000800e00000001027600f3c9119600000000f3c91196")
ZSTD_FIRST = bytes.fromhex("28b52ffd20084100000e00000001027600")
ZSTD_SECOND = bytes.fromhex("28b52ffd20084100000e00000201027600")


def capture(recorder: Recorder) -> None:
    """Record every case."""
    recorder.create_topic("plain", retention_ms="-1")
    recorder.create_topic("compressed", retention_ms="-1")
    recorder.create_topic("undone", retention_ms="-1", compression_type="uncompressed")
    recorder.create_topic("compacted", retention_ms="-1", cleanup_policy="compact")
    recorder.create_topic("appended", retention_ms="-1", message_timestamp_type="LogAppendTime")
    recorder.create_topic("unbounded", retention_ms="-1", message_timestamp_after_max_ms=str(2**63 - 1))
    _plain(recorder)
    _records_in_gzip(recorder)
    _gzip(recorder)
    _snappy(recorder)
    _lz4(recorder)
    _zstd(recorder)
    _undone(recorder)
    _record_errors(recorder)
    for name in ("plain", "compressed", "undone", "unbounded"):
        recorder.case(f"what is stored of {name}", FETCH_VERSION, _fetch(name))


def _produce(recorder: Recorder, case: str, topic: str, records: bytes) -> None:
    data = PartitionProduceData(index=0, records=records)
    topic_data = [TopicProduceData(name=topic, partition_data=[data])]
    recorder.case(case, PRODUCE_VERSION, ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=topic_data))


def _fetch(topic: str) -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=10_000_000)
    topics = [FetchTopic(topic=topic, partitions=[partition])]
    return FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=10_000_000, session_epoch=-1, topics=topics)


def _holding(payload: bytes, count: int = 1, codec: int = 0) -> bytes:
    """Return a batch around the payload, whatever it is."""
    return batch(count, FIRST_TIMESTAMP, records=[payload], attributes_too=codec)


def _varint(value: int) -> bytes:
    writer = RawWriter()
    writer.varint(value)
    return writer.getvalue()


def _framed(body: bytes) -> bytes:
    return _varint(len(body)) + body


# Fields of one record each: no timestamp, offset delta 0, then what is wrong.
START = bytes(3)
WITHOUT_END = b"\xff" * 12
WRONG = {
    "length 3 too large": record(length_delta=3),
    "length 1 too small": record(length_delta=-1),
    "length negative": _varint(-5) + record()[1:],
    "length without end": WITHOUT_END,
    "timestamp without end": _framed(b"\0" + WITHOUT_END),
    "offset without end": _framed(b"\0\0" + WITHOUT_END),
    "key size without end": _framed(START + WITHOUT_END),
    "key of 2^31-1 bytes": _framed(START + _varint(INT_MAX) + bytes(9)),
    "key of -2 bytes": _framed(START + _varint(-2) + _varint(1) + b"v" + _varint(0)),
    "value of -2 bytes": _framed(START + _varint(-1) + _varint(-2) + _varint(0)),
    "value of 2^31-1 bytes": _framed(START + _varint(-1) + _varint(INT_MAX) + bytes(9)),
    "2^31-1 headers": _framed(START + _varint(-1) + _varint(-1) + _varint(INT_MAX)),
    "-1 headers": _framed(START + _varint(-1) + _varint(-1) + _varint(-1)),
    "header key of -1 bytes": _framed(START + _varint(-1) + _varint(-1) + _varint(1) + _varint(-1) + _varint(-1)),
    "header value of -1 bytes": _framed(START + _varint(-1) + _varint(-1) + _varint(1) + _varint(0) + _varint(-1)),
    "sizes longer than need be": _framed(START + b"\x81\x00" + b"\x82\x80\x00" + b"v" + b"\x80\x00"),
    "fifth byte above 32 bits": _framed(START + b"\x81\x80\x80\x80\x70" + _varint(1) + b"v" + _varint(0)),
    "nothing": b"",
    "one byte": b"\0",
}


def _plain(recorder: Recorder) -> None:
    for case, content in WRONG.items():
        _produce(recorder, f"plain: {case}", "plain", _holding(content))
    for index in (5, 20, 70):
        row = [record(b"value", offset_delta=each) for each in range(90)]
        row[index] = record(b"value", offset_delta=index, length_delta=1)
        _produce(recorder, f"plain: length of record {index} of 90", "plain", _holding(b"".join(row), 90))
        row[index] = record(b"value", offset_delta=index + 1)
        _produce(recorder, f"plain: offset of record {index} of 90", "plain", _holding(b"".join(row), 90))
    sent = _holding(record(timestamp_delta=10))
    _produce(recorder, "plain: timestamp above the header's", "plain", sent)


def _records_in_gzip(recorder: Recorder) -> None:
    for case, content in WRONG.items():
        fields: BatchFields = {"records": [content], "codec": GZIP}
        _produce(recorder, f"gzip: {case}", "compressed", batch(1, FIRST_TIMESTAMP, **fields))
    both = [record(), record(offset_delta=1)]
    for count in (1, 3):
        fields = {"records": both, "codec": GZIP}
        _produce(recorder, f"gzip: 2 records, said {count}", "compressed", batch(count, FIRST_TIMESTAMP, **fields))


def _gzip(recorder: Recorder) -> None:
    payloads = {
        "no payload": b"",
        "trailing bytes": GZIP_FIRST + b"trailing",
        "half a trailer": GZIP_FIRST[:-4],
        "wrong checksum": GZIP_FIRST[:-8] + bytes(8),
        "half a header": GZIP_FIRST[:5],
    }
    for case, payload in payloads.items():
        _produce(recorder, f"gzip payload: {case}", "compressed", _holding(payload, codec=GZIP))
    members = _holding(GZIP_FIRST + GZIP_SECOND, 2, GZIP)
    _produce(recorder, "gzip payload: two members", "compressed", members)


def _snappy(recorder: Recorder) -> None:
    payloads = {
        "xerial": XERIAL_FIRST,
        "bare block": SNAPPY_BARE,
        "no payload": b"",
        "header alone": XERIAL_HEADER,
        "half a header": XERIAL_HEADER[:12],
        "half a block size": XERIAL_FIRST[:18],
        "block cut": XERIAL_FIRST[:-1],
        "plain records": record(),
    }
    for case, payload in payloads.items():
        _produce(recorder, f"snappy payload: {case}", "compressed", _holding(payload, codec=SNAPPY))


def _lz4(recorder: Recorder) -> None:
    payloads = {
        "one block": LZ4_FIRST,
        "every checksum": LZ4_CHECKED,
        "linked blocks": LZ4_LINKED,
        "no end mark": LZ4_FIRST[:-4],
        "trailing bytes": LZ4_FIRST + b"trailing",
        "no payload": b"",
        "wrong descriptor checksum": LZ4_FIRST[:14] + b"\0" + LZ4_FIRST[15:],
        "wrong block checksum": LZ4_CHECKED[:-9] + b"\0" + LZ4_CHECKED[-8:],
        "wrong content checksum": LZ4_CHECKED[:-1] + b"\0",
        "wrong content size": LZ4_FIRST[:6] + b"\7" + LZ4_FIRST[7:],
    }
    for case, payload in payloads.items():
        _produce(recorder, f"lz4 payload: {case}", "compressed", _holding(payload, codec=LZ4))
    _produce(recorder, "lz4 payload: two frames", "compressed", _holding(LZ4_FIRST + LZ4_SECOND, 2, LZ4))


def _zstd(recorder: Recorder) -> None:
    payloads = {
        "one frame": ZSTD_FIRST,
        "trailing bytes": ZSTD_FIRST + b"trailing",
        "cut": ZSTD_FIRST[:-3],
        "no payload": b"",
    }
    for case, payload in payloads.items():
        _produce(recorder, f"zstd payload: {case}", "compressed", _holding(payload, codec=ZSTD))
    _produce(recorder, "zstd payload: two frames", "compressed", _holding(ZSTD_FIRST + ZSTD_SECOND, 2, ZSTD))


def _undone(recorder: Recorder) -> None:
    for case, content in WRONG.items():
        fields: BatchFields = {"records": [content], "codec": GZIP}
        _produce(recorder, f"undone: {case}", "undone", batch(1, FIRST_TIMESTAMP, **fields))
    _produce(recorder, "undone: plain, length without end", "undone", _holding(WITHOUT_END))
    _produce(recorder, "undone: two records", "undone", _holding(GZIP_BOTH, 2, GZIP))
    _produce(recorder, "undone: xerial", "undone", _holding(XERIAL_FIRST, codec=SNAPPY))
    deltas = batch(2, FIRST_TIMESTAMP, offset_deltas=[0, 5], timestamp_deltas=[3, 9], codec=GZIP)
    _produce(recorder, "undone: offset deltas 0 and 5, the first timestamp 3 ms later", "undone", deltas)
    for bits in (TIMESTAMP_TYPE_BIT, 0x40, 0x80, 0x7F00):
        sent = batch(1, FIRST_TIMESTAMP, codec=GZIP, attributes_too=bits)
        _produce(recorder, f"undone: attribute bits {bits:#x}", "undone", sent)


def _record_errors(recorder: Recorder) -> None:
    five = batch(5, FIRST_TIMESTAMP)
    _produce(recorder, "compacted: five records without key", "compacted", five)
    typed = batch(2, FIRST_TIMESTAMP, attributes_too=TIMESTAMP_TYPE_BIT)
    _produce(recorder, "LogAppendTime said by the client", "appended", typed)
    untimed = batch(2, -1, attributes_too=TIMESTAMP_TYPE_BIT, key=b"key")
    _produce(recorder, "LogAppendTime said by the client, no timestamp", "plain", untimed)
    _produce(recorder, "both errors in one batch", "compacted", batch(2, -1, attributes_too=TIMESTAMP_TYPE_BIT))
    wrapping = batch(1, 2**63 - 1, timestamp_deltas=[10], max_timestamp=5)
    _produce(recorder, "timestamps whose sum wraps", "unbounded", wrapping)
    rewritten = batch(1, FIRST_TIMESTAMP, max_timestamp=5, attributes_too=0x7F80)
    _produce(recorder, "unused attributes and a wrong timestamp", "unbounded", rewritten)
    _produce(recorder, "unused attributes", "unbounded", batch(1, FIRST_TIMESTAMP, attributes_too=0x7F80))


if __name__ == "__main__":
    main(capture)
