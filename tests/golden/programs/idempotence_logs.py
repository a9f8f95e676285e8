"""The producer state and the log around it: partitions, timestamps, deleted records, deleted topics, segments."""

from collections.abc import Callable
from dataclasses import replace

from .. import raw_apis
from ..case_recorder import Answer, Case, CaseRecorder, fields_of_partitions, now_ms
from ..raw_schema import Struct
from .producer_scene import ProducerBatch, ProducerScene, known

UNKNOWN_TOPIC_OR_PARTITION = 3


def partitions(recorder: CaseRecorder) -> None:
    scene = ProducerScene(recorder, recorder.create_topic(partitions=2))
    scene.check("E01 partition 0", known(0))
    scene.check("E02 partition 1, same pid, seq 0", known(0), partition=1)
    scene.check("E03 partition 1, unknown pid, nonzero", ProducerBatch(2, 0, 40), partition=1)
    scene.check("E04 non-idempotent batch between", ProducerBatch(-1, -1, -1))
    scene.check("E05 next after non-idempotent", known(2))
    _several_in_one_request(scene)


def _several_in_one_request(scene: ProducerScene) -> None:
    recorder, topic, now = scene.recorder, scene.topic, scene.now
    fields = ("index", "error_code", "base_offset")
    answers = recorder.produce_partitions(
        [(topic, [(0, known(4).encode(now)), (1, known(9).encode(now)), (7, known(0).encode(now))])]
    )
    recorder.record(
        "E06 one request: p0 next, p1 gap, p7 missing",
        {"partitions": [0, 1, 7]},
        Answer(),
        partitions=fields_of_partitions(answers[0], *fields, "log_start_offset"),
    )
    answers = recorder.produce_partitions([(topic, [(0, known(6).encode(now)), (0, known(8).encode(now))])])
    recorder.record(
        "E07 same partition twice in one request (seq 6 then 8)",
        None,
        Answer(high_watermark=recorder.log_end_offset(topic)),
        topics=[fields_of_partitions(answer, *fields) for answer in answers],
    )
    other = ProducerBatch(9, 0, 0).encode(now)
    answers = recorder.produce_partitions([(topic, [(0, other)]), (topic, [(1, other)])])
    recorder.record(
        "E08 same topic twice in one request (p0, p1)",
        None,
        Answer(high_watermark=recorder.log_end_offset(topic)),
        topics=[fields_of_partitions(answer, "index", "error_code") for answer in answers],
    )


def log_append_time(recorder: CaseRecorder) -> None:
    topic = recorder.create_topic(configs={"message.timestamp.type": "LogAppendTime"})
    sent_ms = now_ms()
    first = _produce(recorder, topic, 0)
    _record_append_time(recorder, topic, ("F01 LogAppendTime first", 0), recorder.answer_of(first, None, sent_ms))
    _wait_for_the_next_millisecond()
    second = _produce(recorder, topic, 0)
    answer = recorder.answer_of(second, None)
    if second["log_append_time"] == first["log_append_time"]:
        answer = replace(answer, log_append_time="original.append.time")
    _record_append_time(recorder, topic, ("F02 LogAppendTime duplicate", 0), answer)
    third = _produce(recorder, topic, 7)
    _record_append_time(recorder, topic, ("F03 LogAppendTime gap", 7), recorder.answer_of(third, None))


def _produce(recorder: CaseRecorder, topic: str, base_sequence: int) -> Struct:
    """A batch of producer 1 whose own timestamp is long past."""
    return recorder.produce(topic, ProducerBatch(1, 0, base_sequence, timestamp=123).encode(recorder.started_ms))


def _record_append_time(recorder: CaseRecorder, topic: str, case: tuple[str, int], answer: Answer) -> None:
    name, base_sequence = case
    sent: Case = {"pid": 1, "base_sequence": base_sequence}
    recorder.record(name, sent, replace(answer, high_watermark=recorder.log_end_offset(topic)))


def _wait_for_the_next_millisecond() -> None:
    """So that a broker which took the time anew would be seen."""
    start = now_ms()
    while now_ms() <= start + 1:
        pass


def create_time(recorder: CaseRecorder) -> None:
    scene = ProducerScene(recorder, recorder.create_topic())
    now = scene.now
    later = known(0, timestamp_deltas=[0, 250], max_timestamp=now + 250)
    scene.check("F04 CreateTime first, ts deltas", later)
    scene.check("F05 CreateTime duplicate, ts deltas", later)
    earlier = replace(
        known(0, timestamp_deltas=[0, 0], max_timestamp=now - 1000),
        timestamp=now - 1000,
        stored_timestamp=now + 250,
    )
    scene.check("F06 duplicate is answered with the max timestamp of the stored batch", earlier)


def deleted_records_and_topics(recorder: CaseRecorder) -> None:
    scene = ProducerScene(recorder, recorder.create_topic())
    for index in range(3):
        scene.check(f"G0{index + 1} fill", known(2 * index))
    scene.delete_records("G04 DeleteRecords to the high watermark")
    scene.check("G05 duplicate of a deleted batch", known(2))
    scene.check("G06 next after DeleteRecords", known(6))
    scene.check("G07 gap after DeleteRecords", known(60))
    scene.state("G08 state kept", 1)
    _recreate(recorder, scene.topic)
    scene.check("H01 re-created topic: old sequence is accepted as unknown pid", known(8))
    scene.check("H02 old topic sequence 0 is now out of order", known(0))


def _recreate(recorder: CaseRecorder, topic: str) -> None:
    recorder.connection.call(raw_apis.DELETE_TOPICS, 5, {"topic_names": [topic]})
    for _ in recorder.attempts():
        if recorder.metadata(topic).integer("error_code") == UNKNOWN_TOPIC_OR_PARTITION:
            break
    recorder.create_topic_named(topic, 1, {})


def segments(recorder: CaseRecorder) -> None:
    configs = {"segment.bytes": "1048576", "max.message.bytes": "1000000"}
    scene = ProducerScene(recorder, recorder.create_topic(configs=configs))
    for index in range(7):
        scene.check(f"I0{index + 1} fill 400 kB", known(index, 1, value=b"z" * 400_000))
    for index in range(2, 7):
        scene.check(f"I1{index} duplicate across segments", known(index, 1, value=b"small"))
    scene.check("I20 fell out of cache", known(1, 1, value=b"small"))
    scene.check("I21 next", known(7, 1, value=b"small"))


PARTS: tuple[Callable[[CaseRecorder], None], ...] = (
    partitions,
    log_append_time,
    create_time,
    deleted_records_and_topics,
    segments,
)
