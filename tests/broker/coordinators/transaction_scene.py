"""A transaction coordinator on a manual clock, in a cluster that can crash before any append and is loaded again."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.coordinators.coordinator_log import ReplayedRecord
from fauxka.broker.coordinators.internal_topics import CoordinatorType, ensure_internal_topic
from fauxka.broker.coordinators.transaction.transaction_coordinator import TransactionCoordinator
from fauxka.broker.coordinators.transaction.transaction_metadata import TransactionMetadata
from fauxka.broker.lifecycle.cluster_loader import recover_cluster
from fauxka.broker.lifecycle.crash_restart import crash_node
from fauxka.broker.replica.partition import Partition
from fauxka.protocol.batches.control_records import decode_marker
from fauxka.protocol.batches.record_batch import parse_header
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.error_codes import KafkaError
from fauxka.protocol.produced_records import TransactionalProducer
from fauxka.protocol.stored_records.transaction_log_records import TransactionLogValue, decode_key
from fauxka.storage.file_systems.file_system import File, FileSystem
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem
from fauxka.storage.log_files import LOG_SUFFIX, TRANSACTION_INDEX_SUFFIX

from ...manual_clock import manual_clock

NOW_MS = 1_700_000_000_000
TOPIC = "t"
TIMEOUT_MS = 60_000
OLD, NEW = 0, 2
FETCH_BYTES = 50_000_000
# The content of a marker: producer id, producer epoch, is_commit.
Marker = tuple[int, int, bool]


class NodeCrashed(BaseException):
    """The node crashed before this append."""


class CrashingFile:
    """A file of a CrashingFileSystem."""

    def __init__(self, files: CrashingFileSystem, path: str, inner: File) -> None:
        self._files = files
        self._path = path
        self._inner = inner

    def append(self, head: bytes, body: memoryview | bytes) -> int:
        self._files.before_append(self._path)
        return self._inner.append(head, body)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class CrashingFileSystem(MemoryFileSystem):
    """Files of a node that crashes before an append to a log. appends_left: before the crash; None without a crash."""

    def __init__(self) -> None:
        super().__init__()
        self.appends_left: int | None = None

    def open(self, path: str) -> Any:
        return CrashingFile(self, path, super().open(path))

    def before_append(self, path: str) -> None:
        """Crash if it is time. The transaction index is written to before the marker in the log."""
        if self.appends_left is None or not path.endswith((LOG_SUFFIX, TRANSACTION_INDEX_SUFFIX)):
            return
        if not self.appends_left:
            raise NodeCrashed
        self.appends_left -= path.endswith(LOG_SUFFIX)


class TransactionScene:
    """One node with __transaction_state and the topic "t" of two partitions. level: transaction.version."""

    def __init__(
        self, level: int = NEW, config: Mapping[str, str] | None = None, *, file_system: FileSystem | None = None
    ) -> None:
        self.clock = manual_clock(NOW_MS)
        entries = {"fauxka.transaction.version": str(level), "transaction.state.log.num.partitions": "2"}
        settings = BrokerConfig.from_entries({**entries, **(config or {})})
        self._files = CrashingFileSystem()
        self.cluster = Cluster(settings, clock=self.clock, file_system=file_system or self._files)
        self.cluster.controller.create_topic(TOPIC, 2)
        ensure_internal_topic(self.cluster.controller, CoordinatorType.TRANSACTION)

    @property
    def coordinator(self) -> TransactionCoordinator:
        return self.cluster.node.coordinators.transactions

    def partition(self, index: int) -> Partition:
        return self.cluster.node.replicas.partition_of(TOPIC, index)

    # -- requests of a producer

    def init(
        self, name: str, timeout_ms: int = TIMEOUT_MS, expected: tuple[int, int] | None = None
    ) -> TransactionMetadata:
        producer = None if expected is None else TransactionalProducer(*expected)
        return self.coordinator.init_producer(name, timeout_ms, producer)

    def add(self, name: str, producer: tuple[int, int], *indexes: int, version: int = NEW) -> None:
        partitions = [(TOPIC, index) for index in indexes]
        self.coordinator.add(name, *producer, partitions, client_version=version)

    def end(
        self, name: str, producer: tuple[int, int], *, is_commit: bool, version: int = NEW
    ) -> TransactionalProducer:
        return self.coordinator.end(name, TransactionalProducer(*producer), version, is_commit=is_commit)

    def produce(self, index: int, producer: tuple[int, int]) -> None:
        """Write one record of the producer's transaction."""
        producer_id, epoch = producer
        log = self.partition(index).log
        entry = log.producers.find(producer_id)
        sequence = entry.next_sequence if entry is not None and entry.producer_epoch == epoch else 0
        options = BatchOptions(
            producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence, is_transactional=True
        )
        batch = build_batch([Record(value=b"v", timestamp=self.clock.now_ms())], options)
        self.partition(index).append(memoryview(batch), self.clock.now_ms())

    # -- the logs

    def markers(self, index: int) -> list[Marker]:
        """Return the markers of a partition in the order of its log."""
        found: list[Marker] = []
        for header, batch in self._batches(self.partition(index)):
            marker = decode_marker(header, batch)
            if marker is not None:
                found.append((header.producer_id, header.producer_epoch, marker.is_commit))
        return found

    def states(self, name: str) -> list[str]:
        """Return the states in the records of the id, in the order of the log; "" for a tombstone."""

        found: list[str] = []

        def apply(_: int, record: ReplayedRecord) -> None:
            if decode_key(record.key or b"") == name:
                found.append("" if record.value is None else TransactionLogValue.read(record.value).status.name)

        self.cluster.node.coordinators.coordinator_log(CoordinatorType.TRANSACTION).replay(apply)
        return found

    def has_undecided(self, index: int) -> bool:
        """Whether the last stable offset is before the end of the partition."""
        log = self.partition(index).log
        return log.last_stable_offset < log.log_end_offset

    def _batches(self, partition: Partition) -> Iterator[tuple[Any, bytes]]:
        log = partition.log
        fetched = log.read(0, FETCH_BYTES, upper_offset=log.log_end_offset, min_one_batch=True)
        data = b"".join(fetched.views)
        position = 0
        while position < len(data):
            header = parse_header(data, position)
            yield header, data[position : position + header.size]
            position += header.size

    # -- crash and restart

    def restart(self) -> None:
        """Crash the node and load it again."""
        dead = crash_node(self.cluster, None)
        self.cluster.drop_memory()
        recover_cluster(self.cluster, dead.metadata, dead.directory)

    @contextmanager
    def dying_before(self, append_number: int) -> Generator[None]:
        """Crash the node before an append of the block, counted from 0, and restart it. This ends the block."""
        self._files.appends_left = append_number
        try:
            yield
        except NodeCrashed:
            self._files.appends_left = None
            self.restart()
        finally:
            self._files.appends_left = None


def error_of(request: Callable[[], object]) -> str:
    """Return the name of the error code that request raises, or NONE."""
    try:
        request()
    except KafkaError as error:
        return error.code.name
    return "NONE"
