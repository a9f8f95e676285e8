"""The versions of messages that Kafka 3.9 has, and that neither Kafka 4.0 nor kio has.

tests/protocol/test_messages_of_kafka.py compares the result with the definitions in Kafka's own jar.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .definitions import Message, MessageField, MessageStruct, Primitive, Versions


@dataclass(frozen=True, slots=True, kw_only=True)
class OldVersions:
    """The versions before kio's first one, which have its fields except for these changes. None of them is flexible.

    later: the fields that not all of these versions have, by struct: the first version that has the field.
    added: the fields that only these versions have, by struct, each by the name of the field before it.
    """

    later: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    added: Mapping[str, Mapping[str, MessageField]] = field(default_factory=dict[str, Mapping[str, MessageField]])


def _field(name: str, field_type: Primitive, version: int, default: str, *, is_array: bool = False) -> MessageField:
    return MessageField(
        name=name,
        type=field_type,
        is_array=is_array,
        default=default,
        present=frozenset({version}),
        nullable=frozenset(),
        tagged=frozenset(),
        tag=None,
    )


# The APIs that have such versions, by their modules.
_MODULES = frozenset(
    {
        "alter_replica_log_dirs",
        "create_acls",
        "create_delegation_token",
        "create_topics",
        "delete_acls",
        "delete_topics",
        "describe_acls",
        "describe_configs",
        "describe_delegation_token",
        "describe_log_dirs",
        "expire_delegation_token",
        "fetch",
        "list_offsets",
        "offset_commit",
        "offset_fetch",
        "offset_for_leader_epoch",
        "produce",
        "renew_delegation_token",
        "write_txn_markers",
    }
)
# By the name of the message.
_CHANGES = {
    "CreateAclsRequest": OldVersions(later={"AclCreation": {"resource_pattern_type": 1}}),
    "CreateTopicsRequest": OldVersions(later={"CreateTopicsRequest": {"validate_only": 1}}),
    "CreateTopicsResponse": OldVersions(
        later={"CreateTopicsResponse": {"throttle_time_ms": 2}, "CreatableTopicResult": {"error_message": 1}}
    ),
    "DeleteAclsRequest": OldVersions(later={"DeleteAclsFilter": {"pattern_type_filter": 1}}),
    "DeleteAclsResponse": OldVersions(later={"DeleteAclsMatchingAcl": {"pattern_type": 1}}),
    "DeleteTopicsResponse": OldVersions(later={"DeleteTopicsResponse": {"throttle_time_ms": 1}}),
    "DescribeAclsRequest": OldVersions(later={"DescribeAclsRequest": {"pattern_type_filter": 1}}),
    "DescribeAclsResponse": OldVersions(later={"DescribeAclsResource": {"pattern_type": 1}}),
    "DescribeConfigsRequest": OldVersions(later={"DescribeConfigsRequest": {"include_synonyms": 1}}),
    "DescribeConfigsResponse": OldVersions(
        later={"DescribeConfigsResourceResult": {"config_source": 1, "synonyms": 1}},
        added={
            "DescribeConfigsResourceResult": {"read_only": _field("is_default", Primitive.BOOLEAN, 0, "False")},
        },
    ),
    "FetchRequest": OldVersions(later={"FetchRequest": {"max_bytes": 3, "isolation_level": 4}}),
    "FetchResponse": OldVersions(
        later={
            "FetchResponse": {"throttle_time_ms": 1},
            "PartitionData": {"last_stable_offset": 4, "aborted_transactions": 4},
        }
    ),
    "ListOffsetsRequest": OldVersions(
        added={"ListOffsetsPartition": {"timestamp": _field("max_num_offsets", Primitive.INT32, 0, "1")}}
    ),
    "ListOffsetsResponse": OldVersions(
        later={"ListOffsetsPartitionResponse": {"timestamp": 1, "offset": 1}},
        added={
            "ListOffsetsPartitionResponse": {
                "error_code": _field("old_style_offsets", Primitive.INT64, 0, "[]", is_array=True)
            }
        },
    ),
    "OffsetCommitRequest": OldVersions(
        later={
            "OffsetCommitRequest": {"generation_id_or_member_epoch": 1, "member_id": 1, "retention_time_ms": 2},
        },
        added={
            "OffsetCommitRequestPartition": {
                "committed_leader_epoch": _field("commit_timestamp", Primitive.INT64, 1, "-1")
            }
        },
    ),
    "OffsetForLeaderEpochRequest": OldVersions(later={"OffsetForLeaderPartition": {"current_leader_epoch": 2}}),
    "OffsetForLeaderEpochResponse": OldVersions(
        later={"OffsetForLeaderEpochResponse": {"throttle_time_ms": 2}, "EpochEndOffset": {"leader_epoch": 1}}
    ),
    "ProduceRequest": OldVersions(later={"ProduceRequest": {"transactional_id": 3}}),
    "ProduceResponse": OldVersions(
        later={"ProduceResponse": {"throttle_time_ms": 1}, "PartitionProduceResponse": {"log_append_time_ms": 2}}
    ),
}


def with_old_versions(module: str, message: Message) -> Message:
    """Return the message with the versions that Kafka 4.0 dropped, if it had any. module: that of its API."""
    if module not in _MODULES:
        return message
    first = min(message.struct.versions)
    changes = _CHANGES.get(message.struct.name, OldVersions())
    return replace(message, struct=_extended(message.struct, changes, first))


def _extended(struct: MessageStruct, changes: OldVersions, first: int) -> MessageStruct:
    if first not in struct.versions:
        return struct
    later, added = changes.later.get(struct.name, {}), changes.added.get(struct.name, {})
    fields: list[MessageField] = []
    for known in struct.fields:
        fields.append(_field_since(known, changes, range(later.get(known.name, 0), first), first))
        if known.name in added:
            fields.append(added[known.name])
    return replace(struct, versions=struct.versions | set(range(first)), fields=tuple(fields))


def _field_since(known: MessageField, changes: OldVersions, old: range, first: int) -> MessageField:
    """Return the field as a part of the old versions, if it is a part of the first one of kio."""
    if first not in known.present:
        return known
    numbers: Versions = frozenset(old)
    return replace(
        known,
        type=_extended(known.type, changes, first) if isinstance(known.type, MessageStruct) else known.type,
        present=known.present | numbers,
        nullable=known.nullable | numbers if first in known.nullable else known.nullable,
    )
