"""The raw client's consumer: fetches with the last leader epoch, and truncates as the Java consumer does.

A response with a diverging epoch names the offset up to which the leader has what the consumer read: the consumer
continues there. After OFFSET_OUT_OF_RANGE it starts again (auto.offset.reset=earliest).
Source: FetchCollector and SubscriptionState.maybeCompleteValidation, Kafka 4.3.0.
"""

from __future__ import annotations

import time
from collections.abc import Collection

from ...protocol.api_keys import ApiKey
from ...protocol.error_codes import ErrorCode
from ...protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from ..report.stored_log import FETCH_VERSION, READ_COMMITTED, FetchedBatches
from .client import SETTLE_SECONDS_MAX, ClientStuck
from .consumer import DIVERGING_EPOCH, OFFSET_OUT_OF_RANGE, ConsumerOptions
from .raw_connection import RESPONSE_BYTES_MAX, ConnectionLost, NoResponse
from .raw_group_member import RawGroupMember
from .raw_leader import await_leader

MAX_WAIT_MS = 100
NO_EPOCH = -1


class RawConsumer:
    """A ScenarioConsumer; in a group it is the only member."""

    def __init__(self, options: ConsumerOptions) -> None:
        """Join the group, and find the leader. Raises ClientStuck and ConnectionLost."""
        self.events: list[str] = []
        self.resets: list[str] = []
        self._options = options
        self._batches = FetchedBatches(0, READ_COMMITTED)
        self._connection = await_leader(options.bootstrap_servers, options.topic, options.process, options.login)
        self._member = None if options.group is None else RawGroupMember(options, options.group)
        if self._member is not None:
            self._batches.offset = self._member.fetch_offset()

    def read_until(self, events: Collection[str]) -> None:
        """Read until all these events were seen."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while not set(events) <= set(self.events):
            if time.monotonic() > deadline:
                raise ClientStuck(f"{self._options.process} reads nothing more at offset {self._batches.offset}")
            try:
                self._take(self._fetch())
            except (ConnectionLost, NoResponse):
                self._reconnect()

    def commit(self, offset: int | None = None) -> None:
        """Commit an offset, by default the one behind what was read."""
        if self._member is not None:
            self._member.commit(self._batches.offset if offset is None else offset)

    def read_error(self) -> str:
        """Read until an error, and return its name."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while time.monotonic() < deadline:
            fetched = self._fetch()
            if fetched.error_code:
                return ErrorCode(fetched.error_code).name
            self._take(fetched)
        raise ClientStuck(f"{self._options.process} gets no error")

    def kill(self) -> None:
        """Close the connections without leaving the group."""
        if self._member is not None:
            self._member.kill()
        self.close()

    def close(self) -> None:
        """Leave the group, and close the connections."""
        self._connection.close()
        if self._member is not None:
            self._member.close()

    def _reconnect(self) -> None:
        self._connection.close()
        options = self._options
        self._connection = await_leader(options.bootstrap_servers, options.topic, options.process, options.login)

    def _fetch(self) -> PartitionData:
        partition = FetchPartition(
            partition=0,
            fetch_offset=self._batches.offset,
            last_fetched_epoch=self._batches.epoch,
            partition_max_bytes=RESPONSE_BYTES_MAX // 2,
        )
        request = FetchRequest(
            max_wait_ms=MAX_WAIT_MS,
            min_bytes=1,
            max_bytes=RESPONSE_BYTES_MAX // 2,
            isolation_level=READ_COMMITTED,
            topics=[FetchTopic(topic=self._options.topic, partitions=[partition])],
        )
        response = self._connection.send_and_receive(ApiKey.FETCH, FETCH_VERSION, request, FetchResponse.read)
        return response.responses[0].partitions[0]

    def _take(self, fetched: PartitionData) -> None:
        """Take the events of a response, or the offset at which to continue."""
        code = ErrorCode(fetched.error_code)
        diverging = fetched.diverging_epoch
        if code is ErrorCode.OFFSET_OUT_OF_RANGE:
            self._reset(OFFSET_OUT_OF_RANGE, fetched.log_start_offset, code.name)
        elif code is not ErrorCode.NONE:
            self._reconnect()
        elif diverging.epoch != NO_EPOCH:
            reason = f"the log of the leader ends at offset {diverging.end_offset} of epoch {diverging.epoch}"
            self._reset(DIVERGING_EPOCH, diverging.end_offset, reason)
        else:
            self.events += [event for batch in self._batches.read(fetched) for event in batch.events if event]

    def _reset(self, kind: str, offset: int, reason: str) -> None:
        """Continue at another offset, with an unknown epoch."""
        offset = max(offset, 0)
        self._options.note(f"has read up to offset {self._batches.offset}; {reason}: continues at offset {offset}")
        self.resets.append(kind)
        self._batches.offset, self._batches.epoch = offset, NO_EPOCH
