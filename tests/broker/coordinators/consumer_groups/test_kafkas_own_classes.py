"""Assignments, regular expressions, hashes and records, compared with Kafka's classes (GroupOracle.java)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

import pytest
from xxhash import xxh3_64_intdigest

from fauxka.broker.coordinators.assignors.group_spec import GroupSpec, MemberSpec
from fauxka.broker.coordinators.consumer import records
from fauxka.broker.coordinators.consumer.member import ConsumerMember, MemberState
from fauxka.broker.coordinators.consumer.settings import assignor_of
from fauxka.broker.coordinators.consumer.topic_regex import InvalidRegexError, TopicRegex
from fauxka.broker.coordinators.java_hash_tables import buckets_of_grown, in_hash_order, java_hash_order, uuid_hash
from fauxka.broker.coordinators.share.simple_assignor import ShareGroupSpec, assign
from fauxka.protocol.kafka_uuid import parse_uuid, uuid_text
from fauxka.protocol.stored_records.consumer_group_records import ConsumerRecordType, read_consumer_record
from fauxka.protocol.stored_records.consumer_group_values import (
    ClassicMember,
    ClassicProtocol,
    Partitions,
    RegularExpression,
)

from ....golden.capture_group_oracle import FILE, NAMES

RESULTS: list[tuple[list[str], str]] = [tuple(json.loads(line)) for line in FILE.read_text().splitlines()]
TOPIC = bytes(range(1, 17))


def results_of(kind: str) -> list[tuple[list[str], str]]:
    """Return the arguments and results of one kind of call of GroupOracle."""
    return [(arguments[1:], result) for arguments, result in RESULTS if arguments[0] == kind]


def test_hashes_are_equal() -> None:
    ours = [format(xxh3_64_intdigest(bytes.fromhex(arguments[0])), "x") for arguments, _ in results_of("hash")]

    assert ours == [result for _, result in results_of("hash")]


def matches(text: str) -> str:
    """Return what GroupOracle prints for a regular expression."""
    try:
        expression = TopicRegex(text)
    except InvalidRegexError as error:
        return error.description
    return "".join("1" if expression.matches(name) else "0" for name in NAMES)


def test_expressions_match_the_same_names_and_have_the_same_error_messages() -> None:
    texts = [base64.b64decode(arguments[0]).decode() for arguments, _ in results_of("regex")]

    ours = {text: matches(text) for text in texts}

    assert ours == dict(zip(texts, (result for _, result in results_of("regex")), strict=True))


def _in_hash_set(topic_ids: list[bytes]) -> list[bytes]:
    """Return the ids in the iteration order of GroupOracle's HashSet."""
    return in_hash_order(topic_ids, uuid_hash, buckets_of_grown(len(topic_ids)))


def _partitions_of(text: str) -> dict[bytes, frozenset[int]]:
    """Return the partitions by topic of "TOPIC:P.P.P+TOPIC:P"."""
    topics = [part.split(":") for part in text.split("+") if part]
    return {parse_uuid(topic): frozenset(map(int, partitions.split("."))) for topic, partitions in topics}


def members_of(entries: str) -> dict[str, MemberSpec]:
    """Return the members of the arguments of an assignment."""
    members: dict[str, MemberSpec] = {}
    for entry in entries.split(","):
        member_id, instance, subscribed, assigned = entry.split("/")
        topic_ids = _in_hash_set([parse_uuid(topic) for topic in subscribed.split("+") if topic])
        members[member_id] = MemberSpec(tuple(topic_ids), _partitions_of(assigned), instance or None)
    return {member_id: members[member_id] for member_id in java_hash_order(members)}


def spec_of(arguments: list[str]) -> GroupSpec:
    """Return the group of the arguments of an assignment."""
    _, is_homogeneous, topics, entries = arguments
    counts = [topic.rsplit("=", 1) for topic in topics.split(",")]
    return GroupSpec(
        members_of(entries), {parse_uuid(topic): int(count) for topic, count in counts}, is_homogeneous == "1"
    )


def printed(assigned: Mapping[str, Partitions]) -> str:
    """Return what GroupOracle prints for an assignment."""
    members: list[str] = []
    for member_id in sorted(assigned):
        topics = [
            f"{uuid_text(topic_id)}:{'.'.join(map(str, sorted(owned)))}"
            for topic_id, owned in assigned[member_id].items()
        ]
        members.append(f"{member_id}/{'+'.join(sorted(topics))}")
    return ",".join(members)


@pytest.mark.parametrize("assignor", ["range", "uniform"])
def test_every_member_is_assigned_the_same_partitions(assignor: str) -> None:
    calls = [(arguments, result) for arguments, result in results_of("assign") if arguments[0] == assignor]

    ours = [printed(assignor_of(assignor)(spec_of(arguments))) for arguments, _ in calls]

    assert len(calls) > 80
    assert ours == [result for _, result in calls]


def test_every_member_of_a_share_group_is_assigned_the_same_partitions() -> None:
    calls = [(arguments, result) for arguments, result in results_of("assign") if arguments[0] == "simple"]

    ours = [
        printed(assign(ShareGroupSpec(members_of(entries), _partitions_of(assignable), is_homogeneous == "1")))
        for (_, is_homogeneous, _, entries, assignable), _ in calls
    ]

    assert len(calls) > 80
    assert ours == [result for _, result in calls]


def test_records_have_the_same_bytes() -> None:
    plain = ConsumerMember(member_id="m", client_id="c", client_host="/127.0.0.1")
    whole = ConsumerMember(
        member_id="m",
        member_epoch=7,
        previous_member_epoch=6,
        state=MemberState.UNREVOKED_PARTITIONS,
        instance_id="i",
        rack_id="r",
        rebalance_timeout_ms=300_000,
        client_id="c",
        client_host="/127.0.0.1",
        subscribed_topic_names=frozenset({"b", "a"}),
        subscribed_topic_regex="x.*",
        server_assignor="uniform",
        assigned={TOPIC: {0: 5, 3: 7}},
        pending_revocation={TOPIC: {4: 2}},
        classic=ClassicMember(45_000, (ClassicProtocol("range", b"\x01\x02"),)),
    )
    expected = [
        records.group_record("g", 3, 0),
        records.group_record("g", 4, -2),
        records.tombstone(ConsumerRecordType.GROUP_METADATA, "g"),
        records.tombstone(ConsumerRecordType.PARTITION_METADATA, "g"),
        records.member_record("g", plain),
        records.member_record("g", whole),
        records.tombstone(ConsumerRecordType.MEMBER_METADATA, "g", "m"),
        records.target_assignment_metadata_record("g", 4, 0),
        records.target_assignment_metadata_record("g", 4, 1_700_000_000_000),
        records.tombstone(ConsumerRecordType.TARGET_ASSIGNMENT_METADATA, "g"),
        records.target_assignment_record("g", "m", {}),
        records.target_assignment_record("g", "m", {TOPIC: frozenset({2, 0})}),
        records.tombstone(ConsumerRecordType.TARGET_ASSIGNMENT_MEMBER, "g", "m"),
        records.current_assignment_record("g", plain),
        records.current_assignment_record("g", whole),
        records.tombstone(ConsumerRecordType.CURRENT_MEMBER_ASSIGNMENT, "g", "m"),
        records.regex_record("g", "x.*", RegularExpression(("xa", "xb"), 12, 34)),
        records.tombstone(ConsumerRecordType.REGULAR_EXPRESSION, "g", "x.*"),
    ]
    ((_, result),) = results_of("records")
    pairs = [each.split("=") for each in result.split(",")]
    theirs = [(bytes.fromhex(key), None if value == "-" else bytes.fromhex(value)) for key, value in pairs]

    assert [(record.encode_key(), record.encode_value()) for record in expected] == theirs
    assert [read_consumer_record(key, value) for key, value in theirs] == expected
