"""Kafka's dump tool reads the groups and offsets that fauxka keeps, and finds in them what fauxka does."""

import binascii
import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fauxka.broker.coordinators.group.group_member import find_subscribed_topics
from fauxka.protocol.batches.records import Record
from fauxka.protocol.kafka_uuid import uuid_text
from fauxka.protocol.primitives import ZERO_UUID
from fauxka.protocol.stored_records.group_log_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    GroupRecordType,
    OffsetCommitKey,
    OffsetCommitValue,
    record_type_of,
)
from fauxka.testing import Broker

from ..golden.capture_groups import GROUP_CONFIG, SEGMENT
from ..golden.group_recorder import GroupRecorder
from ..golden.group_scenes import offsets, restart
from ..golden.offsets_log import records_of
from .dump_tool import offsets_decoded

pytestmark = pytest.mark.reference

Json = dict[str, object]
# What the tool prints in place of no value.
DELETED = "<DELETE>"
GOLDEN_LOG = Path(__file__).parent.parent / "golden" / "consumer_offsets-4.3.0.log"
PRINTED = re.compile(r"^\| offset: .* key: (\{.*\}) payload: (.*)$", re.MULTILINE)


def kafkas_own(folder: Path) -> Path:
    """What a real Kafka wrote."""
    segment = folder / SEGMENT
    segment.parent.mkdir()
    shutil.copy(GOLDEN_LOG, segment)
    return segment


def fauxkas(folder: Path) -> Path:
    """What fauxka wrote of groups in every state, and of commits of every kind."""
    with Broker(GROUP_CONFIG, data_dir=folder) as broker:
        recorder = GroupRecorder(broker.bootstrap_servers, io.StringIO())
        recorder.create_topic(offsets.TOPIC, offsets.PARTITION_COUNT)
        restart.before(recorder)
        recorder.close_others()
        recorder.connection.close()
    return folder / SEGMENT


@pytest.mark.parametrize("made", [kafkas_own, fauxkas])
def test_the_tool_prints_the_records_that_we_read(made: Callable[[Path], Path], tmp_path: Path) -> None:
    segment = made(tmp_path / "data" if made is fauxkas else tmp_path)

    printed = offsets_decoded(segment.parent)

    records = list(records_of(segment.read_bytes()))
    assert printed.complaints == []
    assert len(records) > 20
    assert [(json.loads(key), _printed(value)) for key, value in PRINTED.findall(printed.output)] == [
        (_key(record), _value(record)) for record in records
    ]


def _printed(value: str) -> Json | None:
    return None if value == DELETED else json.loads(value)


def _is_group(record: Record) -> bool:
    return record_type_of(record.key or b"") == GroupRecordType.GROUP_METADATA


def _key(record: Record) -> Json:
    key = record.key or b""
    if _is_group(record):
        return {"type": "2", "data": {"group": GroupMetadataKey.read(key).group}}
    read = OffsetCommitKey.read(key)
    return {"type": "1", "data": {"group": read.group, "topic": read.topic, "partition": read.partition}}


def _value(record: Record) -> Json | None:
    if record.value is None:
        return None
    data = _group(record.value) if _is_group(record) else _offset(record.value)
    return {"version": str(int.from_bytes(record.value[:2])), "data": data}


def _offset(value: bytes) -> Json:
    read = OffsetCommitValue.read(value)
    data: Json = {"offset": read.offset, "metadata": read.metadata, "commitTimestamp": read.commit_timestamp}
    if read.expire_timestamp != -1:
        return data | {"expireTimestamp": read.expire_timestamp}
    assert read.topic_id != ZERO_UUID
    return data | {"leaderEpoch": read.leader_epoch, "topicId": uuid_text(read.topic_id)}


def _group(value: bytes) -> Json:
    read = GroupMetadataValue.read(value)
    return {
        "protocolType": read.protocol_type,
        "generation": read.generation,
        "protocol": read.protocol,
        "leader": read.leader,
        "currentStateTimestamp": read.current_state_timestamp,
        "members": [
            {
                "memberId": member.member_id,
                "groupInstanceId": member.group_instance_id,
                "clientId": member.client_id,
                "clientHost": member.client_host,
                "rebalanceTimeout": member.rebalance_timeout,
                "sessionTimeout": member.session_timeout,
                "subscription": _subscription(read.protocol_type, member.subscription),
                "assignment": _base64(member.assignment),
            }
            for member in read.members
        ],
    }


def _subscription(protocol_type: str, data: bytes) -> Json | str:
    """The tool knows what consumers say of themselves; here each names one topic and nothing else."""
    topics = find_subscribed_topics(data) if protocol_type == "consumer" else None
    return _base64(data) if topics is None else {"topics": sorted(topics), "userData": None}


def _base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode()
