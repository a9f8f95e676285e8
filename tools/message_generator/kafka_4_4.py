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
    struct no longer has.
    """

    number: int
    added: Mapping[str, Mapping[str, MessageField]] = field(default_factory=dict[str, Mapping[str, MessageField]])
    removed: Mapping[str, str] = field(default_factory=dict[str, str])


def _field(name: str, field_type: Primitive, version: int, default: str, *, is_nullable: bool = False) -> MessageField:
    only = frozenset({version})
    return MessageField(
        name=name,
        type=field_type,
        is_array=False,
        default=default,
        present=only,
        nullable=only if is_nullable else frozenset(),
        tagged=frozenset(),
        tag=None,
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
}


def _struct(name: str, *fields: MessageField) -> MessageStruct:
    return MessageStruct(name=name, versions=frozenset({0}), flexible=frozenset({0}), fields=fields)


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
    ]
}


def with_new_version(message: Message) -> Message:
    """Return the message with its version of Kafka 4.4, if it has one."""
    new = NEW_VERSIONS.get(message.struct.name)
    return message if new is None else replace(message, struct=_extended(message.struct, new))


def _extended(struct: MessageStruct, new: NewVersion) -> MessageStruct:
    fields: list[MessageField] = []
    added, removed = new.added.get(struct.name, {}), new.removed.get(struct.name)
    for known in struct.fields:
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
