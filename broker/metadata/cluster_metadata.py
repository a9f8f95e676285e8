"""The file cluster-metadata.json of a data folder: topics, dynamic configs, features and the next producer id.

Kafka stores these in the metadata log of its controllers. The file is JSON and is always replaced as a whole. Any
unexpected field or value is an error, because a guess could result in wrong configs or in duplicate producer ids.
Version 4 is that of several nodes: each partition has its replicas, its leader and its ISR, and each node its configs.
Versions 5 and 6 are 3 and 4 with the fields security (ACLs, SCRAM credentials, delegation tokens) and client_quotas.
Since version 3 the last line is a CRC-32C of everything before it: a changed bit must not make another topic id.
Versions 1 and 2 are read without one. The checksum is compared before the version: later versions must end in the
same line.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from fastcrc.crc32 import iscsi as crc32c

from ...protocol.kafka_uuid import parse_uuid, uuid_text
from ...protocol.primitives import ZERO_UUID
from ...storage.corrupt_file import CorruptFileError
from .. import metadata as parts
from .features import NEWEST_FEATURES
from .metadata_fields import METADATA_FILE, Fields, any_text, integer_up_to, items, json_object, text_not_empty, wrong
from .metadata_image import NO_LEADER, PartitionRegistration
from .topic_validation import find_topic_name_error

METADATA_VERSION = 6
# Version 1 has neither metadata_offset nor features.
FEATURES_SINCE = 2
CHECKSUM_SINCE = 3
SECURITY_SINCE = 5
# The versions in which topics have their replicas and nodes their configs.
_WITH_REPLICAS = (4, 6)
_CHECKSUM = re.compile(rb' "checksum": "([0-9a-f]{8})"}\n\Z')
_NODE_ID = re.compile("0|[1-9][0-9]{0,9}")
# Four times the size of 100,000 topics with some configs each.
METADATA_BYTES_MAX = 64 * 1024 * 1024

INT64_MAX = 2**63 - 1
INT32_MAX = 2**31 - 1

if TYPE_CHECKING:
    from .client_quotas_image import ClientQuotasImage
    from .security_image import SecurityImage

Texts = dict[str, str]


class NewerMetadataError(CorruptFileError):
    """A later release wrote the file. It is not damaged and must be kept."""


@dataclass(frozen=True, slots=True)
class TopicMetadata:
    """A topic and its own configs. partitions: where its replicas are; empty on one node, which has all of them."""

    name: str
    topic_id: bytes
    partition_count: int
    configs: Texts = field(default_factory=Texts)
    partitions: tuple[PartitionRegistration, ...] = ()


@dataclass(frozen=True, slots=True)
class ConfigsMetadata:
    """The dynamic configs; see DynamicConfigs.

    broker_configs: those of the only node. node_configs: those of each of several nodes that has some, by node id.
    """

    broker_configs: Texts = field(default_factory=Texts)
    default_broker_configs: Texts = field(default_factory=Texts)
    group_configs: dict[str, Texts] = field(default_factory=dict[str, Texts])
    client_metrics_configs: dict[str, Texts] = field(default_factory=dict[str, Texts])
    node_configs: dict[int, Texts] = field(default_factory=dict[int, Texts])


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """The content of the file.

    next_producer_id: the start of the next block of producer ids; no id from there on was ever allocated.
    configs: None if none were saved; then the initial configs of the broker apply.
    metadata_offset: MetadataImage.offset. features: FinalizedFeatures.updated.
    security, client_quotas: None if there is none.
    """

    cluster_id: str
    next_producer_id: int = 0
    topics: tuple[TopicMetadata, ...] = ()
    configs: ConfigsMetadata | None = None
    metadata_offset: int = 0
    features: dict[str, int] = field(default_factory=dict[str, int])
    security: SecurityImage | None = None
    client_quotas: ClientQuotasImage | None = None


def encode_metadata(metadata: ClusterMetadata) -> bytes:
    """Return the bytes of the file, with one line per topic and the checksum in the last line."""
    topics = ",\n".join(f"  {json.dumps(_topic_object(topic))}" for topic in metadata.topics)
    configs = metadata.configs
    has_nodes = bool(configs and configs.node_configs) or any(topic.partitions for topic in metadata.topics)
    security, client_quotas = metadata.security, metadata.client_quotas
    has_security = security is not None or client_quotas is not None
    lines = [
        f'"version": {(SECURITY_SINCE if has_security else CHECKSUM_SINCE) + has_nodes}',
        f'"cluster_id": {json.dumps(metadata.cluster_id)}',
        f'"next_producer_id": {metadata.next_producer_id}',
        f'"metadata_offset": {metadata.metadata_offset}',
        f'"features": {json.dumps(metadata.features)}',
        f'"topics": [\n{topics}\n ]' if topics else '"topics": []',
        f'"configs": {json.dumps(None if configs is None else _configs_object(configs, has_nodes=has_nodes))}',
    ]
    if has_security:
        lines += [f'"{name}": {json.dumps(value)}' for name, value in _security_fields(security, client_quotas).items()]
    return with_checksum(("{" + ",\n ".join(lines) + ",\n").encode())


def _security_fields(
    security: SecurityImage | None, client_quotas: ClientQuotasImage | None
) -> dict[str, object | None]:
    quotas = None if client_quotas is None else parts.client_quotas_metadata.client_quotas_object(client_quotas)
    return {
        "security": None if security is None else parts.security_metadata.security_object(security),
        "client_quotas": quotas,
    }


def with_checksum(content: bytes) -> bytes:
    """Return the file with its last line. content: everything before it."""
    return content + b' "checksum": "%08x"}\n' % crc32c(content)


def decode_metadata(content: bytes | memoryview) -> ClusterMetadata:
    """Parse the file. Raises CorruptFileError with the field and its value; NewerMetadataError for a later version."""
    data = bytes(content)
    checksum = _checked_checksum(data)
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CorruptFileError(f"{METADATA_FILE} is not JSON: {error}") from error
    version = _version_of(value)
    if version >= CHECKSUM_SINCE and checksum is None:
        raise CorruptFileError(f"{METADATA_FILE} has version {version} and no checksum in its last line")
    of_features = ("metadata_offset", "features") if (has_features := version >= FEATURES_SINCE) else ()
    of_security = ("security", "client_quotas") if (has_security := version >= SECURITY_SINCE) else ()
    of_checksum = ("checksum",) if version >= CHECKSUM_SINCE else ()
    names = ("version", "cluster_id", "next_producer_id", *of_features, "topics", "configs", *of_security, *of_checksum)
    has_replicas = version in _WITH_REPLICAS
    fields = Fields(value, "", names)
    topics = fields.decode("topics", items)
    metadata = ClusterMetadata(
        fields.decode("cluster_id", text_not_empty),
        fields.decode("next_producer_id", integer_up_to(0, INT64_MAX)),
        tuple(_topic_of(topic, f"topics[{index}]", has_replicas=has_replicas) for index, topic in enumerate(topics)),
        fields.decode("configs", _node_configs_of if has_replicas else _configs_of),
        fields.decode("metadata_offset", integer_up_to(0, INT64_MAX)) if has_features else 0,
        fields.decode("features", _features) if has_features else {},
        fields.decode("security", _security) if has_security else None,
        fields.decode("client_quotas", _client_quotas) if has_security else None,
    )
    _check_unique(metadata.topics)
    return metadata


def _topic_object(topic: TopicMetadata) -> dict[str, object]:
    fields: dict[str, object] = {
        "name": topic.name,
        "topic_id": uuid_text(topic.topic_id),
        "partition_count": topic.partition_count,
        "configs": topic.configs,
    }
    if topic.partitions:
        fields["partitions"] = [_partition_object(partition) for partition in topic.partitions]
    return fields


# The fields of a partition that are numbers, with their least values, and those that are lists of node ids.
_PARTITION_NUMBERS = {"leader_id": NO_LEADER, "leader_epoch": 0, "partition_epoch": 0}
_PARTITION_NODES = ("replicas", "isr", "elr", "last_known_elr", "adding", "removing")


def _partition_object(partition: PartitionRegistration) -> dict[str, object]:
    return {name: getattr(partition, name) for name in (*_PARTITION_NUMBERS, *_PARTITION_NODES)}


def _configs_object(configs: ConfigsMetadata, *, has_nodes: bool) -> dict[str, object]:
    return {
        **({"nodes": configs.node_configs} if has_nodes else {"broker": configs.broker_configs}),
        "all_brokers": configs.default_broker_configs,
        "groups": configs.group_configs,
        "client_metrics": configs.client_metrics_configs,
    }


def _checked_checksum(data: bytes) -> bytes | None:
    """Return the checksum in the last line; None if there is none. Raises CorruptFileError if it is wrong."""
    match = _CHECKSUM.search(data, max(0, len(data) - 64))
    if match is None:
        return None
    checksum = b"%08x" % crc32c(data[: match.start()])
    if checksum != match[1]:
        raise CorruptFileError(
            f"{METADATA_FILE}: the checksum is {match[1].decode()}, that of the content {checksum.decode()}"
        )
    return checksum


def _version_of(value: object) -> int:
    version = cast(dict[str, object], value).get("version") if isinstance(value, dict) else None
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise wrong("version", version, "an integer from 1 on")
    if version > METADATA_VERSION:
        raise NewerMetadataError(
            f"{METADATA_FILE} has version {version}; this release supports versions up to {METADATA_VERSION}"
        )
    return version


def _check_unique(topics: tuple[TopicMetadata, ...]) -> None:
    names, ids = set[str](), set[bytes]()
    for index, topic in enumerate(topics):
        if topic.name in names:
            raise wrong(f"topics[{index}].name", topic.name, "a unique topic name")
        if topic.topic_id in ids:
            raise wrong(f"topics[{index}].topic_id", uuid_text(topic.topic_id), "a unique topic id")
        names.add(topic.name)
        ids.add(topic.topic_id)


def _topic_of(value: object, place: str, *, has_replicas: bool) -> TopicMetadata:
    names = ("name", "topic_id", "partition_count", "configs")
    fields = Fields(value, place, (*names, "partitions") if has_replicas else names)
    partitions = fields.decode("partitions", items) if has_replicas else []
    topic = TopicMetadata(
        fields.decode("name", _topic_name),
        fields.decode("topic_id", _topic_id),
        fields.decode("partition_count", integer_up_to(1, INT32_MAX)),
        fields.decode("configs", _texts),
        tuple(_partition_of(each, f"{place}.partitions[{index}]", index) for index, each in enumerate(partitions)),
    )
    if has_replicas and len(topic.partitions) != topic.partition_count:
        raise wrong(f"{place}.partition_count", topic.partition_count, f"{len(topic.partitions)}, as in partitions")
    return topic


def _partition_of(value: object, place: str, index: int) -> PartitionRegistration:
    fields = Fields(value, place, (*_PARTITION_NUMBERS, *_PARTITION_NODES))
    numbers = {
        name: fields.decode(name, integer_up_to(minimum, INT32_MAX)) for name, minimum in _PARTITION_NUMBERS.items()
    }
    nodes = {name: fields.decode(name, _node_ids) for name in _PARTITION_NODES}
    return PartitionRegistration(
        index,
        numbers["leader_id"],
        numbers["leader_epoch"],
        nodes["replicas"],
        nodes["isr"],
        nodes["elr"],
        nodes["last_known_elr"],
        nodes["adding"],
        nodes["removing"],
        numbers["partition_epoch"],
    )


def _node_ids(value: object, place: str) -> list[int]:
    node_id = integer_up_to(0, INT32_MAX)
    return [node_id(each, f"{place}[{index}]") for index, each in enumerate(items(value, place))]


def _configs_of(value: object, place: str) -> ConfigsMetadata | None:
    if value is None:
        return None
    fields = Fields(value, place, ("broker", "all_brokers", "groups", "client_metrics"))
    return ConfigsMetadata(
        fields.decode("broker", _texts),
        fields.decode("all_brokers", _texts),
        fields.decode("groups", _texts_by_name),
        fields.decode("client_metrics", _texts_by_name),
    )


def _node_configs_of(value: object, place: str) -> ConfigsMetadata | None:
    if value is None:
        return None
    fields = Fields(value, place, ("nodes", "all_brokers", "groups", "client_metrics"))
    return ConfigsMetadata(
        default_broker_configs=fields.decode("all_brokers", _texts),
        group_configs=fields.decode("groups", _texts_by_name),
        client_metrics_configs=fields.decode("client_metrics", _texts_by_name),
        node_configs=fields.decode("nodes", _texts_by_node),
    )


def _texts_by_node(value: object, place: str) -> dict[int, Texts]:
    by_name = _texts_by_name(value, place)
    odd = next((name for name in by_name if _NODE_ID.fullmatch(name) is None), None)
    if odd is not None:
        raise wrong(place, odd, "the id of a node")
    return {int(name): texts for name, texts in by_name.items()}


def _security(value: object, place: str) -> SecurityImage | None:
    return None if value is None else parts.security_metadata.security_of(value, place)


def _client_quotas(value: object, place: str) -> ClientQuotasImage | None:
    return None if value is None else parts.client_quotas_metadata.client_quotas_of(value, place)


def _features(value: object, place: str) -> dict[str, int]:
    levels: dict[str, int] = {}
    for name, level in json_object(value, place).items():
        if name not in NEWEST_FEATURES:
            raise wrong(place, name, f"the name of a feature: {', '.join(NEWEST_FEATURES)}")
        feature = NEWEST_FEATURES[name]
        levels[name] = integer_up_to(feature.level_min, feature.level_max)(level, f"{place}.{name}")
    return levels


def _topic_name(value: object, place: str) -> str:
    if not isinstance(value, str) or find_topic_name_error(value) is not None:
        raise wrong(place, value, "a valid topic name")
    return value


def _topic_id(value: object, place: str) -> bytes:
    try:
        topic_id = parse_uuid(value) if isinstance(value, str) else ZERO_UUID
    except ValueError:
        topic_id = ZERO_UUID
    if topic_id == ZERO_UUID:
        raise wrong(place, value, "a topic id: 22 characters of base64url, not zero")
    return topic_id


def _texts(value: object, place: str) -> Texts:
    entries = json_object(value, place)
    return {name: any_text(each, f"{place}.{name}") for name, each in entries.items()}


def _texts_by_name(value: object, place: str) -> dict[str, Texts]:
    entries = json_object(value, place)
    return {name: _texts(texts, f"{place}.{name}") for name, texts in entries.items()}
