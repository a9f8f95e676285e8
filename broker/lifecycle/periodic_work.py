"""The periodic work of a node, by the clock of the cluster, and the thread of the log cleaner.

Kafka: the tasks of KafkaScheduler, which LogManager, ReplicaManager and others schedule.
"""

from __future__ import annotations

from collections.abc import Callable

from ..cluster import Cluster
from ..node import Node
from ..runtime.clock import Timer
from .cleaner_thread import CleanerThread
from .log_scheduler import LogScheduler

# The minimum of log.cleaner.backoff.ms. Without a pause the event loop would do nothing else.
CLEANER_BACKOFF_MS_MIN = 100


class PeriodicWork:
    """Runs from each `begin` to the next `abandon` or `stop`."""

    def __init__(self, cluster: Cluster, node: Node) -> None:
        """node: one of the cluster."""
        self._cluster = cluster
        self._node = node
        self._timers: list[Timer] = []
        self._cleaner_thread: CleanerThread | None = None

    def begin(self) -> None:
        """Schedule the work, with the configs and logs that the node has now."""
        settings, replicas = self._node.config, self._node.replicas
        self._every(settings.log_retention_check_interval_ms, self._node.enforce_retention)
        self._every(settings.producer_id_expiration_check_interval_ms, replicas.expire_producers)
        if settings.delegation_token_secret_key is not None:
            self._every(settings.delegation_token_expiry_check_interval_ms, self._remove_expired_tokens)
        self._cleaner_thread = CleanerThread(replicas)
        if settings.log_cleaner_enable:
            self._every(max(settings.log_cleaner_backoff_ms, CLEANER_BACKOFF_MS_MIN), self._cleaner_thread.clean)
        if self._cluster.membership is not None:
            # As often as Kafka's isr-expiration task.
            self._every(settings.replica_lag_time_max_ms // 2, replicas.shrink_isrs)
        if replicas.is_on_disk:
            for interval_ms, work in LogScheduler(replicas).schedule():
                self._every(interval_ms, work)

    @property
    def cleaner_thread(self) -> CleanerThread:
        """The thread of the log cleaner, which also cleans on call. Only while the work runs."""
        assert self._cleaner_thread is not None, "the node runs"
        return self._cleaner_thread

    def cancel(self) -> None:
        """Begin no further work. A cleaning goes on."""
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    def abandon(self) -> CleanerThread | None:
        """Cancel the work, because the node crashed. Return the thread of the cleaner, which may still clean."""
        self.cancel()
        cleaner_thread, self._cleaner_thread = self._cleaner_thread, None
        return cleaner_thread

    async def stop(self) -> None:
        """Cancel the work, and wait for the end of a cleaning."""
        cleaner_thread = self.abandon()
        if cleaner_thread is not None:
            await cleaner_thread.stop()

    def _remove_expired_tokens(self) -> None:
        clock = self._cluster.clock
        for token_id in self._cluster.controller.remove_expired_tokens(clock.now_ms()):
            clock.note_expired("tokens", token_id)

    def _every(self, interval_ms: int, work: Callable[[], None]) -> None:
        """Run work every interval_ms of the cluster's clock; never if interval_ms is 0."""
        if interval_ms > 0:
            self._timers.append(self._cluster.clock.call_every(interval_ms, work))
