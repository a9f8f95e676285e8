"""Faults of fault rules on the transaction that an EndTxn ends: its markers are held."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ...protocol.messages.end_txn import EndTxnRequest

if TYPE_CHECKING:
    from .owned_request import OwnedRequest


class MarkerHold:
    """The hold of the markers of the transaction that a request ends."""

    def __init__(self, request: OwnedRequest) -> None:
        """Hold the markers from now on. The request is an EndTxn, and not handled yet."""
        assert isinstance(request.message, EndTxnRequest), "rule_checks refuses all other requests"
        self._transactional_id = request.message.transactional_id
        self._markers = request.node.coordinators.transactions.held_markers
        # A repeated request leaves the hold of the first one alone.
        self._is_own = self._markers.hold(self._transactional_id)

    def ends_transaction(self) -> bool:
        """Return whether the request has decided the outcome of a transaction. If not, the hold ends."""
        if self._is_own and not self._markers.has_step(self._transactional_id):
            self.release()
            return False
        return self._is_own

    def release(self) -> None:
        """Have the coordinator write the markers."""
        self._markers.release(self._transactional_id)

    def release_soon(self) -> None:
        """Have the coordinator write the markers in the next turn. If the node is crashing, it is gone by then."""
        asyncio.get_running_loop().call_soon(self.release)
