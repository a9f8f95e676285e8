"""The groups and transactional ids of a broker."""

from __future__ import annotations

from msgspec import structs

from ..admin.operations import topic_operations, transaction_operations
from ..admin.operations.topic_operations import GroupInfo, GroupPath
from ..admin.operations.transaction_operations import TransactionInfo, TransactionPath, TransactionQuery
from ..admin.paging import LIMIT_MAX
from ..faults.strict_json import convert
from .calls import AsyncPerform, ControlCall, Perform, all_items, all_named


class Groups:
    """The groups of every type, with members, assignments, committed offsets and lag."""

    def __init__(self, call: ControlCall) -> None:
        """call: runs a function on the broker's thread."""
        self._call = call

    def list(self) -> list[GroupInfo]:
        """Return all groups, sorted by id."""
        return all_named(self._call, topic_operations.list_groups)

    def get(self, group_id: str) -> GroupInfo:
        """Return a group. Raises CallError if there is none of this id."""
        return self._call(lambda control: topic_operations.get_group(control, GroupPath(group_id=group_id)))


class _Transactions:
    """The reading operations, which wait for nothing."""

    def __init__(self, call: ControlCall) -> None:
        self._call = call

    def list(self, state: str | None = None) -> list[TransactionInfo]:
        """Return the transactional ids, sorted; state: only those in this state, such as "Ongoing"."""
        query = convert({"state": state, "limit": LIMIT_MAX}, TransactionQuery)
        return self._call(
            lambda control: all_items(
                lambda since: transaction_operations.list_transactions(control, structs.replace(query, since=since))
            )
        )

    def get(self, transactional_id: str) -> TransactionInfo:
        """Return the state of a transactional id. Raises CallError for an unknown one."""
        path = TransactionPath(transactional_id=transactional_id)
        return self._call(lambda control: transaction_operations.get_transaction(control, path))


class Transactions(_Transactions):
    """The transactional ids of Broker."""

    def __init__(self, call: ControlCall, perform: Perform) -> None:
        """call, perform: run a function, or an operation that waits, on the broker's thread."""
        super().__init__(call)
        self._perform = perform

    def delete(self, transactional_id: str) -> TransactionInfo:
        """Delete a transactional id as after transactional.id.expiration.ms, and return its state before.

        An open transaction is aborted first. Raises CallError for an unknown id.
        """
        path = TransactionPath(transactional_id=transactional_id)
        return self._perform(lambda control: transaction_operations.forget_transaction(control, path))


class AsyncTransactions(_Transactions):
    """The transactional ids of AsyncBroker."""

    def __init__(self, call: ControlCall, perform: AsyncPerform) -> None:
        """call, perform: run a function, or an operation that waits, on the running event loop."""
        super().__init__(call)
        self._perform = perform

    async def delete(self, transactional_id: str) -> TransactionInfo:
        """Delete a transactional id; as Transactions.delete."""
        path = TransactionPath(transactional_id=transactional_id)
        return await self._perform(lambda control: transaction_operations.forget_transaction(control, path))
