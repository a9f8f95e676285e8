"""The share partitions and share sessions of the partitions that a node leads (KIP-932), for ShareFetch.

Source: SharePartitionManager and SharePartitionCache, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from ....faults.consumption.events import ShareChange, ShareChanged, ShareStarted
from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.share_state_records import ShareKey, StateBatch
from .dead_letters import DeadLetters
from .settings import BY_DURATION, EARLIEST, ShareGroupSettings
from .share_locks import ShareLocks
from .share_outputs import ShareOutputs
from .share_partition import SharePartition
from .share_sessions import ShareSession, ShareSessions
from .share_state import ShareStateChange
from .state_batches import NO_OFFSET

if TYPE_CHECKING:
    from ....storage.partition_log import PartitionLog
    from ...replica.partition import Partition
    from ...replica.replica_manager import ReplicaManager
    from ...runtime.deferred import Deferred
    from .share_nodes import ShareNodes

logger = logging.getLogger(__name__)

# The error codes of a write to a state that has changed meanwhile, and those that the client gets in their place.
# Source: SharePartition.fetchPersisterError, Kafka 4.3.0; tests/golden/share_state-4.3.0.jsonl.
_WRITE_ERROR_CODES: Mapping[int, ErrorCode] = MappingProxyType(
    {
        ErrorCode.FENCED_LEADER_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_STATE_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.INVALID_REQUEST: ErrorCode.UNKNOWN_SERVER_ERROR,
    }
)

# PnDTnHnMn.nS, the format of java.time.Duration.
_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.IGNORECASE)
_SECONDS = (86_400, 3_600, 60, 1)


class SharePartitions:
    """The share partitions of one node, each created on first use, and the sessions of the members that fetch there."""

    def __init__(self, replicas: ReplicaManager, nodes: ShareNodes) -> None:
        """nodes: where the states of the partitions are."""
        self._replicas = replicas
        self._nodes = nodes
        self.settings = ShareGroupSettings(replicas)
        self.sessions = ShareSessions(self.settings)
        self._partitions: dict[ShareKey, SharePartition] = {}
        self._dead_letters = DeadLetters(replicas, nodes, self.settings)

    def flushed(self) -> Deferred[ErrorCode]:
        """Return what completes when the written states are durable. See CoordinatorLog.flushed."""
        return self._nodes.flushed()

    # -- partitions

    def has_partition(self, group_id: str, partition: Partition) -> bool:
        """Whether the share partition of the group was used before, so that its state is in memory."""
        return ShareKey(group_id, partition.topic_id, partition.index) in self._partitions

    def partition_of(self, group_id: str, partition: Partition) -> SharePartition:
        """Return the share partition of a group. Creates it from its state. Raises KafkaError, OSError."""
        key = ShareKey(group_id, partition.topic_id, partition.index)
        share_partition = self._partitions.get(key)
        if share_partition is None:
            share_partition = self._partitions[key] = self._create_partition(key, partition)
        share_partition.advance_to_log_start(partition.log.log_start_offset)
        return share_partition

    def _create_partition(self, key: ShareKey, partition: Partition) -> SharePartition:
        # A client that fetches without a heartbeat before has no state.
        state = self._nodes.find_state(key) or self._nodes.initialize_state(key, 0)
        start_offset = state.start_offset
        if start_offset == NO_OFFSET:
            reset = self.settings.auto_offset_reset(key.group_id)
            start_offset = _initial_offset(partition.log, reset, self._replicas.clock.now_ms())
        # Another leader of the partition may have read the state before, with a later epoch.
        leader_epoch = max(partition.leader_epoch, state.leader_epoch)

        def write(first_offset: int, complete_count: int, batches: tuple[StateBatch, ...]) -> None:
            change = ShareStateChange(state.state_epoch, leader_epoch, first_offset, complete_count, batches)
            self._write_state(key, change)

        def report(changes: Sequence[ShareChange]) -> None:
            self._nodes.report(ShareChanged(key, changes))
            self._dead_letters.add(key, partition, changes)

        created = SharePartition(
            start_offset,
            state.batches,
            limits=partial(self.settings.limits, key.group_id),
            locks=ShareLocks(self._replicas.clock, f"{partition.topic_name}-{partition.index} of {key.group_id}"),
            outputs=ShareOutputs(write, report),
        )
        self._report_started(key, partition, created)
        return created

    def _report_started(self, key: ShareKey, partition: Partition, created: SharePartition) -> None:
        topic = self._replicas.image.find_topic_by_id(key.topic_id)
        count = 0 if topic is None else len(topic.partitions)
        end_offset = created.end_offset + 1
        self._nodes.report(ShareStarted(key, partition.log.log_start_offset, created.available(), end_offset, count))

    def _write_state(self, key: ShareKey, change: ShareStateChange) -> None:
        """Write a change of a share partition. A share partition that is fenced is closed.

        Raises KafkaError with the code for the client.
        """
        try:
            self._nodes.update_state(key, change)
        except KafkaError as error:
            code = _WRITE_ERROR_CODES.get(error.code)
            if code is None:
                raise
            if code is ErrorCode.NOT_LEADER_OR_FOLLOWER:
                self.close_partition(key)
            raise KafkaError(code, f"Error in write state RPC. {error.message}") from error

    def close_partition(self, key: ShareKey) -> None:
        """Forget a share partition. The next fetch reads its state again."""
        share_partition = self._partitions.pop(key, None)
        if share_partition is not None:
            share_partition.close()

    def remove_topics(self, topic_ids: Sequence[bytes]) -> None:
        """Close the partitions of deleted topics."""
        for key in [each for each in self._partitions if each.topic_id in topic_ids]:
            self.close_partition(key)

    def leaders_changed(self, topic_id: bytes) -> None:
        """Close the topic's partitions that other nodes lead now."""
        for key in [each for each in self._partitions if each.topic_id == topic_id]:
            partition = self._replicas.find_partition(topic_id, key.partition)
            if partition is None or not partition.is_leader:
                self.close_partition(key)

    def unload(self) -> None:
        """Close all partitions, which cancels the locks and wakes the waiting fetches."""
        for key in list(self._partitions):
            self.close_partition(key)
        self._dead_letters.drop()

    # -- sessions

    def end_session(self, session: ShareSession) -> None:
        """End a member's session, and release its records."""
        self.sessions.end(session)
        for topic_id, index in session.partitions:
            share_partition = self._partitions.get(ShareKey(session.group_id, topic_id, index))
            if share_partition is None:
                continue
            try:
                share_partition.release(session.member_id)
            except KafkaError as error:
                # The end of the locks will release the records.
                logger.warning("%s of %s: %s", session.member_id, session.group_id, error.message)

    def end_sessions(self, connection_id: int) -> None:
        """End the sessions of a connection that has closed."""
        for session in self.sessions.of_connection(connection_id):
            self.end_session(session)


def _initial_offset(log: PartitionLog, reset: str, now_ms: int) -> int:
    """Return the log start offset, the high watermark, or the offset of the first record of the duration.

    reset: share.auto.offset.reset of the group, which has never consumed the partition.
    Source: ShareGroupAutoOffsetResetStrategy, SharePartition.startOffsetDuringInitialization, Kafka 4.3.0.
    """
    if reset == EARLIEST:
        return log.log_start_offset
    if reset.startswith(BY_DURATION):
        begin_ms = now_ms - _duration_ms(reset.removeprefix(BY_DURATION))
        found = log.offset_for_timestamp(begin_ms, is_on_brokers_clock=True)
        if found is not None:
            return found.offset
    return log.high_watermark


def _duration_ms(text: str) -> int:
    """Return a duration in ms. Returns 0 for another text, which the config validation never accepts."""
    parts = _DURATION.fullmatch(text)
    if parts is None:
        return 0
    return round(1000 * sum(float(part or 0) * seconds for part, seconds in zip(parts.groups(), _SECONDS, strict=True)))
