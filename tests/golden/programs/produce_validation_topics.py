"""Validation that depends on the topic's settings or on the request: compression, sizes, transactions."""

from collections.abc import Callable

from ..case_recorder import Answer, fields_of_partitions
from ..raw_apis_transactions import INIT_PRODUCER_ID
from ..raw_batches import CODEC_MASK, GZIP, LZ4, SNAPPY, ZSTD, record
from ..raw_client import find_coordinator
from .validation_scene import ValidationScene

BROKEN_PAYLOAD = b"\0\1\2"


def codecs(scene: ValidationScene) -> None:
    scene.check("V110 gzip", scene.batch(3, codec=GZIP))
    scene.check("V110 snappy", scene.batch(3, codec=SNAPPY))
    scene.check("V111 zstd codec id on v6", scene.batch(codec=ZSTD, payload=b"\0"), version=6)
    scene.check("V112 zstd codec id, broken payload, v7", scene.batch(codec=ZSTD, payload=BROKEN_PAYLOAD), version=7)
    scene.check("V113 lz4 broken payload", scene.batch(codec=LZ4, payload=BROKEN_PAYLOAD))
    for codec in (5, 6, 7):
        scene.check(f"V114 codec id {codec}", scene.batch(codec=codec, payload=record()))
    scene.check("V115 codec id 5 on v6", scene.batch(codec=5, payload=record()), version=6)
    scene.check("V116 gzip bit but plain payload", scene.batch(attributes_too=GZIP))


def compression_type(scene: ValidationScene) -> None:
    recorder = scene.recorder
    for setting in ("gzip", "uncompressed", "producer", "snappy", "lz4", "zstd"):
        topic = recorder.create_topic(configs={"compression.type": setting})
        plain = scene.batch(3, producer_id=5, producer_epoch=0, base_sequence=0)
        gzipped = scene.batch(3, producer_id=5, producer_epoch=0, base_sequence=3, codec=GZIP)
        first, second, duplicate = (recorder.produce(topic, records) for records in (plain, gzipped, plain))
        batches = recorder.fetch_batches(topic)
        answer = Answer(
            first.integer("error_code"),
            second.integer("base_offset"),
            high_watermark=recorder.log_end_offset(topic),
        )
        recorder.record(
            f"V117 compression.type={setting}: stored codec for (none, gzip) input",
            None,
            answer,
            codecs=[stored.attributes & CODEC_MASK for stored in batches],
            seqs=[stored.base_sequence for stored in batches],
            duplicate=[duplicate.integer("error_code"), duplicate.integer("base_offset")],
        )


def topic_settings(scene: ValidationScene) -> None:
    recorder = scene.recorder
    compacted = recorder.create_topic(configs={"cleanup.policy": "compact"})
    scene.check_topic("V120 compacted topic, null key", compacted, scene.batch(2))
    scene.check_topic("V121 compacted topic, key", compacted, scene.batch(2, key=b"k"))
    small = recorder.create_topic(configs={"max.message.bytes": "500"})
    value_of_size = {len(scene.batch(value=b"x" * length)): b"x" * length for length in range(380, 460)}
    scene.check_size("V122 batch exactly max.message.bytes", small, scene.batch(value=value_of_size[500]))
    scene.check_size("V123 batch one byte above max.message.bytes", small, scene.batch(value=value_of_size[501]))
    too_large = b"x" * 1000
    scene.check_topic("V124 too large and bad crc", small, scene.batch(value=too_large, has_wrong_crc=True))
    scene.check_topic("V125 too large and base_offset 7", small, scene.batch(value=too_large, base_offset=7))
    compressible = scene.batch(value=b"x" * 5000, codec=GZIP)
    scene.check_topic("V126 gzip within the limit although records are larger", small, compressible)
    segments = recorder.create_topic(configs={"segment.bytes": "1048576", "max.message.bytes": "3000000"})
    scene.check_topic("V127 batch larger than segment.bytes", segments, scene.batch(value=b"x" * 1_500_000))
    replicated = recorder.create_topic(configs={"min.insync.replicas": "2"})
    scene.check_topic("V128 min.insync.replicas=2 with 1 replica, acks=-1", replicated, scene.batch())


def transactional_flags(scene: ValidationScene) -> None:
    _ensure_transaction_log(scene)
    batch = scene.batch(producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    plain = scene.batch(producer_id=8, producer_epoch=0, base_sequence=0)
    scene.check("V130 transactional bit, no transactional id", batch)
    scene.check(
        "V131 transactional bit, transactional id unknown to the coordinator, v10",
        batch,
        transactional_id="nope",
        version=10,
    )
    scene.check("V132 same, v11", batch, transactional_id="nope", version=11)
    scene.check("V133 same, v12", batch, transactional_id="nope", version=12)
    offset = scene.recorder.log_end_offset(scene.topic)
    assert isinstance(offset, int)
    without_producer = scene.batch(is_transactional=True)
    scene.check("V134 transactional bit without producer id", without_producer, transactional_id="nope")
    scene.stored("V135 stored", offset)
    scene.check("V136 transactional id given, batch not transactional", plain, transactional_id="nope")
    scene.check("V137 transactional id empty string, transactional batch v11", batch, transactional_id="")
    scene.check("V138 transactional id empty string, transactional batch v12", batch, transactional_id="", version=12)


def transactional_requests(scene: ValidationScene) -> None:
    recorder = scene.recorder
    topic = recorder.create_topic(partitions=2)
    batch = scene.batch(producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    other = scene.batch(producer_id=8, producer_epoch=0, base_sequence=0, is_transactional=True)
    answers = recorder.produce_partitions([(topic, [(0, batch), (1, other)])], "nope")
    recorder.record(
        "V139 two producer ids in one transactional request",
        None,
        Answer(high_watermark=recorder.log_end_offset(topic)),
        parts=fields_of_partitions(answers[0], "index", "error_code", "error_message"),
    )
    answers = recorder.produce_partitions([(topic, [(0, batch), (1, scene.batch())])])
    recorder.record(
        "V140 null transactional id: one transactional, one plain partition",
        None,
        Answer(high_watermark=recorder.log_end_offset(topic, 1)),
        parts=fields_of_partitions(answers[0], "index", "error_code"),
    )


def _ensure_transaction_log(scene: ValidationScene) -> None:
    """Wait for a real broker's __transaction_state; before it exists the answer is 19 NOT_ENOUGH_REPLICAS."""
    connection, transactional_id = scene.recorder.connection, scene.recorder.unique("ensure")
    for _ in scene.recorder.attempts():
        answer = connection.call(INIT_PRODUCER_ID, 5, {"transactional_id": transactional_id})
        if answer.integer("error_code") == 0:
            return
        find_coordinator(connection, transactional_id, key_type=1)


PARTS: tuple[Callable[[ValidationScene], None], ...] = (
    codecs,
    compression_type,
    topic_settings,
    transactional_flags,
    transactional_requests,
)
