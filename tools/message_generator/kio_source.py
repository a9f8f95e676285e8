"""Message definitions from kio's entities: merges the classes of all versions of a message into one definition.

kio drops the unit from the names of fields in milliseconds, and types them as timedelta or datetime. Here they get
Kafka's name and are integers. kio also has None for the zero uuid, which here is ZERO_UUID.
"""

from __future__ import annotations

import datetime
import importlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from graphlib import TopologicalSorter
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin

from kio.schema.index import LoadableEntityType, schema_name_map
from kio.static.constants import EntityType

from fauxka.protocol.api_keys import APIS

from .definitions import Message, MessageField, MessageKind, MessageStruct, Primitive, Versions
from .kafka_3_9 import with_old_versions
from .kafka_4_4 import NEW_MESSAGES, with_new_version

T = TypeVar("T")

ENTITY_TYPES: Mapping[MessageKind, LoadableEntityType] = {
    MessageKind.REQUEST: EntityType.request,
    MessageKind.RESPONSE: EntityType.response,
    MessageKind.DATA: EntityType.data,
}
# The messages that belong to no API: the bytes that a consumer sends in JoinGroup and SyncGroup, and the first and the
# last record of a snapshot.
RECORDS = {
    "consumer_protocol_assignment",
    "consumer_protocol_subscription",
    "snapshot_footer_record",
    "snapshot_header_record",
}
PRIMITIVES = {
    "bool": Primitive.BOOLEAN,
    "int8": Primitive.INT8,
    "int16": Primitive.INT16,
    "int32": Primitive.INT32,
    "int64": Primitive.INT64,
    "uint16": Primitive.UINT16,
    "float64": Primitive.FLOAT64,
    "uuid": Primitive.UUID,
    "string": Primitive.STRING,
    "bytes": Primitive.DATA,
    "records": Primitive.DATA,
    "error_code": Primitive.INT16,
    "timedelta_i32": Primitive.INT32,
    "timedelta_i64": Primitive.INT64,
    "datetime_i64": Primitive.INT64,
}
# Kafka's default of the fields that are a nullable datetime in kio.
NO_TIMESTAMP = -1
# Arrays whose default is null, which kio does not define. Source: the constructors of Kafka's *Data classes, 4.3.0.
NULL_BY_DEFAULT = {
    ("ConsumerGroupHeartbeatRequest", "topic_partitions"),
    ("ListPartitionReassignmentsRequest", "topics"),
    ("StreamsGroupHeartbeatRequest", "active_tasks"),
    ("StreamsGroupHeartbeatRequest", "client_tags"),
    ("StreamsGroupHeartbeatRequest", "standby_tasks"),
    ("StreamsGroupHeartbeatRequest", "task_end_offsets"),
    ("StreamsGroupHeartbeatRequest", "task_offsets"),
    ("StreamsGroupHeartbeatRequest", "warmup_tasks"),
    ("StreamsGroupHeartbeatResponse", "active_tasks"),
    ("StreamsGroupHeartbeatResponse", "partitions_by_user_endpoint"),
    ("StreamsGroupHeartbeatResponse", "standby_tasks"),
    ("StreamsGroupHeartbeatResponse", "warmup_tasks"),
    ("Topology", "subtopologies"),
}
# The defaults of fields for which kio defines none.
IMPLICIT_DEFAULTS = {
    Primitive.BOOLEAN: "False",
    Primitive.FLOAT64: "0.0",
    Primitive.UUID: "ZERO_UUID",
    Primitive.STRING: '""',
    Primitive.DATA: 'b""',
}


@dataclass(frozen=True, slots=True)
class VersionedField:
    """One field in one version."""

    version: int
    name: str
    kafka_type: str
    entity: type[Any] | None
    is_array: bool
    is_nullable: bool
    tag: int | None
    default: object

    @property
    def primitive(self) -> Primitive:
        """The wire type of a field that is not a struct."""
        return PRIMITIVES[self.kafka_type]


def message_names() -> list[str]:
    """Return the names of the modules, sorted. A module is an API or a record, and a package of kio if that has it."""
    return sorted({api.module for api in APIS.values()} | RECORDS)


def messages_of(name: str) -> list[Message]:
    """Return the messages of a module: the request and the response of an API, or one record.

    If request and response have different structs of one name, they get the prefixes Request and Response.
    """
    if name in NEW_MESSAGES:
        return NEW_MESSAGES[name]
    versions_of_kind = {kind: entities for kind in MessageKind if (entities := _entities(name, kind))}
    structs: dict[str, MessageStruct] = {}
    ambiguous: set[str] = set()
    for entities in versions_of_kind.values():
        for struct in VersionMerger(entities, {}).message().nested():
            if structs.setdefault(struct.name, struct) != struct:
                ambiguous.add(struct.name)
    return [
        with_old_versions(name, _message(kind, entities, {each: kind.value.capitalize() + each for each in ambiguous}))
        for kind, entities in versions_of_kind.items()
    ]


def _entities(name: str, kind: MessageKind) -> dict[int, type[Any]]:
    entity_type = ENTITY_TYPES[kind]
    in_versions = sorted(schema_name_map[name].items())
    return {version: _entity_at(paths[entity_type]) for version, paths in in_versions if entity_type in paths}


def _message(kind: MessageKind, entities: dict[int, type[Any]], names: Mapping[str, str]) -> Message:
    api_key: int | None = getattr(next(iter(entities.values())), "__api_key__", None)
    struct = VersionMerger(entities, names).message()
    return with_new_version(Message(kind=kind, api_key=None if api_key is None else int(api_key), struct=struct))


def _entity_at(path: str) -> type[Any]:
    module, name = path.split(":")
    entity = getattr(importlib.import_module(module), name)
    assert isinstance(entity, type), f"{path} is not a class"
    return entity


class VersionMerger:
    """Merges the versions of one message.

    A struct that is in several places of a message becomes one struct with the fields of all versions.
    """

    def __init__(self, entities: dict[int, type[Any]], names: Mapping[str, str]) -> None:
        """entities: the message's class of each version. names: other names of structs, by kio's name."""
        self._name = _only({entity.__name__ for entity in entities.values()})
        self._names = names
        self._in_versions: defaultdict[str, dict[int, type[Any]]] = defaultdict(dict)
        self._merged: dict[str, MessageStruct] = {}
        for version, entity in entities.items():
            self._collect(version, entity)

    def _collect(self, version: int, entity: type[Any]) -> None:
        self._in_versions[entity.__name__][version] = entity
        for field in fields(entity):
            nested = _versioned(version, field).entity
            if nested is not None:
                self._collect(version, nested)

    def message(self) -> MessageStruct:
        """Return the struct of the message."""
        return self._struct(self._name)

    def _struct(self, name: str) -> MessageStruct:
        if name not in self._merged:
            self._merged[name] = self._merge(name)
        return self._merged[name]

    def _merge(self, name: str) -> MessageStruct:
        """Return a struct with the fields of all versions, in an order that is right for each version."""
        entities = self._in_versions[name]
        by_name: defaultdict[str, list[VersionedField]] = defaultdict(list)
        order: TopologicalSorter[str] = TopologicalSorter()
        for version, entity in sorted(entities.items(), reverse=True):
            versioned = [_versioned(version, field) for field in fields(entity)]
            for index, field in enumerate(versioned):
                by_name[field.name].append(field)
                order.add(field.name, *(before.name for before in versioned[:index]))
        return MessageStruct(
            name=self._names.get(name, name),
            versions=frozenset(entities),
            flexible=frozenset(version for version, entity in entities.items() if entity.__flexible__),
            fields=tuple(self._field(name, by_name[field_name]) for field_name in order.static_order()),
        )

    def _field(self, owner: str, versioned: list[VersionedField]) -> MessageField:
        name = versioned[0].name
        nullable = _versions(field for field in versioned if field.is_nullable)
        tagged = [field for field in versioned if field.tag is not None]
        field_type = self._type(versioned)
        return MessageField(
            name=name,
            type=field_type,
            is_array=_only({field.is_array for field in versioned}),
            default=self._default(owner, versioned, field_type),
            present=_versions(versioned),
            nullable=nullable,
            tagged=_versions(tagged),
            tag=_only({field.tag for field in tagged}) if tagged else None,
        )

    def _type(self, versioned: list[VersionedField]) -> Primitive | MessageStruct:
        entities = {field.entity for field in versioned}
        if entities == {None}:
            return _only({field.primitive for field in versioned})
        return self._struct(_only({entity.__name__ for entity in entities if entity is not None}))

    def _default(self, owner: str, versioned: list[VersionedField], field_type: Primitive | MessageStruct) -> str:
        is_nullable = any(field.is_nullable for field in versioned)
        given = [field.default for field in versioned if field.default is not MISSING]
        if given:
            return _only({_default_expression(default, field_type, is_nullable=is_nullable) for default in given})
        if versioned[0].is_array:
            return "None" if is_nullable and (owner, versioned[0].name) in NULL_BY_DEFAULT else "[]"
        if isinstance(field_type, MessageStruct):
            return f"{field_type.name}()"
        # Nullable record sets are null by default.
        if versioned[0].kafka_type == "records" and is_nullable:
            return "None"
        return IMPLICIT_DEFAULTS.get(field_type, "0")


def _versioned(version: int, field: Field[Any]) -> VersionedField:
    kafka_type: str = field.metadata.get("kafka_type", "")
    whole, is_nullable = _without_none(field.type)
    is_array = get_origin(whole) is tuple
    element = _without_none(get_args(whole)[0])[0] if is_array else whole
    # kio has None for the zero uuid and the timestamp -1, which are plain values on the wire.
    is_nullable = is_nullable and (is_array or kafka_type not in ("uuid", "datetime_i64"))
    return VersionedField(
        version=version,
        name=f"{field.name}_ms" if kafka_type.startswith(("timedelta", "datetime")) else field.name,
        kafka_type=kafka_type,
        entity=element if is_dataclass(element) and isinstance(element, type) else None,
        is_array=is_array,
        is_nullable=is_nullable,
        tag=field.metadata.get("tag"),
        default=field.default,
    )


def _without_none(annotation: object) -> tuple[object, bool]:
    if get_origin(annotation) is not UnionType:
        return annotation, False
    return _only({argument for argument in get_args(annotation) if argument is not NoneType}), True


def _versions(versioned: Iterable[VersionedField]) -> Versions:
    return frozenset(field.version for field in versioned)


def _default_expression(default: object, field_type: Primitive | MessageStruct, *, is_nullable: bool) -> str:
    if default == ():
        return "[]"
    if isinstance(field_type, MessageStruct):
        return "None" if default is None else _struct_default(default, field_type)
    match default:
        case None if is_nullable:
            return "None"
        case None:
            return "ZERO_UUID" if field_type is Primitive.UUID else str(NO_TIMESTAMP)
        case datetime.timedelta():
            return str(default // datetime.timedelta(milliseconds=1))
        case bool() | bytes():
            return repr(default)
        case str():
            return '"' + repr(str(default))[1:-1] + '"'
        case int():
            return str(int(default))
        case _:
            raise TypeError(f"no expression for the default {default!r}")


def _struct_default(default: object, struct: MessageStruct) -> str:
    for field in struct.fields:
        value: object = getattr(default, field.name)
        nullable = bool(field.nullable)
        assert _default_expression(value, field.type, is_nullable=nullable) == field.default, (
            f"{struct.name}.{field.name} defaults to {field.default}, but to {value} inside its owner"
        )
    return f"{struct.name}()"


def _only(values: set[T]) -> T:
    (value,) = values
    return value
