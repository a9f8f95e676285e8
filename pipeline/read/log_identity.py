"""What a log is, whatever the address or the path that leads to it: the ids that Kafka gave to cluster and topics.

A broker tells both ids in its metadata. A log directory has them in meta.properties and partition.metadata.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from ...protocol.kafka_uuid import uuid_text
from ...protocol.wire_writer import ZERO_UUID
from ...storage.checkpoints.checkpoint_files import (
    META_PROPERTIES,
    PARTITION_METADATA,
    MetaProperties,
    decode_meta_properties,
    decode_partition_metadata,
)
from ...storage.corrupt_file import CorruptFileError
from ..bad_option import BadOption
from .broker_topics import check_error, connect, read_metadata, retry
from .file_log import FileLog
from .options import LogOptions
from .stores import Store

# A log without ids. A store that fails has no identity at all.
_ABSENT = (FileNotFoundError, PermissionError, CorruptFileError)


@dataclass(frozen=True, slots=True)
class LogIdentity:
    """A log. place: of the cluster or of the folder. topics: `cluster id/topic id` of each topic that has one."""

    place: str
    topics: frozenset[str]

    def shares_topic(self, other: LogIdentity) -> bool:
        """Whether a topic is in both logs."""
        return bool(self.topics & other.topics)

    def __str__(self) -> str:
        """Return one line, the same for the same log."""
        return " ".join([self.place, *sorted(self.topics)])


def identity_of(options: LogOptions) -> LogIdentity:
    """Return the identity of the log that the options select. Raises BadOption, BrokerError."""
    if options.bootstrap:
        return retry(lambda: _on_broker(options))
    try:
        return _of_folder(options)
    except OSError as error:
        raise BadOption(f"path: {error.filename} cannot be read: {error.strerror}") from error


def _on_broker(options: LogOptions) -> LogIdentity:
    with connect(options) as connection:
        response = read_metadata(connection, options.topics)
    for topic in response.topics:
        check_error(topic.error_code, f"topic {topic.name}")
    found = [topic for topic in response.topics if options.is_wanted(topic.name or "")]
    # A broker before Kafka 2.8 has no topic ids.
    ids = {topic.name if topic.topic_id == ZERO_UUID else uuid_text(topic.topic_id) for topic in found}
    return LogIdentity(f"cluster {response.cluster_id}", frozenset(f"{response.cluster_id}/{one}" for one in ids))


def _of_folder(options: LogOptions) -> LogIdentity:
    segments = FileLog(options).segments()
    # A remote tier has none of the files with ids.
    own = (next((one for one in found if not one.is_tiered), found[0]) for found in segments.values())
    folders = {segment.folder: segment.store for segment in own}
    places: set[str] = set()
    topics: set[str] = set()
    read: dict[str, MetaProperties | None] = {}
    for folder, store in folders.items():
        directory = os.path.dirname(folder)
        if directory not in read:
            read[directory] = _properties(store, directory)
        properties = read[directory]
        directory_id = None if properties is None else properties.directory_id
        places.add(store.real_path(directory) if directory_id is None else uuid_text(directory_id))
        if properties is not None:
            topics.update(_topics_of(store, folder, properties))
    return LogIdentity(f"folder {' '.join(sorted(places))}", frozenset(topics))


def _topics_of(store: Store, folder: str, properties: MetaProperties) -> Iterator[str]:
    try:
        topic_id = decode_partition_metadata(store.read(f"{folder}/{PARTITION_METADATA}"))
    except _ABSENT:
        return
    yield f"{properties.cluster_id}/{uuid_text(topic_id)}"


def _properties(store: Store, directory: str) -> MetaProperties | None:
    try:
        return decode_meta_properties(store.read(f"{directory}/{META_PROPERTIES}"))
    except _ABSENT:
        return None
