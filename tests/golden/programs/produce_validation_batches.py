"""Validation of what is inside a batch: counts, record lengths, attributes and timestamps."""

import time
from collections.abc import Callable

from ..case_recorder import Answer, Json, now_ms
from ..raw_batches import GZIP, record, stored_records
from .validation_scene import ValidationScene

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
TIMESTAMP_TYPE_BIT, DELETE_HORIZON_BIT, UNUSED_BIT = 0x08, 0x40, 0x80


def counts(scene: ValidationScene) -> None:
    scene.check("V60 count 0 (no records)", scene.batch(0, last_offset_delta=-1))
    scene.check("V61 count 0, last_delta 0", scene.batch(0, last_offset_delta=0))
    scene.check("V62 count 2, 2 records, last_delta 0", scene.batch(2, last_offset_delta=0))
    scene.check("V63 count 2, 2 records, last_delta 5", scene.batch(2, last_offset_delta=5))
    scene.check("V64 count 3 last_delta 2, only 2 records", scene.batch(2, claimed_count=3, last_offset_delta=2))
    scene.check("V65 count 1 last_delta 0, 2 records inside", scene.batch(2, claimed_count=1, last_offset_delta=0))
    scene.check("V66 last_delta -1, count 1", scene.batch(1, last_offset_delta=-1))
    scene.check("V67 record length off by one (+1)", scene.batch(records=[record(length_delta=1)]))
    scene.check("V68 record length off by one (-1)", scene.batch(records=[record(length_delta=-1)]))


def offset_deltas(scene: ValidationScene) -> None:
    recorder, gap = scene.recorder, [0, 5]
    scene.check_stored(
        "V69 record offset deltas 0,5 uncompressed", scene.batch(2, offset_deltas=gap), "V70 stored offset deltas"
    )
    offset = recorder.log_end_offset(scene.topic)
    assert isinstance(offset, int)
    scene.check("V71 record offset deltas 0,5 gzip", scene.batch(2, offset_deltas=gap, codec=GZIP))
    batches = recorder.fetch_batches(scene.topic, offset)
    deltas: list[Json] | None = None
    if batches:
        deltas = [stored.offset_delta for stored in stored_records(batches[0].plain_payload(), 2)]
    recorder.record("V72 stored offset deltas after gzip (rebuilt)", None, Answer(), deltas=deltas)


def attributes(scene: ValidationScene) -> None:
    scene.check("V73 control bit", scene.batch(is_control=True))
    scene.check_stored("V74 delete-horizon bit", scene.batch(attributes_too=DELETE_HORIZON_BIT), "V75 stored")
    scene.check_stored("V76 unused attribute bit 7", scene.batch(attributes_too=UNUSED_BIT), "V77 stored")
    scene.check_stored(
        "V78 timestamp-type bit on a CreateTime topic", scene.batch(attributes_too=TIMESTAMP_TYPE_BIT), "V79 stored"
    )
    without_timestamp = scene.batch(timestamp=-1, attributes_too=TIMESTAMP_TYPE_BIT)
    scene.check("V80 timestamp-type bit and timestamp -1", without_timestamp)
    scene.check("V81 record attributes nonzero", scene.batch(records=[record(attributes=7)]))
    scene.check("V82 null value", scene.batch(value=None))
    scene.check("V83 with headers", scene.batch(records=[record(headers=[(b"a", b"1"), (b"b", None)])]))


def timestamps(scene: ValidationScene) -> None:
    recorder, now = scene.recorder, scene.now
    scene.check("V90 timestamp +59 min", scene.batch(timestamp=now + 59 * MINUTE_MS))
    scene.check("V91 timestamp +61 min", scene.batch(timestamp=now + 61 * MINUTE_MS))
    scene.check("V92 timestamp 0", scene.batch(timestamp=0))
    scene.check("V93 timestamp -1 (none)", scene.batch(timestamp=-1))
    scene.check("V94 timestamp -2", scene.batch(timestamp=-2))
    in_the_future = [0, 2 * HOUR_MS, 2 * HOUR_MS + 100_000]
    scene.check("V95 3 records, 2 of them in the future", scene.batch(3, timestamp_deltas=in_the_future))
    recent_only = recorder.create_topic(configs={"message.timestamp.before.max.ms": "1000"})
    scene.check_topic("V96 before.max.ms=1000, 10 s old", recent_only, scene.batch(timestamp=now - 10_000))
    scene.check_topic("V97 before.max.ms=1000, now", recent_only, scene.batch(timestamp=now_ms()))


def log_append_time(scene: ValidationScene) -> None:
    recorder = scene.recorder
    topic = recorder.create_topic(configs={"message.timestamp.type": "LogAppendTime"})
    scene.check_topic("V98 LogAppendTime topic, any timestamp", topic, scene.batch(timestamp=5))
    scene.check_topic(
        "V99 LogAppendTime topic, timestamp-type bit", topic, scene.batch(attributes_too=TIMESTAMP_TYPE_BIT)
    )
    scene.check_topic("V100 LogAppendTime topic, future", topic, scene.batch(timestamp=scene.now + 9 * HOUR_MS))
    stored = recorder.fetch_batches(topic)[0]
    recorder.record(
        "V101 LogAppendTime stored",
        None,
        Answer(),
        attrs=stored.attributes,
        max_ts_is_now=abs(stored.max_timestamp - time.time() * 1000) < MINUTE_MS,
        base_ts=stored.base_timestamp,
        crc_ok=stored.is_crc_right,
    )


def max_timestamp(scene: ValidationScene) -> None:
    too_small = scene.batch(2, timestamp_deltas=[0, 500], max_timestamp=scene.now)
    scene.check_stored("V102 header max_timestamp too small", too_small, "V103 stored max corrected")
    too_big = scene.batch(2, max_timestamp=scene.now + 99_999)
    scene.check_stored("V104 header max_timestamp too big", too_big, "V105 stored max corrected")


PARTS: tuple[Callable[[ValidationScene], None], ...] = (
    counts,
    offset_deltas,
    attributes,
    timestamps,
    log_append_time,
    max_timestamp,
)
