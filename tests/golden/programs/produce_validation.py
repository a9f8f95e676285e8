"""Validation of Produce requests before the producer-state check: topics, acks, framing and versions."""

import struct
from collections.abc import Callable
from functools import partial

from .. import raw_apis
from ..case_recorder import Answer, CaseRecorder, fields_of_partitions
from ..raw_batches import legacy_message
from ..raw_client import find_coordinator
from ..raw_schema import Encoder
from . import produce_validation_batches, produce_validation_topics
from .validation_scene import ValidationScene

# A real broker never answers null records; longer than it needs for any other case.
NO_ANSWER_SECONDS = 4.0
LEADER_ERRORS = (3, 6)


def groups(recorder: CaseRecorder) -> list[Callable[[], None]]:
    """The groups of cases, in the order in which they must run: they share a topic."""
    scene = ValidationScene(recorder)
    parts = [
        unknown_topics,
        illegal_topics,
        acks,
        acks_zero,
        record_framing,
        batch_framing,
        *produce_validation_batches.PARTS,
        *produce_validation_topics.PARTS,
        empty_requests,
        versions,
    ]
    return [partial(part, scene) for part in parts]


def unknown_topics(scene: ValidationScene) -> None:
    recorder, topic = scene.recorder, scene.unknown_topic
    scene.check_topic("V01 unknown topic", topic, scene.batch(), version=11)
    answer = recorder.metadata(topic)
    recorder.record("V02 Produce did not auto-create it", None, Answer(answer.integer("error_code")))
    answer = recorder.metadata(topic, auto_create=True)
    recorder.record(
        "V03 Metadata with allow_auto_topic_creation: first answer",
        None,
        Answer(answer.integer("error_code")),
        partitions=len(answer.structs("partitions")),
    )
    for _ in recorder.attempts():
        answer = recorder.metadata(topic, auto_create=True)
        if answer.integer("error_code") == 0:
            break
    recorder.record(
        "V04 Metadata with allow_auto_topic_creation: afterwards",
        None,
        Answer(answer.integer("error_code")),
        partitions=len(answer.structs("partitions")),
    )


def illegal_topics(scene: ValidationScene) -> None:
    recorder = scene.recorder
    scene.check("V05 unknown topic id (v13)", scene.batch(), version=13, topic_id=b"\x11" * 16)
    scene.check("V06 zero topic id (v13)", scene.batch(), version=13, topic_id=bytes(16))
    scene.check("V07 unknown partition", scene.batch(), partition=5)
    scene.check("V08 negative partition", scene.batch(), partition=-1)
    scene.check_topic("V09 illegal topic name", "a b!", scene.batch())
    scene.check_topic("V10 empty topic name", "", scene.batch())
    find_coordinator(recorder.connection, "g", key_type=0)
    answer = recorder.produce("__consumer_offsets", scene.batch())
    for _ in recorder.attempts():
        if answer.integer("error_code") not in LEADER_ERRORS:
            break
        answer = recorder.produce("__consumer_offsets", scene.batch())
    recorder.record(
        "V11 internal topic __consumer_offsets",
        None,
        recorder.answer_of(answer, None),
        error_message=answer.optional_text("error_message"),
    )


def acks(scene: ValidationScene) -> None:
    scene.check("V12 acks=2", scene.batch(), acks=2)
    scene.check("V13 acks=-2", scene.batch(), acks=-2)
    scene.check("V14 acks=2 and unknown partition", scene.batch(), acks=2, partition=9)
    scene.check("V15 acks=2 and bad magic", scene.batch(magic=1), acks=2)
    scene.check("V16 acks=2 and bad crc", scene.batch(has_wrong_crc=True), acks=2)
    scene.check("V17 acks=1", scene.batch(), acks=1)
    scene.check("V18 acks=-1 timeout 0", scene.batch(), timeout_ms=0)
    scene.check("V19 acks=-1 timeout -5", scene.batch(), timeout_ms=-5)


def acks_zero(scene: ValidationScene) -> None:
    recorder = scene.recorder
    for case, topic, records in (
        ("V20 acks=0 good", scene.topic, scene.batch()),
        ("V21 acks=0 unknown topic", recorder.unique("nope"), scene.batch()),
        ("V22 acks=0 bad crc", scene.topic, scene.batch(has_wrong_crc=True)),
    ):
        is_alive = recorder.produce_without_answer(topic, records)
        answer = Answer("NO_RESPONSE", high_watermark=recorder.log_end_offset(scene.topic))
        recorder.record(case, {"acks": 0}, answer, connection_alive=is_alive)


def record_framing(scene: ValidationScene) -> None:
    whole = scene.batch()
    # The recorder connects again after it.
    scene.recorder.connection.seconds_max = NO_ANSWER_SECONDS
    scene.check("V30 records null", None)
    scene.check("V31 records empty", b"")
    scene.check("V32 11 bytes", whole[:11])
    scene.check("V33 20 bytes (header cut)", whole[:20])
    scene.check("V34 last byte cut", whole[:-1])
    scene.check("V35 length field 5 (below the minimum 14)", struct.pack(">qi", 0, 5) + whole[12:])
    scene.check("V36 length field 14..: shorter than a v2 header", struct.pack(">qi", 0, 40) + whole[12:52])
    scene.check("V37 length field negative", struct.pack(">qi", 0, -1) + whole[12:])
    scene.check("V38 length one too small", scene.batch(length_delta=-1))
    scene.check("V39 magic 0 (real v0 message)", legacy_message(0, scene.now))
    scene.check("V40 magic 1 (real v1 message)", legacy_message(1, scene.now))
    scene.check("V41 magic 1 in a v2 frame", scene.batch(magic=1))
    scene.check("V42 magic 3", scene.batch(magic=3))
    scene.check("V43 magic -1", scene.batch(magic=-1))


def batch_framing(scene: ValidationScene) -> None:
    recorder, whole = scene.recorder, scene.batch()
    scene.check("V44 two batches", whole + whole)
    scene.check("V45 good batch + 5 garbage bytes", whole + b"\xff" * 5)
    scene.check("V46 good batch + 16 zero bytes", whole + bytes(16))
    scene.check("V47 good batch + truncated second batch", whole + whole[:40])
    scene.check("V48 good batch + 0xff * 20", whole + b"\xff" * 20)
    scene.check("V49 bad crc", scene.batch(has_wrong_crc=True))
    scene.check("V50 base_offset 7", scene.batch(base_offset=7))
    scene.check("V51 base_offset -1", scene.batch(base_offset=-1))
    scene.check_stored(
        "V52 partition_leader_epoch 55",
        scene.batch(partition_leader_epoch=55),
        "V53 stored leader epoch is overwritten",
    )
    too_small = struct.pack(">qi", 0, 5) + whole[12:]
    answers = recorder.produce_partitions([(scene.topic, [(0, whole), (5, too_small)])])
    recorder.record(
        "V54 one partition with a too small length fails the whole request",
        None,
        Answer(high_watermark=recorder.log_end_offset(scene.topic)),
        parts=fields_of_partitions(answers[0], "index", "error_code"),
    )


def empty_requests(scene: ValidationScene) -> None:
    recorder = scene.recorder
    answers = recorder.produce_partitions([])
    recorder.record("V141 no topics", None, Answer(), response=[topic.text("name") for topic in answers])
    answers = recorder.produce_partitions([(recorder.create_topic(partitions=2), [])])
    recorder.record("V142 topic without partitions", None, Answer(), response=[topic.text("name") for topic in answers])


def versions(scene: ValidationScene) -> None:
    connection = scene.recorder.connection
    for version in (0, 1, 2, 14, 99):
        encoder = Encoder(version, is_flexible=version >= raw_apis.PRODUCE.flexible_since)
        encoder.struct(raw_apis.PRODUCE.request, {"acks": -1, "timeout_ms": 1000, "topics": []})
        header = connection.header(raw_apis.PRODUCE.key, version, is_flexible=encoder.is_flexible)
        scene.check_frame(f"V150 Produce v{version}", header.getvalue() + encoder.writer.getvalue())
    request = connection.header(raw_apis.PRODUCE.key, 11, is_flexible=True)
    request.unsigned_varint(0)
    request.int16(-1)
    request.int32(1000)
    request.unsigned_varint(2_000_000)
    scene.check_frame("V151 malformed body (array length beyond the end)", request.getvalue())
