"""The messages of Kafka 4.4 that kio does not define: new versions of known messages, and the messages of a new API.

tests/protocol/test_messages_of_kafka.py compares the result with the definitions in Kafka's own jar.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .definitions import Message, MessageField, MessageKind, MessageStruct, Primitive


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVersion:
    """A version of a message that has the fields of the version before it, except for these changes.

    added: the new fields of a struct, each by the name of the field before it. removed: the names of the fields that a
    struct no longer has. renamed: the new names of fields, in every version.
    """

    number: int
    added: Mapping[str, Mapping[str, MessageField]] = field(default_factory=dict[str, Mapping[str, MessageField]])
    removed: Mapping[str, str] = field(default_factory=dict[str, str])
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])


def _field(
    name: str,
    field_type: Primitive | MessageStruct,
    version: int,
    default: str,
    *,
    is_nullable: bool = False,
) -> MessageField:
    """Return a field of one version. One whose default is an empty list is an array."""
    only = frozenset({version})
    return MessageField(
        name=name,
        type=field_type,
        is_array=default == "[]",
        default=default,
        present=only,
        nullable=only if is_nullable else frozenset(),
        tagged=frozenset(),
        tag=None,
    )


def _struct(name: str, *fields: MessageField, version: int = 0) -> MessageStruct:
    only = frozenset({version})
    return MessageStruct(name=name, versions=only, flexible=only, fields=fields)


def _topology_description(version: int) -> MessageStruct:
    """Return the struct of KIP-1331, as this version of a message has it."""

    def names(name: str) -> MessageField:
        return _field(name, Primitive.STRING, version, "[]")

    def text(name: str) -> MessageField:
        return _field(name, Primitive.STRING, version, '""')

    node = _struct(
        "TopologyDescriptionNode",
        text("name"),
        _field("node_type", Primitive.INT8, version, "0"),
        names("source_topics"),
        _field("sink_topic", Primitive.STRING, version, "None", is_nullable=True),
        names("stores"),
        names("successors"),
        version=version,
    )
    nodes = _field("nodes", node, version, "[]")
    subtopology = _struct("TopologyDescriptionSubtopology", text("subtopology_id"), nodes, version=version)
    ends = [_field(name, node, version, f"{node.name}()") for name in ("source", "processor")]
    store = _struct("TopologyDescriptionGlobalStore", *ends, version=version)
    return _struct(
        "TopologyDescription",
        _field("subtopologies", subtopology, version, "[]"),
        _field("global_stores", store, version, "[]"),
        version=version,
    )


_TOPIC_ID = {"name": _field("topic_id", Primitive.UUID, 6, "ZERO_UUID")}
# By the name of the message.
NEW_VERSIONS = {
    # KIP-1242
    "ApiVersionsRequest": NewVersion(
        number=5,
        added={
            "ApiVersionsRequest": {
                "client_software_version": _field("cluster_id", Primitive.STRING, 5, "None", is_nullable=True),
                "cluster_id": _field("node_id", Primitive.INT32, 5, "-1"),
            }
        },
    ),
    "ApiVersionsResponse": NewVersion(number=5),
    # KIP-1319
    "TxnOffsetCommitRequest": NewVersion(
        number=6,
        added={"TxnOffsetCommitRequestTopic": _TOPIC_ID},
        removed={"TxnOffsetCommitRequestTopic": "name"},
    ),
    "TxnOffsetCommitResponse": NewVersion(
        number=6,
        added={"TxnOffsetCommitResponseTopic": _TOPIC_ID},
        removed={"TxnOffsetCommitResponseTopic": "name"},
    ),
    # KIP-1331
    "DeleteGroupsRequest": NewVersion(number=3),
    "DeleteGroupsResponse": NewVersion(
        number=3,
        added={
            "DeletableGroupResult": {
                "error_code": _field("error_message", Primitive.STRING, 3, "None", is_nullable=True)
            }
        },
    ),
    # KIP-1071, 1331, 1357
    "StreamsGroupHeartbeatRequest": NewVersion(number=1),
    "StreamsGroupHeartbeatResponse": NewVersion(
        number=1,
        added={
            "StreamsGroupHeartbeatResponse": {
                "task_offset_interval_ms": _field("acceptable_recovery_lag", Primitive.INT64, 1, "-1"),
                "warmup_tasks": _field("topology_description_required", Primitive.BOOLEAN, 1, "False"),
            }
        },
        removed={"StreamsGroupHeartbeatResponse": "acceptable_recovery_lag_legacy"},
        renamed={"acceptable_recovery_lag": "acceptable_recovery_lag_legacy"},
    ),
    "StreamsGroupDescribeRequest": NewVersion(
        number=1,
        added={
            "StreamsGroupDescribeRequest": {
                "include_authorized_operations": _field("include_topology_description", Primitive.BOOLEAN, 1, "False")
            }
        },
    ),
    "StreamsGroupDescribeResponse": NewVersion(
        number=1,
        added={
            "DescribedGroup": {
                "authorized_operations": _field(
                    "topology_description", _topology_description(1), 1, "None", is_nullable=True
                ),
                "topology_description": _field("topology_description_status", Primitive.INT8, 1, "0"),
                "topology_description_status": _field("assignor_name", Primitive.STRING, 1, "None", is_nullable=True),
            }
        },
    ),
}


# By the name of the module.
NEW_MESSAGES = {
    "unregister_controller": [
        Message(
            kind=MessageKind.REQUEST,
            api_key=94,
            struct=_struct("UnregisterControllerRequest", _field("controller_id", Primitive.INT32, 0, "0")),
        ),
        Message(
            kind=MessageKind.RESPONSE,
            api_key=94,
            struct=_struct(
                "UnregisterControllerResponse",
                _field("throttle_time_ms", Primitive.INT32, 0, "0"),
                _field("error_code", Primitive.INT16, 0, "0"),
                _field("error_message", Primitive.STRING, 0, '""', is_nullable=True),
            ),
        ),
    ],
    # KIP-1331
    "streams_group_topology_description_update": [
        Message(
            kind=MessageKind.REQUEST,
            api_key=93,
            struct=_struct(
                "StreamsGroupTopologyDescriptionUpdateRequest",
                _field("group_id", Primitive.STRING, 0, '""'),
                _field("member_id", Primitive.STRING, 0, '""'),
                _field("topology_epoch", Primitive.INT32, 0, "0"),
                _field("topology_description", _topology_description(0), 0, "TopologyDescription()"),
            ),
        ),
        Message(
            kind=MessageKind.RESPONSE,
            api_key=93,
            struct=_struct(
                "StreamsGroupTopologyDescriptionUpdateResponse",
                _field("throttle_time_ms", Primitive.INT32, 0, "0"),
                _field("error_code", Primitive.INT16, 0, "0"),
                _field("error_message", Primitive.STRING, 0, "None", is_nullable=True),
            ),
        ),
    ],
}


def with_new_version(message: Message) -> Message:
    """Return the message with its version of Kafka 4.4, if it has one."""
    new = NEW_VERSIONS.get(message.struct.name)
    return message if new is None else replace(message, struct=_extended(message.struct, new))


def _extended(struct: MessageStruct, new: NewVersion) -> MessageStruct:
    fields: list[MessageField] = []
    added, removed = new.added.get(struct.name, {}), new.removed.get(struct.name)
    for unnamed in struct.fields:
        known = replace(unnamed, name=new.renamed.get(unnamed.name, unnamed.name))
        fields.append(known if known.name == removed else _field_in(known, new))
        while fields[-1].name in added:
            fields.append(added[fields[-1].name])
    return replace(
        struct,
        versions=struct.versions | {new.number},
        flexible=struct.flexible | {new.number},
        fields=tuple(fields),
    )


def _field_in(known: MessageField, new: NewVersion) -> MessageField:
    """Return the field as a part of the new version, if it is a part of the version before."""
    before, number = new.number - 1, frozenset({new.number})
    if before not in known.present:
        return known
    return replace(
        known,
        type=_extended(known.type, new) if isinstance(known.type, MessageStruct) else known.type,
        present=known.present | number,
        nullable=known.nullable | number if before in known.nullable else known.nullable,
        tagged=known.tagged | number if before in known.tagged else known.tagged,
    )
