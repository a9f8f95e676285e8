"""An append that is in the log, and whose response waits until it is safe."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...protocol.error_codes import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from .partition import Partition


class UnsafeAppend(NamedTuple):
    """An append whose response waits: for a flush, for the other replicas, or for both."""

    partition: Partition
    end_offset: int
    must_flush: bool
    must_replicate: bool

    def when_safe(self, timeout_ms: int, done: Callable[[ErrorCode], None]) -> None:
        """Call done when the append is safe, or with the error that prevents it.

        timeout_ms: how long to wait for the other replicas.
        The errors are KAFKA_STORAGE_ERROR after a failed flush, REQUEST_TIMED_OUT, NOT_LEADER_OR_FOLLOWER.
        """
        partition, end_offset = self.partition, self.end_offset

        def flushed(error: OSError | None = None) -> None:
            if error is not None:
                # The log of a deposed leader is truncated.
                done(ErrorCode.KAFKA_STORAGE_ERROR if partition.is_leader else ErrorCode.NOT_LEADER_OR_FOLLOWER)
            elif not self.must_replicate:
                done(ErrorCode.NONE)
            elif partition.replication is None:
                done(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            else:
                partition.replication.when_replicated(end_offset, timeout_ms, done)

        if self.must_flush and partition.flusher is not None:
            partition.flusher.when_flushed(end_offset, flushed)
        else:
            flushed()


def find_unsafe(partition: Partition, end_offset: int, *, acks_all: bool = True) -> UnsafeAppend | None:
    """Return what the response to an append up to end_offset waits for, or None. Called after each append.

    acks_all: whether the response means that the other replicas in sync have it.
    """
    flusher, replication = partition.flusher, partition.replication
    must_flush = flusher is not None and flusher.must_wait()
    must_replicate = acks_all and replication is not None and replication.must_wait(end_offset)
    return UnsafeAppend(partition, end_offset, must_flush, must_replicate) if must_flush or must_replicate else None
