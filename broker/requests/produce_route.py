"""Where the batches of requests that all begin alike go, found by that beginning as a whole.

A producer sends, with each batch for a partition, the same acks, timeout, topic and partition in front of it. They are
decoded and looked up once; a topic that is deleted takes all routes with it (Node.topics_removed).
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct

from ...protocol.api_keys import ApiKey
from ...protocol.batches.record_batch import parse_header
from ...protocol.error_codes import ErrorCode
from ...protocol.produce_codec import (
    SingleAnswer,
    SingleBatchShape,
    find_single_records,
    find_single_transactional_records,
)
from ...protocol.produced_records import find_transaction
from ...storage.append_refused import AppendRefused
from ..replica.partition import Partition
from ..runtime.deferred import Buffers, Deferred
from .request_context import RequestContext

# Heads that are remembered. A cluster of more partitions than this with producers for all of them starts over when it
# is full, which costs what a request costs without a route.
PRODUCE_ROUTES_MAX = 10_000

_PRODUCE = int(ApiKey.PRODUCE)
_STORAGE_ERROR = int(ErrorCode.KAFKA_STORAGE_ERROR)
# api key and version together; correlation id.
_HEADER_START = Struct(">Ii")


class ProduceRoute:
    """The partition that a head names, and the answer to who sends there."""

    __slots__ = ("_answer", "partition")

    # Whether its batches are those that SingleBatchShape knows.
    are_batches_plain = True
    # Finds the records behind the head in a frame, if they are of the kind that append takes.
    find_records: Callable[[memoryview, int, int], memoryview | None] = staticmethod(find_single_records)

    def __init__(self, partition: Partition, answer: SingleAnswer) -> None:
        """partition: one that may be written; answer: for the version and the topic key of the head."""
        self.partition = partition
        self._answer = answer

    def append(self, context: RequestContext, records: memoryview) -> Buffers | Deferred[Buffers] | None:
        """Append a plain batch and return the answer, which may have to wait for a flush; None where it is refused.

        The request then goes the long way and is refused there, in Kafka's words: a refusal leaves the log as it was.
        But files that refused once might not do so again, and who asked once is to be told of the first time.
        """
        partition, node = self.partition, context.node
        try:
            result = partition.append(records, context.now_ms)
        except AppendRefused as refused:
            if refused.code != _STORAGE_ERROR:
                return None
            refused.header = parse_header(records)
            context.decide(partition.topic_name, partition.index, refused)
            return [self._answer.encode_refused(context.correlation_id, _STORAGE_ERROR)]
        context.batches = [(partition.topic_name, partition.index, result)]
        base_offset, last_offset, log_append_time_ms, log_start_offset, is_duplicate, _, _ = result
        if is_duplicate:
            node.replicas.log_decision(partition, result)
        correlation_id = context.correlation_id
        answer = self._answer.encode(correlation_id, base_offset, log_append_time_ms, log_start_offset)
        flusher = partition.flusher
        if flusher is None or not flusher.must_wait():
            return [answer]
        deferred: Deferred[Buffers] = Deferred(is_applied=True)

        def flushed(error: OSError | None) -> None:
            refused = None if error is None else self._answer.encode_refused(correlation_id, _STORAGE_ERROR)
            if refused is not None:
                node.report_unflushed(deferred.request_id, partition)
            deferred.complete([answer if refused is None else refused])

        flusher.when_flushed(last_offset + 1, flushed)
        return deferred


class TransactionalProduceRoute(ProduceRoute):
    """The route of a transactional producer's batches, as long as the partition has its transaction open."""

    __slots__ = ()

    are_batches_plain = False
    find_records = staticmethod(find_single_transactional_records)

    def append(self, context: RequestContext, records: memoryview) -> Buffers | Deferred[Buffers] | None:
        """Append a batch of an open transaction and return the answer; None for what goes the long way.

        The first batch of a transaction does: the coordinator is asked about it.
        """
        log, producer = self.partition.find_log(), find_transaction(records)
        if log is None or producer is None:
            return None
        entry = log.producers.find(producer.producer_id)
        if entry is None or not entry.has_open_transaction(producer.producer_epoch):
            return None
        return super().append(context, records)


class RepeatedProduce:
    """The request that a connection sent last, to be recognised by its first bytes when only the batch is new.

    One of the size of those before is recognised in one step, with all that makes its batch a plain one.
    """

    __slots__ = (
        "_api_and_version",
        "_api_version",
        "_find_records",
        "_head",
        "_head_bytes",
        "_route",
        "_shape",
        "_size",
        "_unpack_head",
    )

    def __init__(self, frame: memoryview, start: int, records_start: int, route: ProduceRoute) -> None:
        """frame[start:records_start] is the request up to the size of its records, header included."""
        self._api_and_version, _ = _HEADER_START.unpack_from(frame, start)
        self._api_version = self._api_and_version & 0xFFFF
        # A copy: the frame is the receive buffer.
        self._head = bytes(frame[start + _HEADER_START.size : records_start])
        self._head_bytes = records_start - start
        # In one step, and compared as bytes: half the price of a view of the frame.
        self._unpack_head = Struct(f"{_HEADER_START.format}{len(self._head)}s").unpack_from
        self._route = route
        self._find_records = route.find_records
        # Of the request that came last; and what one of that size is recognised by, if two came.
        self._size = 0
        self._shape: SingleBatchShape | None = None

    def answer(
        self, context: RequestContext, frame: memoryview, start: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Answer the request in frame[start:end] if it is the same again but for its batch, else return None."""
        route = self._route
        if route.partition.is_deleted:
            return None
        size, shape = end - start, self._shape
        records: memoryview | None = None
        if shape is not None and size == shape.request_bytes:
            # The context's is set anew where the request is not this one.
            api_and_version, context.correlation_id, *told = shape.unpack(frame, start)
            if told == shape.told and api_and_version == self._api_and_version:
                records = frame[start + shape.records_start : end - shape.bytes_behind]
        if records is None:
            records_start = start + self._head_bytes
            if records_start >= end:
                return None
            api_and_version, context.correlation_id, head = self._unpack_head(frame, start)
            if head != self._head or api_and_version != self._api_and_version:
                return None
            records = self._find_records(frame, records_start, end)
            if records is None:
                return None
            # Learned when a size comes again, and once: that takes longer than to look at a request.
            if size == self._size and (shape is None or shape.request_bytes != size) and route.are_batches_plain:
                self._shape = SingleBatchShape(frame[start:end], len(records))
            self._size = size
        context.api_key = _PRODUCE
        context.api_version = self._api_version
        return route.append(context, records)
