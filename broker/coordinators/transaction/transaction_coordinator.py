"""The transaction coordinator: all transactional ids, behind one door for the request handlers.

Each step is written to __transaction_state before it is taken. The end of a transaction is written, then told to each
of its partitions by a marker, then written to be complete; all of it before the next request, so that nobody is told to
wait for it as Kafka tells many. A node that dies on the way goes on there when it loads its log again.
Source: TransactionCoordinator, TransactionStateManager and TransactionMarkerChannelManager, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

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
from ...metadata.metadata_image import TRANSACTION_STATE_TOPIC
from ..coordinator_log import CoordinatorLog, CoordinatorRecord, ReplayedRecord
from ..internal_topics import partition_index_of_key
from . import transaction_rules as rules
from .transaction_markers import MarkersGivenUp, write_markers
from .transaction_metadata import (
    EPOCH_BUMP_SINCE,
    LAST_PRODUCER_EPOCH,
    OLD_CLIENT,
    TopicPartition,
    TransactionMetadata,
    completed,
    fenced,
    metadata_of,
)

if TYPE_CHECKING:
    from ...metadata.controller import Controller
    from ...replica.replica_manager import ReplicaManager
    from ...runtime.clock import Timer
    from ...runtime.deferred import Deferred
    from .transaction_markers import WriteMarker

logger = logging.getLogger(__name__)

# How long after a marker, or the record that all were written, could not be written it is tried again.
RETRY_MS = 500

R = TypeVar("R")


class TransactionCoordinator:
    """Coordinates the transactions of a cluster; what it answers KafkaError to has changed nothing."""

    def __init__(
        self, controller: Controller, replicas: ReplicaManager, log: CoordinatorLog, write_marker: WriteMarker
    ) -> None:
        """Start without transactional ids; see load."""
        self._controller = controller
        self._replicas = replicas
        self._log = log
        self._write_marker = write_marker
        self._known: dict[str, TransactionMetadata] = {}
        self._recurring: list[Timer] = []
        self._retry: Timer | None = None

    # -- what producers ask

    def init_producer(
        self, transactional_id: str, timeout_ms: int, expected: TransactionalProducer | None
    ) -> TransactionMetadata:
        """Return the id with the producer that begins, which fences all before; its open transaction is aborted first.

        expected: what the producer says it was, from a client that knows of it (KIP-360).
        Raises KafkaError: INVALID_TRANSACTION_TIMEOUT, NOT_COORDINATOR, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS (to be
        asked again), COORDINATOR_LOAD_IN_PROGRESS where there is no producer id to give yet.
        """
        if not 0 < timeout_ms <= self._replicas.config.transaction_max_timeout_ms:
            raise KafkaError(ErrorCode.INVALID_TRANSACTION_TIMEOUT, f"a timeout of {timeout_ms} ms")
        self._check_here()
        now_ms = self._replicas.clock.now_ms()
        known = self._known.get(transactional_id)
        if known is None:
            known = TransactionMetadata(
                transactional_id=transactional_id,
                producer_id=self._new_producer_id(),
                timeout_ms=timeout_ms,
                last_update_ms=now_ms,
            )
        rules.check_expected(known, expected)
        if known.is_prepared or known.is_ongoing:
            if known.is_ongoing:
                self._abort_by_broker(known)
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS, f"a transaction of {transactional_id} is aborted first")
        begun = rules.begun_anew(known, expected, timeout_ms, now_ms, self._new_producer_id)
        self._keep(begun)
        return begun

    def add(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Collection[TopicPartition],
        *,
        client_version: int = EPOCH_BUMP_SINCE,
    ) -> None:
        """Have the partitions join the producer's transaction, which begins with the first of them.

        client_version: the transaction version of the client, 0 for one that adds partitions by a request of its own.
        Raises KafkaError: INVALID_REQUEST, NOT_COORDINATOR, INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED,
        CONCURRENT_TRANSACTIONS.
        """
        known = self._find(transactional_id)
        producer = TransactionalProducer(producer_id, producer_epoch)
        joined = rules.with_partitions(known, producer, partitions, client_version, self._replicas.clock.now_ms())
        if joined is not known:
            self._check_version(client_version)
            self._keep(joined)

    def verify(
        self, transactional_id: str, producer_id: int, producer_epoch: int, partitions: Collection[TopicPartition]
    ) -> None:
        """Check that the partitions are in the producer's transaction.

        Raises KafkaError as add, and TRANSACTION_ABORTABLE where one is not.
        """
        known = self._find(transactional_id)
        rules.check_producer(known, TransactionalProducer(producer_id, producer_epoch))
        for topic, index in partitions:
            if (topic, index) not in known.partitions:
                raise KafkaError(
                    ErrorCode.TRANSACTION_ABORTABLE, f"{topic}-{index} is not in the transaction of {transactional_id}"
                )

    def end(
        self, transactional_id: str, producer: TransactionalProducer, client_version: int, *, is_commit: bool
    ) -> TransactionalProducer:
        """End the producer's transaction, and return what it goes on as.

        client_version: the transaction version of the client. Raises KafkaError as add, and INVALID_TXN_STATE.
        """
        known, now_ms = self._find(transactional_id), self._replicas.clock.now_ms()
        if rules.raises_epoch(client_version):
            prepared = rules.ended_in_new_epoch(
                known, producer, client_version, now_ms, self._new_producer_id, is_commit=is_commit
            )
        else:
            prepared = rules.ended_by_old_client(known, producer, client_version, now_ms, is_commit=is_commit)
        if prepared is None:
            return TransactionalProducer(known.producer_id, known.producer_epoch)
        self._check_version(client_version)
        self._end(prepared)
        return TransactionalProducer(prepared.given_producer_id, prepared.given_producer_epoch)

    def when_durable(self, response: R, refused: Callable[[ErrorCode], R]) -> R | Deferred[R]:
        """Return the response when the appended records are durable. See CoordinatorLog.when_durable."""
        return self._log.when_durable(response, refused)

    # -- administration

    def describe(self, transactional_id: str) -> TransactionMetadata:
        """Return what is known of the id.

        Raises KafkaError: INVALID_REQUEST, NOT_COORDINATOR, TRANSACTIONAL_ID_NOT_FOUND.
        """
        self._check_id(transactional_id)
        known = self._known.get(transactional_id)
        if known is None:
            raise KafkaError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, f"nothing is known of {transactional_id}")
        return known

    def list_states(self) -> list[TransactionMetadata]:
        """Return what is known of all ids, the oldest first."""
        return list(self._known.values())

    def forget(self, transactional_id: str) -> None:
        """Know nothing of the id any more, as if it had expired; its open transaction is aborted first.

        Raises KafkaError as describe, and CONCURRENT_TRANSACTIONS where a partition was not told yet how it ended.
        """
        known = self.describe(transactional_id)
        if known.is_ongoing:
            self._abort_by_broker(known)
            known = self.describe(transactional_id)
        if known.is_prepared:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS, f"the transaction of {transactional_id} is being ended")
        self._forget(known)
        self._settle()

    # -- life

    def load(self) -> None:
        """Know what the log tells, and end the transactions whose end was decided and not told everywhere."""
        self._log.replay(self._apply)
        latest = max((max(each.producer_id, each.next_producer_id) for each in self._known.values()), default=-1)
        self._controller.keep_producer_ids_above(latest)
        for each in list(self._known.values()):
            if each.is_prepared:
                logger.info("the transaction of %s is ended, which was %s", each.transactional_id, each.state_name)
                self._complete(each)
        self._settle()
        if self._known:
            self._begin_upkeep()

    def unload(self) -> None:
        """Forget everything, with all that was to be done later."""
        self._known.clear()
        for timer in self._recurring:
            timer.cancel()
        self._recurring.clear()
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None

    def _apply(self, _partition: int, record: ReplayedRecord) -> None:
        """Take a record of the log; what cannot be read is passed over."""
        if record.marker is not None or record.key is None:
            return
        try:
            transactional_id = decode_key(record.key)
            if transactional_id is None:
                return
            if record.value is None:
                self._known.pop(transactional_id, None)
            else:
                self._known[transactional_id] = metadata_of(transactional_id, TransactionLogValue.read(record.value))
        except FrameError as error:
            logger.error("%s: the record at %d is passed over: %s", TRANSACTION_STATE_TOPIC, record.offset, error)

    def _begin_upkeep(self) -> None:
        if self._recurring:
            return
        clock, config = self._replicas.clock, self._replicas.config
        self._recurring = [
            clock.call_every(config.transaction_abort_interval_ms, self._abort_timed_out),
            clock.call_every(config.transaction_remove_expired_interval_ms, self._remove_expired),
        ]

    def _abort_timed_out(self) -> None:
        """Abort what was open for longer than its producer wanted (TransactionStateManager.timedOutTransactions)."""
        now_ms = self._replicas.clock.now_ms()
        for each in self.list_states():
            if each.is_timed_out(now_ms):
                logger.info("the transaction of %s is aborted after %d ms", each.transactional_id, each.timeout_ms)
                self._try(partial(self._abort_by_broker, each))
        self._settle()

    def _remove_expired(self) -> None:
        """Forget the ids that were not used for long (TransactionStateManager.removeExpiredTransactionalIds)."""
        now_ms, expiration_ms = self._replicas.clock.now_ms(), self._replicas.config.transactional_id_expiration_ms
        for each in self.list_states():
            if each.is_expired(now_ms, expiration_ms):
                self._try(partial(self._forget, each))
        self._settle()

    def _forget(self, known: TransactionMetadata) -> None:
        self._log.append(known.transactional_id, [CoordinatorRecord(encode_key(known.transactional_id), None)])
        del self._known[known.transactional_id]

    def _try(self, step: Callable[[], None]) -> None:
        """Take a step that nobody has asked for; what it is refused for is tried again when it is due again."""
        try:
            step()
        except KafkaError as error:
            logger.error("%s: %s", TRANSACTION_STATE_TOPIC, error.message)

    def _settle(self) -> None:
        """Have what was written flushed; nobody waits for it."""
        self._log.when_durable(None, lambda _: None)

    # -- steps

    def _find(self, transactional_id: str) -> TransactionMetadata:
        self._check_id(transactional_id)
        known = self._known.get(transactional_id)
        if known is None:
            raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING, f"nothing is known of {transactional_id}")
        return known

    def _check_id(self, transactional_id: str) -> None:
        if not transactional_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "the transactional id is empty")
        self._check_here()

    @property
    def has_topic(self) -> bool:
        """Whether __transaction_state exists."""
        return self._controller.image.find_topic(TRANSACTION_STATE_TOPIC) is not None

    def _check_here(self) -> None:
        """Refuse what comes before anybody has asked where the coordinator is: its topic comes into being then."""
        if not self.has_topic:
            raise KafkaError(ErrorCode.NOT_COORDINATOR, f"there is no {TRANSACTION_STATE_TOPIC} yet")

    def _check_version(self, client_version: int) -> None:
        """Refuse a step of a client whose version the log has no place for.

        Kafka fails in the middle of such a step, and has everybody who asks for the id wait for ever.
        """
        if client_version and not self._replicas.config.transaction_version:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"transaction.version is 0, the client's {client_version}")

    def _new_producer_id(self) -> int:
        producer_id = self._controller.producer_ids.generate()
        if producer_id is None:
            self._controller.claim_producer_ids()
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "the next block of producer ids is not there yet")
        return producer_id

    def _keep(self, metadata: TransactionMetadata) -> None:
        """Take a step: it is written, and then known; raises KafkaError as CoordinatorLog.append."""
        self._check_here()
        value_version = FLEXIBLE_SINCE if self._replicas.config.transaction_version else 0
        value = metadata.as_value().encode(value_version)
        self._log.append(metadata.transactional_id, [CoordinatorRecord(encode_key(metadata.transactional_id), value)])
        self._known[metadata.transactional_id] = metadata
        self._begin_upkeep()

    def _abort_by_broker(self, known: TransactionMetadata) -> None:
        """Abort an open transaction in an epoch that nobody was given.

        Raises KafkaError, see _keep; UNKNOWN_SERVER_ERROR where there is no such epoch any more, at a level that has no
        next producer id for that (TransactionMetadata.prepareFenceProducerEpoch fails there too).
        """
        level = self._replicas.config.transaction_version
        # At level 1 it is written as of a client of version 0 (TransactionCoordinator.endTransactionWithTV1).
        version = level if rules.raises_epoch(level) else OLD_CLIENT
        if not rules.raises_epoch(version) and known.producer_epoch > LAST_PRODUCER_EPOCH:
            raise KafkaError(
                ErrorCode.UNKNOWN_SERVER_ERROR, f"no epoch is left to fence producer {known.producer_id} by"
            )
        is_next_needed = rules.raises_epoch(version) and known.is_epoch_exhausted
        next_producer_id = self._new_producer_id() if is_next_needed else NO_PRODUCER_ID
        now_ms = self._replicas.clock.now_ms()
        self._end(fenced(known, client_version=version, next_producer_id=next_producer_id, now_ms=now_ms))

    def _end(self, prepared: TransactionMetadata) -> None:
        """Decide how a transaction ends. From then on it does so, whatever fails."""
        self._keep(prepared)
        self._complete(prepared)

    def _complete(self, prepared: TransactionMetadata) -> None:
        """Tell the partitions how their transaction ends; where that fails it is tried again later."""
        topic = self._controller.image.find_topic(TRANSACTION_STATE_TOPIC)
        if topic is None or not self._log.is_current:
            # The node died as soon as it was decided; it is ended when the log is loaded again.
            return
        index = partition_index_of_key(prepared.transactional_id, len(topic.partitions))
        try:
            left = write_markers(self._replicas, self._write_marker, prepared, topic.partitions[index].leader_epoch)
        except MarkersGivenUp as error:
            logger.error("the transaction of %s stays %s: %s", prepared.transactional_id, prepared.state_name, error)
            return
        if left:
            self._known[prepared.transactional_id] = replace(prepared, partitions=left)
            self._complete_later()
            return
        try:
            self._keep(completed(prepared, self._replicas.clock.now_ms()))
        except KafkaError as error:
            logger.error("%s: %s", TRANSACTION_STATE_TOPIC, error.message)
            self._known[prepared.transactional_id] = replace(prepared, partitions={})
            self._complete_later()

    def _complete_later(self) -> None:
        if self._retry is None and self._log.is_current:
            self._retry = self._replicas.clock.call_later(RETRY_MS, self._complete_again)

    def _complete_again(self) -> None:
        self._retry = None
        for each in self.list_states():
            if each.is_prepared:
                self._complete(each)
        self._settle()
