"""The file cluster-metadata.json of a data folder: what a node has to know of itself beyond its logs.

Kafka keeps this in the log of its controllers; the file here is our own. It is JSON, it is small, and it is replaced
as a whole. Whatever in it is not exactly as expected is refused with the field and its value: a node that guesses
gives a topic the wrong configs, or a producer id twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from ...protocol.kafka_uuid import parse_uuid, uuid_text
from ...protocol.primitives import ZERO_UUID
from ...storage.corrupt_file import CorruptFileError
from .topic_names import find_topic_name_error

METADATA_FILE = "cluster-metadata.json"
METADATA_VERSION = 1
# 100,000 topics with some configs each take a quarter of it; what is larger is not this file.
METADATA_BYTES_MAX = 64 * 1024 * 1024

# How much of a wrong value is shown.
SHOWN_MAX = 100

INT64_MAX = 2**63 - 1
INT32_MAX = 2**31 - 1

Texts = dict[str, str]


class NewerMetadataError(CorruptFileError):
    """The file is of a version that a later release wrote: there is nothing wrong with it, and it has to stay."""


@dataclass(frozen=True, slots=True)
class TopicMetadata:
    """One topic; configs holds what was set for it."""

    name: str
    topic_id: bytes
    partition_count: int
    configs: Texts = field(default_factory=Texts)


@dataclass(frozen=True, slots=True)
class ConfigsMetadata:
    """What was set while the broker ran, beyond topics; see DynamicConfigs."""

    broker_configs: Texts = field(default_factory=Texts)
    default_broker_configs: Texts = field(default_factory=Texts)
    group_configs: dict[str, Texts] = field(default_factory=dict[str, Texts])
    client_metrics_configs: dict[str, Texts] = field(default_factory=dict[str, Texts])


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """All of the file.

    next_producer_id: where the next block of producer ids begins; no id from there on was ever given.
    configs: None where nobody wrote any yet, so that the broker's own beginning holds.
    """

    cluster_id: str
    next_producer_id: int = 0
    topics: tuple[TopicMetadata, ...] = ()
    configs: ConfigsMetadata | None = None


def encode_metadata(metadata: ClusterMetadata) -> bytes:
    """Return the bytes of the file: one topic a line, so that a person can read it."""
    topics = ",\n".join(f"  {_dumped(_topic_object(topic))}" for topic in metadata.topics)
    configs = metadata.configs
    lines = [
        f'"version": {METADATA_VERSION}',
        f'"cluster_id": {_dumped(metadata.cluster_id)}',
        f'"next_producer_id": {metadata.next_producer_id}',
        f'"topics": [\n{topics}\n ]' if topics else '"topics": []',
        f'"configs": {_dumped(None if configs is None else _configs_object(configs))}',
    ]
    return ("{" + ",\n ".join(lines) + "}\n").encode()


def decode_metadata(content: bytes | memoryview) -> ClusterMetadata:
    """Return what the file says.

    Raises CorruptFileError with the field and its value; NewerMetadataError for a version that is not known here.
    """
    try:
        value: object = json.loads(bytes(content))
    except (ValueError, RecursionError) as error:
        raise CorruptFileError(f"{METADATA_FILE} is not JSON: {error}") from error
    _check_version(value)
    entries = _Entries(value, "", ("version", "cluster_id", "next_producer_id", "topics", "configs"))
    topics = entries.of("topics", _items)
    metadata = ClusterMetadata(
        entries.of("cluster_id", _name),
        entries.of("next_producer_id", _integer_up_to(0, INT64_MAX)),
        tuple(_topic_of(topic, f"topics[{index}]") for index, topic in enumerate(topics)),
        entries.of("configs", _configs_of),
    )
    _check_unique(metadata.topics)
    return metadata


def _dumped(value: object) -> str:
    return json.dumps(value)


def _topic_object(topic: TopicMetadata) -> dict[str, object]:
    return {
        "name": topic.name,
        "topic_id": uuid_text(topic.topic_id),
        "partition_count": topic.partition_count,
        "configs": topic.configs,
    }


def _configs_object(configs: ConfigsMetadata) -> dict[str, object]:
    return {
        "broker": configs.broker_configs,
        "all_brokers": configs.default_broker_configs,
        "groups": configs.group_configs,
        "client_metrics": configs.client_metrics_configs,
    }


def _check_version(value: object) -> None:
    """Look at the version alone: what else there has to be depends on it."""
    version = cast(dict[str, object], value).get("version") if isinstance(value, dict) else None
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise _bad("version", version, "a whole number from 1 on")
    if version > METADATA_VERSION:
        raise NewerMetadataError(
            f"{METADATA_FILE} is of version {version}, and this release knows none above {METADATA_VERSION}"
        )


def _check_unique(topics: tuple[TopicMetadata, ...]) -> None:
    names, ids = set[str](), set[bytes]()
    for index, topic in enumerate(topics):
        if topic.name in names:
            raise _bad(f"topics[{index}].name", topic.name, "a name that no other topic has")
        if topic.topic_id in ids:
            raise _bad(f"topics[{index}].topic_id", uuid_text(topic.topic_id), "an id that no other topic has")
        names.add(topic.name)
        ids.add(topic.topic_id)


Value = TypeVar("Value")


class _Entries:
    """The entries of an object that has exactly the names wanted."""

    def __init__(self, value: object, place: str, names: tuple[str, ...]) -> None:
        if not isinstance(value, dict):
            raise _bad(place or "all of it", value, "an object")
        self._entries = cast(dict[str, object], value)
        self._prefix = f"{place}." if place else ""
        for name in names:
            if name not in self._entries:
                raise CorruptFileError(f"{METADATA_FILE} has no {self._prefix}{name}")
        for name in self._entries.keys() - set(names):
            raise CorruptFileError(f"{METADATA_FILE} has {self._prefix}{name}, which is not known")

    def of(self, name: str, decode: Callable[[object, str], Value]) -> Value:
        """Return an entry as decode makes it of the value and its place."""
        return decode(self._entries[name], f"{self._prefix}{name}")


def _topic_of(value: object, place: str) -> TopicMetadata:
    entries = _Entries(value, place, ("name", "topic_id", "partition_count", "configs"))
    return TopicMetadata(
        entries.of("name", _topic_name),
        entries.of("topic_id", _topic_id),
        entries.of("partition_count", _integer_up_to(1, INT32_MAX)),
        entries.of("configs", _texts),
    )


def _configs_of(value: object, place: str) -> ConfigsMetadata | None:
    if value is None:
        return None
    entries = _Entries(value, place, ("broker", "all_brokers", "groups", "client_metrics"))
    return ConfigsMetadata(
        entries.of("broker", _texts),
        entries.of("all_brokers", _texts),
        entries.of("groups", _texts_by_name),
        entries.of("client_metrics", _texts_by_name),
    )


def _items(value: object, place: str) -> list[object]:
    if not isinstance(value, list):
        raise _bad(place, value, "a list")
    return cast(list[object], value)


def _name(value: object, place: str) -> str:
    if not isinstance(value, str) or not value:
        raise _bad(place, value, "a text that is not empty")
    return value


def _topic_name(value: object, place: str) -> str:
    if not isinstance(value, str) or find_topic_name_error(value) is not None:
        raise _bad(place, value, "the name of a topic")
    return value


def _topic_id(value: object, place: str) -> bytes:
    try:
        topic_id = parse_uuid(value) if isinstance(value, str) else ZERO_UUID
    except ValueError:
        topic_id = ZERO_UUID
    if topic_id == ZERO_UUID:
        raise _bad(place, value, "an id of 22 characters of base64url that is not zero")
    return topic_id


def _integer_up_to(minimum: int, maximum: int) -> Callable[[object, str], int]:
    def decode(value: object, place: str) -> int:
        # In Python a truth value is a number, too.
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            raise _bad(place, value, f"a whole number from {minimum} to {maximum}")
        return value

    return decode


def _texts(value: object, place: str) -> Texts:
    entries = _object(value, place)
    return {name: _text(text, f"{place}.{name}") for name, text in entries.items()}


def _texts_by_name(value: object, place: str) -> dict[str, Texts]:
    entries = _object(value, place)
    return {name: _texts(texts, f"{place}.{name}") for name, texts in entries.items()}


def _object(value: object, place: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _bad(place, value, "an object")
    return cast(dict[str, object], value)


def _text(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise _bad(place, value, "a text")
    return value


def _bad(place: str, value: object, expected: str) -> CorruptFileError:
    return CorruptFileError(f"{METADATA_FILE}: {place} is {_dumped(value)[:SHOWN_MAX]}; expected {expected}")
