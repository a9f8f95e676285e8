"""The transaction coordinator of a node: the state of the transactional ids that it coordinates.

The states of a transactional id (TransactionStatus):

    EMPTY -> ONGOING                         add: the first partition of a transaction
    ONGOING -> PREPARE_COMMIT, PREPARE_ABORT end; an abort by the broker after a timeout or before InitProducerId
    PREPARE_x -> COMPLETE_x                  every partition has its marker
    COMPLETE_x -> ONGOING, EMPTY             add, InitProducerId
    EMPTY, COMPLETE_x -> PREPARE_ABORT       an abort without a transaction (transaction version 2)

- A transition is appended to __transaction_state before `_transactions` has it (`_write`). A request that raises
  KafkaError changes nothing. Only the removal of partitions with a marker is not logged: after a crash they get another
  marker, which changes no outcome.
- PREPARE_x decides the outcome. No marker is written before it, and COMPLETE_x is written after the last marker. A
  failed marker is tried again after RETRY_MS, and after a crash when the log is loaded.
- With flush.messages, PREPARE_x is flushed before the first marker is written, and all markers before COMPLETE_x. After
  a power failure all partitions get the same outcome, and none keeps an open transaction. A response waits for the
  flush of the records and of the markers that it stands for.
- A node coordinates the ids of the partitions of __transaction_state that it leads. A new leader reads them from its
  log, completes decided transactions, and goes on with open ones.
- An abort by the broker raises the epoch, so that the producer is fenced.
- Without flush.messages, the decision, the markers and the completion are one synchronous step. Other requests find
  PREPARE_x only if a marker failed or is held (held_markers.py), so fewer of them get CONCURRENT_TRANSACTIONS than in
  Kafka. An `await` inside a step would break this.
transaction_rules.py holds the checks of each request, transaction_metadata.py the transitions.
Source: TransactionCoordinator, TransactionStateManager and TransactionMarkerChannelManager, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.frames import FrameError
from ....protocol.produced_records import TransactionalProducer
from ....protocol.stored_records.transaction_log_records import (
    FLEXIBLE_SINCE,
    NO_PRODUCER_ID,
    TransactionLogValue,
    decode_key,
    encode_key,
)
from ...metadata.features import TRANSACTION_VERSION
from ...metadata.metadata_image import TRANSACTION_STATE_TOPIC
from ..coordinator_log import CoordinatorLog, CoordinatorRecord, ReplayedRecord
from ..internal_topics import partition_index_of_key
from . import transaction_rules as rules
from .end_retries import EndRetries
from .held_markers import HeldMarkers
from .transaction_markers import MarkersAbandoned, write_markers
from .transaction_metadata import (
    EPOCH_BUMP_SINCE,
    FENCING_EPOCH_MAX,
    LAST_PRODUCER_EPOCH,
    OLD_CLIENT,
    TopicPartition,
    TransactionMetadata,
    metadata_from_value,
    prepare_complete,
    prepare_fenced_abort,
)

if TYPE_CHECKING:
    from ....protocol.release_rules import ReleaseRules
    from ....storage.append_result import AppendResult
    from ....storage.coordinator_batch import TransactionMarker
    from ...metadata.controller import Controller
    from ...replica.partition import Partition
    from ...replica.replica_manager import ReplicaManager
    from ...runtime.clock import Timer
    from ...runtime.deferred import Deferred

    # Appends a marker on the leader of a partition, and returns the partition there. Raises KafkaError, as
    # Coordinators.send_marker.
    WriteMarker = Callable[[str, int, TransactionMarker], tuple[Partition, AppendResult]]

logger = logging.getLogger(__name__)


class TransactionCoordinator:
    """Coordinates the transactional ids of the partitions that the node leads."""

    def __init__(
        self,
        controller: Controller,
        replicas: ReplicaManager,
        log: CoordinatorLog,
        write_marker: WriteMarker,
    ) -> None:
        """Create the coordinator without transactional ids; see load."""
        self._controller = controller
        self._replicas = replicas
        self._log = log
        self._write_marker = write_marker
        self._transactions: dict[str, TransactionMetadata] = {}
        self._periodic_timers: list[Timer] = []
        # The ids whose end failed, with the step to try again: _end or _complete.
        self._retries = EndRetries(log, replicas, self._transactions)
        self.held_markers = HeldMarkers()

    # -- requests of producers

    def init_producer(
        self, transactional_id: str, timeout_ms: int, expected: TransactionalProducer | None
    ) -> TransactionMetadata:
        """Return the transactional id with its next epoch, which fences earlier producers.

        An open transaction is aborted first, and the client must retry after CONCURRENT_TRANSACTIONS.
        expected: the present producer id and epoch of the client, if it sends them (KIP-360).
        Raises KafkaError: INVALID_TRANSACTION_TIMEOUT, NOT_COORDINATOR, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS,
        COORDINATOR_LOAD_IN_PROGRESS without a block of producer ids.
        """
        if not 0 < timeout_ms <= self._replicas.config.transaction_max_timeout_ms:
            raise KafkaError(ErrorCode.INVALID_TRANSACTION_TIMEOUT, f"a timeout of {timeout_ms} ms")
        metadata = self._find(transactional_id)
        now_ms = self._replicas.clock.steady_ms()
        if metadata is None:
            metadata = TransactionMetadata(
                transactional_id=transactional_id,
                producer_id=self._new_producer_id(),
                timeout_ms=timeout_ms,
                last_update_ms=now_ms,
            )
        rules.check_expected_producer(metadata, expected)
        if metadata.is_prepared or metadata.is_ongoing:
            if metadata.is_ongoing:
                self._abort_by_broker(metadata)
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS, f"the transaction of {transactional_id} is ending")
        initialized = rules.init_producer(metadata, expected, timeout_ms, now_ms, self._new_producer_id)
        self._write(initialized)
        return initialized

    def add(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Collection[TopicPartition],
        *,
        client_version: int = EPOCH_BUMP_SINCE,
    ) -> None:
        """Add the partitions to the producer's transaction. Without an open transaction, one begins.

        client_version: the transaction version of the client.
        Raises KafkaError: INVALID_REQUEST, NOT_COORDINATOR, INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED,
        CONCURRENT_TRANSACTIONS.
        """
        metadata = self._metadata_of(transactional_id)
        producer = TransactionalProducer(producer_id, producer_epoch)
        added = rules.add_partitions(metadata, producer, partitions, client_version, self._replicas.clock.steady_ms())
        if added is not metadata:
            self._check_version(client_version)
            self._write(added)

    def verify(
        self, transactional_id: str, producer_id: int, producer_epoch: int, partitions: Collection[TopicPartition]
    ) -> None:
        """Check that the partitions are in the producer's transaction.

        Raises KafkaError: the errors of add; TRANSACTION_ABORTABLE for a partition that is not, in releases before 3.8
        INVALID_TXN_STATE.
        """
        metadata = self._metadata_of(transactional_id)
        rules.check_producer(metadata, TransactionalProducer(producer_id, producer_epoch))
        for topic, index in partitions:
            if (topic, index) not in metadata.partitions:
                is_abortable = self._release_rules.has_transaction_abortable
                code = ErrorCode.TRANSACTION_ABORTABLE if is_abortable else ErrorCode.INVALID_TXN_STATE
                raise KafkaError(code, f"{topic}-{index} is not in the transaction of {transactional_id}")

    def end(
        self, transactional_id: str, producer: TransactionalProducer, client_version: int, *, is_commit: bool
    ) -> TransactionalProducer:
        """Commit or abort the producer's transaction, and return its producer id and epoch after that.

        client_version: the transaction version of the client. Raises KafkaError: the errors of add, INVALID_TXN_STATE.
        """
        metadata, now_ms = self._metadata_of(transactional_id), self._replicas.clock.steady_ms()
        if rules.is_epoch_bumped(client_version):
            prepared = rules.end_transaction_v2(
                metadata, producer, client_version, now_ms, self._new_producer_id, is_commit=is_commit
            )
        else:
            if not self._release_rules.ends_in_current_epoch_only:
                decided = rules.decide_in_higher_epoch(metadata, producer, now_ms, is_commit=is_commit)
                if decided is not metadata:
                    # The markers are not written, because the producer is rejected below.
                    self._write(decided)
            prepared = rules.end_transaction_v1(metadata, producer, client_version, now_ms, is_commit=is_commit)
        if prepared is None:
            return TransactionalProducer(metadata.producer_id, metadata.producer_epoch)
        self._check_version(client_version)
        if prepared.producer_epoch > FENCING_EPOCH_MAX:
            # Only at level 1, where an abort by the broker took the last epoch. Kafka's prepareTransitionTo fails too.
            raise KafkaError(
                ErrorCode.UNKNOWN_SERVER_ERROR,
                f"producer {metadata.producer_id} has no epoch after {FENCING_EPOCH_MAX}",
            )
        self._end(prepared)
        return prepared.producer_after_end

    def flushed(self) -> Deferred[ErrorCode]:
        """Return what completes when the appended records are durable. See CoordinatorLog.flushed."""
        return self._log.flushed()

    # -- administration

    def describe(self, transactional_id: str) -> TransactionMetadata:
        """Return the metadata. Raises KafkaError: INVALID_REQUEST, NOT_COORDINATOR, TRANSACTIONAL_ID_NOT_FOUND."""
        return self._metadata_of(transactional_id, missing=ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)

    def has_transactional_id(self, transactional_id: str) -> bool:
        """Return whether this node has the transactional id."""
        return transactional_id in self._transactions

    def list_all(self) -> list[TransactionMetadata]:
        """Return the metadata of all transactional ids in the order of their creation."""
        return list(self._transactions.values())

    def abort(self, transactional_id: str) -> None:
        """Abort an open transaction as if it had timed out. Raises KafkaError, see describe and _abort_by_broker."""
        metadata = self.describe(transactional_id)
        if metadata.is_ongoing:
            self._abort_by_broker(metadata)

    def delete(self, transactional_id: str) -> None:
        """Delete the transactional id as if it had expired. The caller must abort an open transaction before.

        Raises KafkaError: the errors of describe, and CONCURRENT_TRANSACTIONS while a transaction is open or ending.
        """
        metadata = self.describe(transactional_id)
        if metadata.is_ongoing or metadata.is_prepared:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS, f"{transactional_id} is in state {metadata.state_name}")
        self._delete(metadata)
        self._flush()

    # -- load and periodic tasks

    def load(self) -> None:
        """Read the ids of led partitions that are not in memory, and write missing markers of decided transactions."""
        known = dict(self._transactions)
        self._log.load(self._apply)
        for each in self.list_all():
            if each.is_prepared and each.transactional_id not in known:
                logger.info("the transaction of %s was %s and is completed", each.transactional_id, each.state_name)
                self._complete(each)
        self._flush()
        if self._transactions:
            self._start_timers()

    @property
    def latest_producer_id(self) -> int:
        """The highest producer id of all transactional ids; -1 if there is none."""
        return max((max(each.producer_id, each.next_producer_id) for each in self._transactions.values()), default=-1)

    def leaders_changed(self) -> None:
        """Drop the ids of the partitions that other nodes lead now, and load those that this node leads now.

        Source: TransactionStateManager.removeTransactionsForTxnTopicPartition and loadTransactionsForTxnTopicPartition,
        Kafka 4.3.0.
        """
        lost = self._log.forget()
        for transactional_id in list(self._transactions) if lost else ():
            if self._log.index_of(transactional_id) in lost:
                del self._transactions[transactional_id]
                self._retries.drop(transactional_id)
        self.load()

    def unload(self) -> None:
        """Drop all transactional ids and cancel all timers."""
        self._log.forget()
        self._transactions.clear()
        self._retries.clear()
        for timer in self._periodic_timers:
            timer.cancel()
        self._periodic_timers.clear()

    def _apply(self, _partition: int, record: ReplayedRecord) -> None:
        """Apply a record of the log. A record that cannot be decoded is skipped and logged."""
        if record.marker is not None or record.key is None:
            return
        try:
            transactional_id = decode_key(record.key)
            if transactional_id is None:
                return
            if record.value is None:
                self._transactions.pop(transactional_id, None)
            else:
                value = TransactionLogValue.read(record.value)
                self._transactions[transactional_id] = metadata_from_value(transactional_id, value)
        except FrameError as error:
            logger.error("%s: the record at offset %d is skipped: %s", TRANSACTION_STATE_TOPIC, record.offset, error)

    def _start_timers(self) -> None:
        if self._periodic_timers:
            return
        clock, config = self._replicas.clock, self._replicas.config
        self._periodic_timers = [
            clock.call_every(config.transaction_abort_interval_ms, self._abort_timed_out),
            clock.call_every(config.transaction_remove_expired_interval_ms, self._delete_expired),
        ]

    def _abort_timed_out(self) -> None:
        """Abort transactions that exceed their timeout (TransactionStateManager.timedOutTransactions)."""
        now_ms = self._replicas.clock.steady_ms()
        for each in self.list_all():
            if each.is_timed_out(now_ms):
                logger.info("the transaction of %s is aborted after %d ms", each.transactional_id, each.timeout_ms)
                with _logged_errors():
                    self._abort_by_broker(each)
                    self._replicas.clock.note_expired("transactions", each.transactional_id)
        self._flush()

    def _delete_expired(self) -> None:
        """Delete expired transactional ids (TransactionStateManager.removeExpiredTransactionalIds)."""
        now_ms, expiration_ms = self._replicas.clock.steady_ms(), self._replicas.config.transactional_id_expiration_ms
        for each in self.list_all():
            if each.is_expired(now_ms, expiration_ms):
                with _logged_errors():
                    self._delete(each)
                    self._replicas.clock.note_expired("transactional_ids", each.transactional_id)
        self._flush()

    def _delete(self, metadata: TransactionMetadata) -> None:
        self._log.append(metadata.transactional_id, [CoordinatorRecord(encode_key(metadata.transactional_id), None)])
        del self._transactions[metadata.transactional_id]

    def _flush(self) -> None:
        """Start the flush of the appended records. No response waits for it."""
        self._log.flushed()

    # -- checks

    def _metadata_of(
        self, transactional_id: str, missing: ErrorCode = ErrorCode.INVALID_PRODUCER_ID_MAPPING
    ) -> TransactionMetadata:
        if not transactional_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "the transactional id is empty")
        metadata = self._find(transactional_id)
        if metadata is None:
            raise KafkaError(missing, f"transactional id {transactional_id} does not exist")
        return metadata

    def _find(self, transactional_id: str) -> TransactionMetadata | None:
        """Return the metadata, or None. Raises KafkaError NOT_COORDINATOR if this node does not coordinate the id."""
        metadata = self._transactions.get(transactional_id)
        if metadata is None:
            self._check_topic()
            self._log.check_coordinator(transactional_id)
        return metadata

    def _check_topic(self) -> None:
        """Raise KafkaError NOT_COORDINATOR until the first FindCoordinator has created the topic."""
        if self._controller.image.find_topic(TRANSACTION_STATE_TOPIC) is None:
            raise KafkaError(ErrorCode.NOT_COORDINATOR, f"there is no {TRANSACTION_STATE_TOPIC} yet")

    @property
    def _release_rules(self) -> ReleaseRules:
        """What the release of the cluster decides differently."""
        return self._replicas.emulated_version.rules

    @property
    def _level(self) -> int:
        """The level of transaction.version, which a request can change."""
        return self._replicas.image.features.level_of(TRANSACTION_VERSION)

    def _check_version(self, client_version: int) -> None:
        """Raise KafkaError UNSUPPORTED_VERSION if transaction.version 0 cannot store the client's version.

        Kafka fails later in the transition, and rejects every later request for the transactional id.
        """
        if client_version and not self._level:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"transaction.version is 0, the client's {client_version}")

    # -- transitions

    def _new_producer_id(self) -> int:
        producer_id = self._controller.producer_ids.generate(self._replicas.node_id)
        if producer_id is None:
            self._controller.claim_producer_ids(self._replicas.node_id)
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "the next block of producer ids is not saved yet")
        return producer_id

    def _write(self, metadata: TransactionMetadata) -> None:
        """Append the metadata to the log, then store it. Raises KafkaError, see CoordinatorLog.append."""
        self._check_topic()
        value_version = FLEXIBLE_SINCE if self._level else 0
        value = metadata.as_value().encode(value_version)
        self._log.append(metadata.transactional_id, [CoordinatorRecord(encode_key(metadata.transactional_id), value)])
        self._transactions[metadata.transactional_id] = metadata
        self._start_timers()

    def _abort_by_broker(self, metadata: TransactionMetadata) -> None:
        """Abort an open transaction in an epoch that no producer has.

        Raises KafkaError: the errors of _write, and UNKNOWN_SERVER_ERROR if the epochs are exhausted in a transaction
        version without next_producer_id (TransactionMetadata.prepareFenceProducerEpoch fails there too).
        """
        level = self._level
        # With transaction.version 1, Kafka writes version 0 (TransactionCoordinator.endTransactionWithTV1).
        version = level if rules.is_epoch_bumped(level) else OLD_CLIENT
        if not rules.is_epoch_bumped(version) and metadata.producer_epoch > LAST_PRODUCER_EPOCH:
            raise KafkaError(
                ErrorCode.UNKNOWN_SERVER_ERROR, f"producer id {metadata.producer_id} has no epoch left to fence with"
            )
        needs_next_id = rules.is_epoch_bumped(version) and metadata.is_epoch_exhausted
        next_producer_id = self._new_producer_id() if needs_next_id else NO_PRODUCER_ID
        now_ms = self._replicas.clock.steady_ms()
        if rules.is_epoch_bumped(version) and not self._release_rules.fences_in_one_epoch:
            metadata = replace(metadata, producer_epoch=metadata.producer_epoch + 1)
        self._end(
            prepare_fenced_abort(metadata, client_version=version, next_producer_id=next_producer_id, now_ms=now_ms)
        )

    def _end(self, prepared: TransactionMetadata) -> None:
        """Write the decided outcome, then the markers. Raises KafkaError if the outcome cannot be written."""
        self._write(prepared)

        def decided(is_durable: bool) -> None:
            if is_durable:
                self._complete(prepared)
            else:
                self._retries.add(prepared, self._end)

        self._log.run_when_flushed(decided)

    def _complete(self, prepared: TransactionMetadata) -> None:
        """Write the markers, and the completed transaction after the last one. Failures are tried again later."""
        topic = self._controller.image.find_topic(TRANSACTION_STATE_TOPIC)
        if topic is None or not self._is_present(prepared):
            return
        if self.held_markers.keep(prepared.transactional_id, lambda: self._complete_released(prepared)):
            return
        index = partition_index_of_key(prepared.transactional_id, len(topic.partitions))
        try:
            failed = write_markers(self._append_marker, prepared, topic.partitions[index].leader_epoch)
        except MarkersAbandoned as error:
            logger.error("the transaction of %s stays %s: %s", prepared.transactional_id, prepared.state_name, error)
            return
        self._log.run_when_flushed(
            lambda is_durable: self._write_complete(prepared, failed if is_durable else prepared.partitions)
        )

    def _complete_released(self, prepared: TransactionMetadata) -> None:
        self._complete(prepared)
        self._flush()

    def _write_complete(self, prepared: TransactionMetadata, missing: Mapping[TopicPartition, None]) -> None:
        """Write the completed transaction. missing: the partitions whose marker is not written or not flushed."""
        if not self._is_present(prepared):
            return
        if not missing:
            try:
                self._write(prepare_complete(prepared, self._replicas.clock.steady_ms()))
                return
            except KafkaError as error:
                logger.error("%s: %s", TRANSACTION_STATE_TOPIC, error.message)
        self._transactions[prepared.transactional_id] = replace(prepared, partitions=missing)
        self._retries.add(prepared, self._complete)

    def _is_present(self, prepared: TransactionMetadata) -> bool:
        """Whether the transaction is still ending. After a crash of the node, the next load continues."""
        return self._log.is_current and self._transactions.get(prepared.transactional_id) is prepared

    def _append_marker(self, topic_name: str, index: int, marker: TransactionMarker) -> None:
        """Append a marker. The completion and the next response wait for its flush, like consumers."""
        self._log.await_safe(*self._write_marker(topic_name, index, marker))


@contextmanager
def _logged_errors() -> Generator[None, None, None]:
    """Log a KafkaError of the block. The next run of the periodic task tries again."""
    try:
        yield
    except KafkaError as error:
        logger.error("%s: %s", TRANSACTION_STATE_TOPIC, error.message)
