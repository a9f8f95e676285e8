"""Messages as JSON values that are the same in every run: what is volatile gets a name.

Topic ids become "id of NAME" or "unknown id", fetch session ids "session 1" in the order of their appearance, the
ports of the broker and its controller "PORT", its cluster id "CLUSTER_ID", the folder of its logs "LOG_DIR", times of
the last minutes "now", an offset of the metadata log "metadata offset", a key's documentation "DOCUMENTATION".
Lists that come in the order of a hash map (UNORDERED) are sorted.
Fields that have their default are left out, so that a field that a version does not carry is too; error_code stays.
Records become one entry a batch: its header fields, and how many bytes follow that are no whole batch.
"""

import base64
import json
import struct
import time
from collections.abc import Mapping
from typing import TypeAlias

import crc32c

from fauxka.protocol.message import Message
from fauxka.protocol.messages.describe_configs import DescribeConfigsResourceResult
from fauxka.protocol.primitives import ZERO_UUID

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

NOW_MS_RANGE = 10 * 60 * 1000
BATCH_HEADER = struct.Struct(">qiibIhiqqqhii")
LOG_OVERHEAD = 12
# Batch attributes in bytes 21 and up are what the checksum covers.
CHECKED_FROM = 21
TIMES = {
    "base_timestamp",
    "last_caught_up_timestamp",
    "last_fetch_timestamp",
    "last_timestamp",
    "log_append_time_ms",
    "max_timestamp",
    "timestamp",
    "transaction_start_time_ms",
}
# Message and the fields of it whose order is that of a hash map: it changes with the names and tells nothing.
UNORDERED = {
    "AlterClientQuotasResponse": "entries",
    "AlterConfigsResponse": "responses",
    "AlterReplicaLogDirTopicResult": "partitions",
    "AlterReplicaLogDirsResponse": "results",
    "ApiVersionsResponse": "finalized_features",
    "CreatePartitionsResponse": "results",
    "CreateTopicsResponse": "topics",
    "DeleteRecordsResponse": "topics",
    "DeleteRecordsTopicResult": "partitions",
    "DeleteShareGroupStateResponse": "results",
    "DeleteStateResult": "partitions",
    "DeleteTopicsResponse": "responses",
    "DescribeClientQuotasResponse": "entries",
    "DescribeConfigsResult": "configs",
    "DescribeLogDirsResult": "topics",
    "DescribeLogDirsTopic": "partitions",
    "ElectLeadersResponse": "replica_election_results",
    "EntryData": "entity values",
    "IncrementalAlterConfigsResponse": "responses",
    "InitializeShareGroupStateResponse": "results",
    "InitializeStateResult": "partitions",
    "ListConfigResourcesResponse": "config_resources",
    "ListOffsetsResponse": "topics",
    "ListOffsetsTopicResponse": "partitions",
    "MetadataResponse": "topics",
    "ReadShareGroupStateResponse": "results",
    "ReadShareGroupStateSummaryResponse": "results",
    "ReadStateResult": "partitions",
    "ReadStateSummaryResult": "partitions",
    "ResponseEntryData": "entity",
    "ShareFetchableTopicResponse": "partitions",
    "TransactionState": "topics",
    "WriteShareGroupStateResponse": "results",
    "WriteStateResult": "partitions",
}
# Message and field of an offset of the metadata log: each broker counts its own changes.
METADATA_OFFSETS = {
    ("ApiVersionsResponse", "finalized_features_epoch"),
    ("ReplicaState", "log_end_offset"),
    ("ResponsePartitionData", "high_watermark"),
}
# What api_versions-4.3.0.json has.
OF_API_VERSIONS = {("ApiVersionsResponse", "api_keys"), ("ApiVersionsResponse", "supported_features")}
# Broker configs that depend on the machine, and configs that only fauxka has: left out of a list of all configs.
OF_THE_MACHINE = {"advertised.listeners", "controller.quorum.voters", "listeners", "log.dirs"}
OWN_PREFIX = "fauxka."
DISK_SIZES = {"total_bytes", "usable_bytes"}


class NormalForm:
    """Turns messages into JSON values; remembers the names given so far."""

    def __init__(self, bootstrap: str, ports: Mapping[int, str] | None = None) -> None:
        """bootstrap: "host:port"; the port is what is replaced. ports: the names of ports of other nodes."""
        self._port = int(bootstrap.rsplit(":", 1)[1])
        # The controller's port is the next one.
        self._ports = {self._port: "PORT", self._port + 1: "PORT"} if ports is None else ports
        self._topic_ids: dict[bytes, str] = {}
        self._texts: dict[str, str] = {}
        self._add_topic_id(ZERO_UUID, "zero")
        self._sessions: dict[int, str] = {}

    def name_text(self, text: str, name: str) -> None:
        """Write that text, also within a longer one, as the name from now on."""
        self._texts[text] = name

    def name_topic_id(self, topic_id: bytes, name: str) -> None:
        """Write that topic id as "id of NAME" from now on."""
        self._add_topic_id(topic_id, f"id of {name}")

    def _add_topic_id(self, topic_id: bytes, named: str) -> None:
        self._topic_ids[topic_id] = named
        # As error messages have it.
        self._texts[base64.urlsafe_b64encode(topic_id).decode().rstrip("=")] = f"({named})"

    def learn_topic_ids(self, message: object) -> None:
        """Name every topic id that stands beside a topic name in the message."""
        if isinstance(message, list):
            for entry in message:  # pyright: ignore[reportUnknownVariableType]
                self.learn_topic_ids(entry)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(message, Message):
            values = {name: getattr(message, name) for name in message.__slots__}
            topic_id, name = values.get("topic_id"), values.get("name")
            if isinstance(topic_id, bytes) and isinstance(name, str) and name and topic_id not in self._topic_ids:
                self.name_topic_id(topic_id, name)
            for value in values.values():
                self.learn_topic_ids(value)

    def of(self, value: object, *, name: str = "") -> Json:
        """Return the value of the field with that name; a message has no field name."""
        if isinstance(value, Message):
            return self._message(value)
        if isinstance(value, list):
            entries: list[object] = value  # pyright: ignore[reportUnknownVariableType]
            return [self.of(entry, name=name) for entry in entries if not _is_of_the_machine(entry)]
        if isinstance(value, bytes):
            return self._bytes(value, name)
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int):
            return self._number(int(value), name)
        if isinstance(value, str):
            return self._text(value, name)
        assert isinstance(value, float), f"a field of type {type(value)}"
        return value

    def _message(self, message: Message) -> Json:
        defaults: object = type(message)()
        answer: dict[str, Json] = {}
        message_name = type(message).__name__
        for name in message.__slots__:
            value: object = getattr(message, name)
            is_written = name == "error_code" or value != getattr(defaults, name)
            if is_written and (message_name, name) in METADATA_OFFSETS:
                answer[name] = "metadata offset"
            elif is_written and (message_name, name) not in OF_API_VERSIONS:
                answer[name] = self.of(value, name=name)
        for field in UNORDERED.get(message_name, "").split():
            unordered = answer.get(field)
            if isinstance(unordered, list):
                unordered.sort(key=json.dumps)
        return answer

    def _bytes(self, value: bytes, name: str) -> Json:
        if name == "records":
            return self._records(value)
        if len(value) == len(ZERO_UUID):
            return self._topic_ids.get(value, "unknown id")
        return value.hex()

    def _number(self, value: int, name: str) -> Json:
        if name == "port" and value in self._ports:
            return self._ports[value]
        if name == "session_id" and value > 0:
            return self._sessions.setdefault(value, f"session {len(self._sessions) + 1}")
        if name in DISK_SIZES and value > 0:
            return "positive"
        if name in TIMES and abs(value - time.time() * 1000) < NOW_MS_RANGE:
            return "now"
        return value

    def _text(self, value: str, name: str) -> Json:
        if name == "cluster_id":
            return "CLUSTER_ID"
        if name == "log_dir":
            return "LOG_DIR"
        if name == "documentation" and value:
            return "DOCUMENTATION"
        for text, text_name in self._texts.items():
            value = value.replace(text, text_name)
        return value.replace(str(self._port), "PORT")

    def _records(self, value: bytes) -> Json:
        answer: list[Json] = []
        position = 0
        while position + BATCH_HEADER.size <= len(value):
            size = LOG_OVERHEAD + struct.unpack_from(">i", value, position + 8)[0]
            if position + size > len(value):
                break
            answer.append(self._batch(value[position : position + size]))
            position += size
        if position < len(value):
            answer.append(f"{len(value) - position} bytes of a batch")
        return answer

    def _batch(self, batch: bytes) -> Json:
        (
            base_offset,
            batch_length,
            leader_epoch,
            magic,
            crc,
            attributes,
            last_offset_delta,
            base_timestamp,
            max_timestamp,
            producer_id,
            producer_epoch,
            base_sequence,
            record_count,
        ) = BATCH_HEADER.unpack_from(batch)
        return {
            "base_offset": base_offset,
            "batch_length": batch_length,
            "partition_leader_epoch": leader_epoch,
            "magic": magic,
            "crc_is_right": crc == crc32c.crc32c(batch[CHECKED_FROM:]),
            "attributes": attributes,
            "last_offset_delta": last_offset_delta,
            "base_timestamp": self._number(base_timestamp, "base_timestamp"),
            "max_timestamp": self._number(max_timestamp, "max_timestamp"),
            "producer": [self._number(producer_id, "producer_id"), producer_epoch, base_sequence],
            "record_count": record_count,
        }


def _is_of_the_machine(entry: object) -> bool:
    if not isinstance(entry, DescribeConfigsResourceResult):
        return False
    return entry.name in OF_THE_MACHINE or entry.name.startswith(OWN_PREFIX)
