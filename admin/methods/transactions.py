"""The transactional ids of a broker."""

from __future__ import annotations

from ...faults.strict_json import convert
from ..operations import transaction_operations
from ..operations.transaction_operations import TransactionInfo, TransactionPath, TransactionQuery
from .base import Methods

# Within the class, `list` is the method.
TransactionItems = list[TransactionInfo]


class Transactions(Methods):
    """The transactional ids with the state of their transactions."""

    def list(self, state: str | None = None) -> TransactionItems:
        """Return the transactional ids, sorted; state: only those in this state, such as "Ongoing"."""
        return self._all(transaction_operations.list_transactions, convert({"state": state}, TransactionQuery))

    def get(self, transactional_id: str) -> TransactionInfo:
        """Return the state of a transactional id. Raises CallError for an unknown one."""
        path = TransactionPath(transactional_id=transactional_id)
        return self._perform(transaction_operations.get_transaction, path=path)

    def delete(self, transactional_id: str) -> TransactionInfo:
        """Delete a transactional id as after transactional.id.expiration.ms, and return its state before.

        An open transaction is aborted first. Raises CallError for an unknown id.
        """
        path = TransactionPath(transactional_id=transactional_id)
        return self._perform(transaction_operations.forget_transaction, path=path)

    def abort(self, transactional_id: str) -> TransactionInfo:
        """Abort an open transaction as after its timeout, so that its producer is fenced, and return its state.

        Raises CallError for an unknown id, and if no transaction is open.
        """
        path = TransactionPath(transactional_id=transactional_id)
        return self._perform(transaction_operations.abort_transaction, path=path)

    def fence(self, transactional_id: str) -> TransactionInfo:
        """Give a transactional id its next epoch, as another producer with the same id does, and return its state.

        The producer that has it is fenced, and an open transaction is aborted. Raises CallError for an unknown id.
        """
        path = TransactionPath(transactional_id=transactional_id)
        return self._perform(transaction_operations.fence_transaction, path=path)
