"""Tries the failed steps at the end of transactions again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ....protocol.error_codes import KafkaError
from ...metadata.metadata_image import TRANSACTION_STATE_TOPIC
from .transaction_metadata import TransactionMetadata

if TYPE_CHECKING:
    from ...replica.replica_manager import ReplicaManager
    from ...runtime.clock import Timer
    from ..coordinator_log import CoordinatorLog

# The delay before a failed marker or completion is tried again.
RETRY_MS = 500

Step = Callable[[TransactionMetadata], None]

logger = logging.getLogger(__name__)


class EndRetries:
    """The transactional ids whose end failed, with the step to try again."""

    def __init__(
        self, log: CoordinatorLog, replicas: ReplicaManager, transactions: Mapping[str, TransactionMetadata]
    ) -> None:
        """transactions: the metadata of all ids; it changes with them."""
        self._log = log
        self._replicas = replicas
        self._transactions = transactions
        self._steps: dict[str, Step] = {}
        self._timer: Timer | None = None

    def add(self, prepared: TransactionMetadata, step: Step) -> None:
        """Try a step again after RETRY_MS, with the metadata of then. It may raise KafkaError."""
        self._steps[prepared.transactional_id] = step
        if self._timer is None and self._log.is_current:
            self._timer = self._replicas.clock.call_later(RETRY_MS, self._retry)

    def drop(self, transactional_id: str) -> None:
        """Do not try again for the id."""
        self._steps.pop(transactional_id, None)

    def clear(self) -> None:
        """Do not try again for any id."""
        self._steps.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _retry(self) -> None:
        self._timer = None
        steps, self._steps = self._steps, {}
        for transactional_id, step in steps.items():
            metadata = self._transactions.get(transactional_id)
            if metadata is None or not metadata.is_prepared:
                continue
            try:
                step(metadata)
            except KafkaError as error:
                logger.error("%s: %s", TRANSACTION_STATE_TOPIC, error.message)
                self.add(metadata, step)
        # No response waits for it.
        self._log.flushed()
