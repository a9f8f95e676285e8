"""Records of streams groups: written and read back, and any bytes. Captures compare their bytes with those of Kafka."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol.frames import FrameError
from fauxka.protocol.messages.streams_group_heartbeat import KeyValue, Subtopology, TopicInfo, Topology
from fauxka.protocol.stored_records.consumer_group_values import TargetAssignmentMetadata
from fauxka.protocol.stored_records.streams_group_records import (
    CurrentTasks,
    StreamsCurrentAssignment,
    StreamsGroupMetadata,
    StreamsMemberMetadata,
    StreamsRecordType,
    StreamsTopology,
    TargetTasks,
    Task,
    read_streams_record,
)
from fauxka.protocol.stored_records.typed_records import RecordValue, TypedRecord

TEXTS = st.text(st.characters(codec="utf-8"), max_size=5)
INT32S = st.integers(-(2**31), 2**31 - 1)
EPOCHS = st.integers(-1, 2**31 - 1)
TAGS = st.dictionaries(TEXTS, TEXTS, max_size=3)
TASK = st.builds(Task, TEXTS, st.integers(0, 2**31 - 1))
TASKS = st.frozensets(TASK, max_size=4)
CURRENT_TASKS = st.builds(CurrentTasks, st.dictionaries(TASK, EPOCHS, max_size=4), TASKS, TASKS)
TOPIC_INFO = st.builds(
    TopicInfo, name=TEXTS, partitions=INT32S, topic_configs=st.lists(st.builds(KeyValue, key=TEXTS, value=TEXTS))
)
SUBTOPOLOGY = st.builds(
    Subtopology,
    subtopology_id=TEXTS,
    source_topics=st.lists(TEXTS, max_size=2),
    state_changelog_topics=st.lists(TOPIC_INFO, max_size=2),
)
VALUES: dict[StreamsRecordType, st.SearchStrategy[RecordValue]] = {
    StreamsRecordType.GROUP_METADATA: st.builds(
        StreamsGroupMetadata,
        EPOCHS,
        st.integers(-(2**63), 2**63 - 1),
        EPOCHS,
        st.none() | TAGS,
        EPOCHS,
        EPOCHS,
    ),
    StreamsRecordType.MEMBER_METADATA: st.builds(
        StreamsMemberMetadata,
        instance_id=st.none() | TEXTS,
        rack_id=st.none() | TEXTS,
        client_id=TEXTS,
        client_host=TEXTS,
        rebalance_timeout_ms=INT32S,
        topology_epoch=INT32S,
        process_id=TEXTS,
        user_endpoint=st.none() | st.tuples(TEXTS, st.integers(0, 2**16 - 1)),
        client_tags=TAGS,
    ),
    StreamsRecordType.TARGET_ASSIGNMENT_METADATA: st.builds(TargetAssignmentMetadata, EPOCHS),
    StreamsRecordType.TARGET_ASSIGNMENT_MEMBER: st.builds(TargetTasks, TASKS, TASKS, TASKS),
    StreamsRecordType.CURRENT_MEMBER_ASSIGNMENT: st.builds(
        StreamsCurrentAssignment,
        member_epoch=INT32S,
        previous_member_epoch=INT32S,
        state=st.integers(0, 3),
        assigned=CURRENT_TASKS,
        pending_revocation=CURRENT_TASKS,
    ),
    StreamsRecordType.TOPOLOGY: st.builds(
        StreamsTopology, st.builds(Topology, epoch=INT32S, subtopologies=st.lists(SUBTOPOLOGY, max_size=2))
    ),
}


@st.composite
def records(draw: st.DrawFn) -> TypedRecord:
    record_type = draw(st.sampled_from(StreamsRecordType))
    value: RecordValue | None = draw(st.none() | VALUES[record_type])
    return TypedRecord(record_type, draw(TEXTS), draw(TEXTS) if record_type.is_named else "", value)


@given(records())
def test_a_written_record_is_read_back(record: TypedRecord) -> None:
    assert read_streams_record(record.encode_key(), record.encode_value()) == record


@given(st.sampled_from(StreamsRecordType), st.binary(max_size=60), st.none() | st.binary(max_size=60))
def test_any_bytes_are_read_or_rejected(record_type: StreamsRecordType, key: bytes, value: bytes | None) -> None:
    try:
        read_streams_record(record_type.to_bytes(2) + key, None if value is None else b"\x00\x00" + value)
    except FrameError:
        return


def test_a_later_version_is_refused() -> None:
    with pytest.raises(FrameError, match="version 1"):
        read_streams_record(b"\x00\x11\x00\x01g", b"\x00\x01")
