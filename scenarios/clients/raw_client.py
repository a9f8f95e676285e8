"""The raw client: exact sequences, any number of requests in flight, the retries of an idempotent producer.

It retries like the Java client. A batch without a response is sent again on a new connection, with all later batches in
order. A batch refused as out of order is sent again unchanged, if earlier batches had no response when it was sent.
Otherwise the producer raises its epoch and renumbers the remaining batches from 0.

With `confirms_loss` it sends one more request over the connection after the request timeout. A response that is missing
when that request has its own is lost. So a slow machine loses none.
Source: TransactionManager.canRetry, Kafka 4.3.0.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass

from ...broker.coordinators.internal_topics import CoordinatorType
from ...protocol.api_keys import APIS, ApiKey
from ...protocol.batches.record_batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from ...protocol.batches.records import BatchOptions, Record, build_batch
from ...protocol.client_requests import read_response
from ...protocol.error_codes import ErrorCode
from ...protocol.messages.api_versions import ApiVersionsRequest
from ...protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ...protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from ...protocol.produced_records import TransactionalProducer
from ...protocol.sequences import NO_SEQUENCE, increment_sequence
from ..steps import Batch
from .client import SETTLE_SECONDS_MAX, ClientOptions, ClientStuck, Delivery, events_of, headers_of, value_of
from .raw_connection import API_VERSIONS_VERSION, RESPONSE_SECONDS_MAX, ConnectionLost, NoResponse
from .raw_coordinator import CoordinatorApi, RawCoordinator
from .raw_leader import await_leader, connect_to_leader
from .raw_transaction import RawTransaction

# The last version with topic names instead of topic ids.
PRODUCE_VERSION = 11
INIT_PRODUCER_ID_VERSION = 4
ALL_REPLICAS, LEADER_ONLY = -1, 1
# Far more attempts than a scenario needs.
ATTEMPTS_MAX = 10

_INIT_PRODUCER_ID = CoordinatorApi(
    ApiKey.INIT_PRODUCER_ID,
    INIT_PRODUCER_ID_VERSION,
    InitProducerIdResponse.read,
    error_code_of=lambda answer: answer.error_code,
)

RAISES_EPOCH = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID, ErrorCode.INVALID_PRODUCER_EPOCH)


@dataclass(slots=True)
class Attempt:
    """A pending batch. is_behind: whether earlier batches had no response when it was last sent.

    version: of the last Produce request.
    """

    batch: Batch
    delivery: Delivery
    base_sequence: int
    timestamp_ms: int
    correlation_id: int = 0
    version: int = PRODUCE_VERSION
    is_answered: bool = False
    is_done: bool = False
    is_behind: bool = False
    attempts: int = 0
    error: ErrorCode = ErrorCode.NONE


class RawClient:
    """A producer that sends exactly the batches and sequences of the scenario."""

    is_pipelining = True
    batch_events_max: int | None = None

    def __init__(self, options: ClientOptions) -> None:
        """Connect, and get a producer id."""
        self.deliveries: list[Delivery] = []
        self.producer_id = NO_PRODUCER_ID
        self.producer_epoch = NO_PRODUCER_EPOCH
        self._options = options
        self._open: list[Attempt] = []
        self._transaction: RawTransaction | None = None
        self._coordinator: RawCoordinator | None = None
        self._connection = connect_to_leader(
            options.bootstrap_servers, options.topic, client_id=options.client_id, login=options.login
        )
        self._is_lost = False
        self._is_renumbered = False
        self._next_sequence = 0
        self._initialize()

    def send(self, batch: Batch, partition: int) -> None:
        """Send a batch."""
        delivery = Delivery(batch.name, partition)
        self.deliveries.append(delivery)
        attempt = Attempt(batch, delivery, self._sequence_of(batch), time.time_ns() // 1_000_000)
        self._open.append(attempt)
        self._transmit(attempt)

    def settle(self, *, retries: bool) -> None:
        """Read the responses; with retries, repeat the batches that have none or can be retried."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while self._collect(confirms_loss=self._options.confirms_loss) or (retries and self._open):
            if time.monotonic() > deadline:
                raise ClientStuck(f"the raw client has no response to {names_of(self._open)}")
            if not retries:
                break
            self._send_again()
        self._open = []

    def give_up(self) -> None:
        """Wait one request timeout for responses, and drop the batches without one."""
        if self._collect(confirms_loss=False):
            self._options.note(f"no response to {names_of(self._open)}: the application gives up")
        self._open = []
        self._reconnect()

    def restart(self) -> None:
        """Drop all state, reconnect and get a new producer id."""
        self._collect(confirms_loss=self._options.confirms_loss)
        self._open = []
        self._options = self._options.restarted()
        self._reconnect()
        if self._coordinator is not None:
            self._coordinator.close()
        self._is_renumbered = True
        self._next_sequence = 0
        self._initialize()

    def raise_epoch(self) -> None:
        """Raise the epoch locally, because a broker would assign a new producer id without a transactional id.

        Source: TransactionManager.bumpIdempotentProducerEpoch, Kafka 4.3.0.
        """
        self.producer_epoch += 1
        self._options.note(f"raises its epoch to {self.producer_epoch}")

    def begin_transaction(self) -> None:
        """Begin a transaction; on the broker it begins when the first batch adds its partition."""
        assert self._coordinator is not None, "transactions need a transactional id"
        self._transaction = RawTransaction(self._coordinator, self._options)

    def end_transaction(self, *, commit: bool) -> str:
        """Commit or abort, and return the error name; no batch may be pending."""
        assert self._transaction is not None, "no transaction is open"
        transaction, self._transaction = self._transaction, None
        return transaction.end(self._producer, commit=commit).name

    @property
    def _producer(self) -> TransactionalProducer:
        return TransactionalProducer(self.producer_id, self.producer_epoch)

    def adopt(self, producer_id: int, producer_epoch: int) -> None:
        """Use this producer id and epoch from now on."""
        self.producer_id, self.producer_epoch = producer_id, producer_epoch

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()
        if self._coordinator is not None:
            self._coordinator.close()

    def _sequence_of(self, batch: Batch) -> int:
        if not self._options.is_idempotent:
            return NO_SEQUENCE
        if not self._is_renumbered:
            return batch.first_sequence
        sequence = self._next_sequence
        self._next_sequence = increment_sequence(sequence, batch.count)
        return sequence

    def _initialize(self) -> None:
        if not self._options.is_idempotent:
            return
        request = InitProducerIdRequest(
            transactional_id=self._options.transactional_id,
            transaction_timeout_ms=self._options.delivery_ms,
            producer_id=NO_PRODUCER_ID,
            producer_epoch=NO_PRODUCER_EPOCH,
        )
        answer = self._ask_for_producer(request)
        if answer.error_code:
            raise ClientStuck(f"InitProducerId returned {ErrorCode(answer.error_code).name}")
        self.producer_id, self.producer_epoch = answer.producer_id, answer.producer_epoch

    def _ask_for_producer(self, request: InitProducerIdRequest) -> InitProducerIdResponse:
        """Send the request to any node, with a transactional id to its coordinator."""
        options = self._options
        if options.transactional_id is None:
            return self._connection.send_and_receive(
                _INIT_PRODUCER_ID.api_key, _INIT_PRODUCER_ID.version, request, _INIT_PRODUCER_ID.read
            )
        self._coordinator = RawCoordinator(
            options.bootstrap_servers, options.client_id, CoordinatorType.TRANSACTION, options.transactional_id
        )
        return self._coordinator.ask(_INIT_PRODUCER_ID, request)

    def _transmit(self, attempt: Attempt) -> None:
        if self._transaction is not None:
            self._transaction.add(self._producer, attempt.delivery.partition)
        attempt.attempts += 1
        attempt.is_answered = False
        attempt.is_behind = any(not other.is_answered for other in self._open[: self._open.index(attempt)])
        data = PartitionProduceData(index=attempt.delivery.partition, records=self._records_of(attempt))
        topic = TopicProduceData(name=self._options.topic, partition_data=[data])
        request = ProduceRequest(
            transactional_id=self._options.transactional_id,
            acks=ALL_REPLICAS if self._options.acks == "all" else LEADER_ONLY,
            timeout_ms=self._options.request_ms,
            topic_data=[topic],
        )
        # A closed connection is detected by the read of the responses.
        with suppress(ConnectionLost):
            attempt.version = self._connection.version_of(ApiKey.PRODUCE, PRODUCE_VERSION)
            attempt.correlation_id = self._connection.send(ApiKey.PRODUCE, PRODUCE_VERSION, request)

    def _records_of(self, attempt: Attempt) -> bytes:
        batch = attempt.batch
        options = BatchOptions(
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            base_sequence=attempt.base_sequence,
            is_transactional=self._transaction is not None,
        )
        records = [
            Record(value_of(event), timestamp=attempt.timestamp_ms, headers=headers_of(batch, event))
            for event in events_of(batch)
        ]
        return build_batch(records, options)

    def _collect(self, *, confirms_loss: bool) -> bool:
        """Read the responses until the request timeout; return whether unacknowledged batches remain."""
        waiting = {attempt.correlation_id: attempt for attempt in self._open if not attempt.is_answered}
        try:
            self._receive(waiting, self._options.request_ms / 1000)
            if waiting and confirms_loss:
                probe = self._connection.send(ApiKey.API_VERSIONS, API_VERSIONS_VERSION, ApiVersionsRequest())
                self._receive(waiting, RESPONSE_SECONDS_MAX, probe)
        except ConnectionLost:
            self._is_lost = True
        self._open = [attempt for attempt in self._open if not attempt.is_done]
        return bool(self._open)

    def _receive(self, waiting: dict[int, Attempt], seconds: float, probe: int | None = None) -> None:
        """Read the responses to the waiting attempts, until all are there, until that to the probe, or in this time.

        waiting: by their correlation ids; those with a response are removed. Raises ConnectionLost.
        """
        deadline = time.monotonic() + seconds
        while waiting:
            try:
                correlation_id, frame = self._connection.receive(deadline - time.monotonic())
            except NoResponse:
                return
            if correlation_id == probe:
                return
            attempt = waiting.pop(correlation_id, None)
            # An earlier probe has its response after those for which it was sent.
            if attempt is not None and apply_response(attempt, frame):
                self._options.note(f"the response to {attempt.batch.name} has a throttle time")

    def _send_again(self) -> None:
        """Send all pending batches again, in order; on a new connection if responses are missing."""
        first = self._open[0]
        if first.attempts >= ATTEMPTS_MAX:
            raise ClientStuck(f"{names_of(self._open)} was not acknowledged after {ATTEMPTS_MAX} attempts")
        silent = [attempt for attempt in self._open if not attempt.is_answered]
        if silent:
            reason = ": the connection is lost" if self._is_lost else " in time: closes the connection"
            self._options.note(f"no response to {names_of(silent)}{reason}")
            self._reconnect()
        elif first.error is ErrorCode.NOT_LEADER_OR_FOLLOWER:
            self._options.note(f"{names_of(self._open)} was refused by a node that does not lead: looks up the leader")
            self._reconnect()
        elif first.error in RAISES_EPOCH and not first.is_behind:
            self._raise_epoch_and_renumber()
        for attempt in self._open:
            attempt.is_answered = False
        for attempt in self._open:
            self._transmit(attempt)

    def _raise_epoch_and_renumber(self) -> None:
        self._options.note(f"{names_of(self._open[:1])} was refused, and no earlier batch is pending")
        self.raise_epoch()
        self._is_renumbered = True
        self._next_sequence = 0
        for attempt in self._open:
            attempt.base_sequence = self._sequence_of(attempt.batch)

    def _reconnect(self) -> None:
        self._connection.close()
        self._is_lost = False
        options = self._options
        self._connection = await_leader(
            options.bootstrap_servers, options.topic, options.client_id, login=options.login
        )


def apply_response(attempt: Attempt, frame: bytes) -> int:
    """Set the result of an attempt from its Produce response, and return the throttle time in ms."""
    api = APIS[ApiKey.PRODUCE]
    response = read_response(api, attempt.version, attempt.correlation_id, frame, ProduceResponse.read)
    partition = response.responses[0].partition_responses[0]
    attempt.is_answered = True
    attempt.error = ErrorCode(partition.error_code)
    if attempt.error is ErrorCode.NONE:
        attempt.delivery.offset = partition.base_offset
    attempt.delivery.error = attempt.error.name
    # DUPLICATE_SEQUENCE_NUMBER has no offset: the broker has the batch but no longer its offset.
    attempt.is_done = attempt.error in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER)
    return response.throttle_time_ms


def names_of(attempts: list[Attempt]) -> str:
    """Return the names of the batches as text."""
    return ", ".join(attempt.batch.name for attempt in attempts)
