"""Codecs of the small text files: offset checkpoints, leader epochs, partition.metadata, meta.properties, the mark.

A checkpoint has a line with its version, 0, a line with the number of entries, and a line per entry; an empty file has
no entries. Each decode function raises CorruptFileError with the line and its content.
Stricter than Kafka, so that a truncated file is not read as a shorter one: a checkpoint is refused if its last line has
no line end, or if it has a version without a count.
Source: CheckpointFile, OffsetCheckpointFile, LeaderEpochCheckpointFile, PartitionMetadataFile, MetaProperties and
CleanShutdownFileHandler, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...protocol.kafka_uuid import parse_uuid, uuid_text
from ...protocol.primitives import ZERO_UUID
from ..corrupt_file import CorruptFileError
from ..file_systems.file_system import FileSystem, read_whole
from ..log_files import PartitionName
from .properties_file import PropertiesError, parse_properties

logger = logging.getLogger(__name__)

# Files of the top folder.
RECOVERY_POINT_CHECKPOINT = "recovery-point-offset-checkpoint"
LOG_START_OFFSET_CHECKPOINT = "log-start-offset-checkpoint"
REPLICATION_OFFSET_CHECKPOINT = "replication-offset-checkpoint"
CLEANER_OFFSET_CHECKPOINT = "cleaner-offset-checkpoint"
META_PROPERTIES = "meta.properties"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
LOCK = ".lock"

# Files of a partition's folder.
LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"

_CHECKPOINT_VERSION = 0
_META_PROPERTIES_VERSION = "1"

# The number of digits is limited, because int() takes quadratic time.
_COUNT = re.compile(rb"[0-9]{1,10}")
_OFFSET_ENTRY = re.compile(rb"([a-zA-Z0-9._-]{1,249})\s+([0-9]{1,10})\s+([0-9]{1,19})")
_EPOCH_ENTRY = re.compile(rb"([0-9]{1,10})\s+([0-9]{1,19})")
_PARTITION_METADATA = re.compile(rb"version:\s+([0-9]{1,10})\ntopic_id:\s+(\S{22})\n?")
_NODE_ID = re.compile(r"[0-9]{1,10}")
_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """The cluster and node that a data folder belongs to; directory_id is 16 bytes, None in folders of older Kafkas."""

    cluster_id: str
    node_id: int
    directory_id: bytes | None


def encode_offsets(offsets: Mapping[PartitionName, int] | Mapping[tuple[str, int], int]) -> bytes:
    """Return an offset checkpoint."""
    return _encode_checkpoint(
        f"{topic_name} {partition} {offset}" for (topic_name, partition), offset in offsets.items()
    )


def decode_offsets(data: bytes | memoryview) -> dict[PartitionName, int]:
    """Return the offset of each partition; the last entry of a repeated partition counts. Raises CorruptFileError."""
    offsets: dict[PartitionName, int] = {}
    for line, content in _checkpoint_entries(data):
        match = _OFFSET_ENTRY.fullmatch(content)
        if match is None or int(match[2]) > _INT32_MAX or int(match[3]) > _INT64_MAX:
            raise _malformed_line(line, "a topic, a partition and an offset", content)
        offsets[PartitionName(match[1].decode(), int(match[2]))] = int(match[3])
    return offsets


def read_offsets(file_system: FileSystem, name: str) -> dict[PartitionName, int]:
    """Return the offsets of a checkpoint file; none if it is missing or, with a warning, damaged. Raises OSError.

    Source: LogManager.loadLogs, Kafka 4.3.0.
    """
    if not file_system.exists(name):
        return {}
    try:
        return decode_offsets(read_whole(file_system, name))
    except CorruptFileError as error:
        logger.warning("%s is damaged and read as empty: %s", name, error)
        return {}


def encode_leader_epochs(epochs: Iterable[tuple[int, int]]) -> bytes:
    """Return a leader epoch checkpoint; epochs: each with its start offset."""
    return _encode_checkpoint(f"{leader_epoch} {start_offset}" for leader_epoch, start_offset in epochs)


def decode_leader_epochs(data: bytes | memoryview) -> list[tuple[int, int]]:
    """Return the epochs with their start offsets, in the file's order; raises CorruptFileError."""
    epochs: list[tuple[int, int]] = []
    for line, content in _checkpoint_entries(data):
        match = _EPOCH_ENTRY.fullmatch(content)
        if match is None or int(match[1]) > _INT32_MAX or int(match[2]) > _INT64_MAX:
            raise _malformed_line(line, "a leader epoch and an offset", content)
        epochs.append((int(match[1]), int(match[2])))
    return epochs


def _encode_checkpoint(entries: Iterable[str]) -> bytes:
    lines = list(entries)
    return "".join(f"{line}\n" for line in (str(_CHECKPOINT_VERSION), str(len(lines)), *lines)).encode()


def _checkpoint_entries(data: bytes | memoryview) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, entry), after checking the version, the count and the last line end."""
    if not data:
        return
    lines = bytes(data).split(b"\n")
    if lines.pop():
        raise CorruptFileError(f"line {len(lines) + 1}: the file ends inside the line")
    if _COUNT.fullmatch(lines[0]) is None or int(lines[0]) != _CHECKPOINT_VERSION:
        raise _malformed_line(1, f"version {_CHECKPOINT_VERSION}", lines[0])
    if len(lines) < 2 or _COUNT.fullmatch(lines[1]) is None:
        raise _malformed_line(2, "the number of entries", lines[1] if len(lines) > 1 else b"")
    count, found = int(lines[1]), len(lines) - 2
    if count != found:
        raise CorruptFileError(f"line 2: expected {count} entries, found {found}")
    yield from enumerate(lines[2:], start=3)


def _malformed_line(line: int, expected: str, content: bytes) -> CorruptFileError:
    return CorruptFileError(f"line {line}: expected {expected}, found {content[:100]!r}")


def encode_partition_metadata(topic_id: bytes) -> bytes:
    """Return the partition.metadata file of a topic id."""
    return f"version: 0\ntopic_id: {uuid_text(topic_id)}".encode()


def decode_partition_metadata(data: bytes | memoryview) -> bytes:
    """Return the topic id; raises CorruptFileError. Versions above 0 are accepted, as in Kafka."""
    content = bytes(data)
    match = _PARTITION_METADATA.fullmatch(content)
    if match is None:
        raise CorruptFileError(f"expected lines with a version and a topic id, found {content[:100]!r}")
    try:
        topic_id = parse_uuid(match[2].decode("latin-1"))
    except ValueError as error:
        raise CorruptFileError(f"line 2: {error}") from error
    if topic_id == ZERO_UUID:
        raise CorruptFileError("line 2: the topic id is all zeros")
    return topic_id


def encode_meta_properties(properties: MetaProperties) -> bytes:
    """Return the meta.properties file."""
    lines = [f"node.id={properties.node_id}"]
    if properties.directory_id is not None:
        lines.append(f"directory.id={uuid_text(properties.directory_id)}")
    lines += (f"version={_META_PROPERTIES_VERSION}", f"cluster.id={_escape(properties.cluster_id)}")
    return "".join(f"{line}\n" for line in lines).encode("ascii")


def _escape(text: str) -> str:
    """Return text as a properties value: ASCII letters, digits, -, _ and . unchanged, the rest as \\uXXXX."""
    units = memoryview(text.encode("utf-16-be", "surrogatepass"))
    characters = (int.from_bytes(units[position : position + 2], "big") for position in range(0, len(units), 2))
    return "".join(
        chr(unit) if unit < 0x80 and (chr(unit).isalnum() or chr(unit) in "-_.") else f"\\u{unit:04x}"
        for unit in characters
    )


def decode_meta_properties(data: bytes | memoryview) -> MetaProperties:
    """Return the content of a meta.properties file; raises CorruptFileError."""
    try:
        entries = parse_properties(bytes(data).decode("latin-1"))
    except PropertiesError as error:
        raise CorruptFileError(str(error)) from error
    if entries.get("version") != _META_PROPERTIES_VERSION:
        raise CorruptFileError(f"version: expected {_META_PROPERTIES_VERSION}, found {entries.get('version')!r}")
    node_id, cluster_id = entries.get("node.id", ""), entries.get("cluster.id", "")
    if _NODE_ID.fullmatch(node_id) is None or int(node_id) > _INT32_MAX:
        raise CorruptFileError(f"node.id: expected a number, found {node_id!r}")
    if not cluster_id:
        raise CorruptFileError("cluster.id: missing")
    # Characters above 16 bits are written as surrogate pairs.
    cluster_id = cluster_id.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return MetaProperties(cluster_id, int(node_id), _directory_id_in(entries))


def _directory_id_in(entries: Mapping[str, str]) -> bytes | None:
    text = entries.get("directory.id")
    if text is None:
        return None
    try:
        return parse_uuid(text)
    except ValueError as error:
        raise CorruptFileError(f"directory.id: {error}") from error


def encode_clean_shutdown(broker_epoch: int) -> bytes:
    """Return the content of the clean-shutdown mark; loading only checks that the file exists."""
    return f'{{"version":0,"brokerEpoch":{broker_epoch}}}'.encode()
