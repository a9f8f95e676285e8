"""Operations on transactional ids: list, get and delete them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct

from ...broker.coordinators.internal_topics import CoordinatorType
from ...protocol.error_codes import ErrorCode, KafkaError
from ..control import Control
from ..current_coordinators import coordinated_transactions, is_coordinator, transaction_coordinators
from ..errors import conflict, unknown
from ..long_calls import run_long_call
from ..operation import Operation
from ..paging import LIMIT_DEFAULT, Limit, page_of

if TYPE_CHECKING:
    from ...broker.coordinators.transaction.transaction_coordinator import TransactionCoordinator
    from ...broker.coordinators.transaction.transaction_metadata import TransactionMetadata

TAG = "transactions"


class PartitionInfo(Struct, kw_only=True):
    """A partition of a transaction."""

    topic: str
    partition: int


class TransactionInfo(Struct, kw_only=True):
    """A transactional id.

    state: Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit or CompleteAbort.
    partitions: of the open transaction. started_ms: null before the first transaction.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    state: str
    timeout_ms: int
    started_ms: int | None
    updated_ms: int
    partitions: list[PartitionInfo]


class TransactionPage(Struct, kw_only=True):
    """Transactional ids, sorted."""

    items: list[TransactionInfo]
    next: str | None


StateName = Literal["Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort"]


class TransactionQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """The transactional ids to list."""

    state: StateName | None = None
    since: Annotated[str, Meta(max_length=40_000, description="Only ids after this one.")] = ""
    limit: Limit = LIMIT_DEFAULT


class TransactionPath(Struct, kw_only=True):
    """A transactional id."""

    transactional_id: Annotated[str, Meta(min_length=1)]


def list_transactions(control: Control, query: TransactionQuery) -> TransactionPage:
    """List the transactional ids with the state of their transactions."""
    found = [
        each
        for each in sorted(coordinated_transactions(control.cluster), key=_id_of)
        if each.transactional_id > query.since and query.state in (None, each.state_name)
    ]
    items, token = page_of(found, query.limit, transaction_info, _id_of)
    return TransactionPage(items=items, next=token)


def get_transaction(control: Control, path: TransactionPath) -> TransactionInfo:
    """Return the state of a transactional id."""
    return transaction_info(_find(control, path.transactional_id)[1])


async def forget_transaction(control: Control, path: TransactionPath) -> TransactionInfo:
    """Delete a transactional id, as after transactional.id.expiration.ms; an open transaction is aborted first.

    A client with its producer id gets INVALID_PRODUCER_ID_MAPPING; InitProducerId returns a new producer id. Returns
    the deleted state. Raises CallError 404, and 409 if it cannot be deleted or the node crashes or is reset meanwhile.
    """
    transactions, known = _find(control, path.transactional_id)

    async def work() -> TransactionInfo:
        with _conflicts(path, "deleted"):
            await _abort(transactions, path)
            transactions.delete(path.transactional_id)
        return transaction_info(known)

    return await run_long_call(control, work())


async def abort_transaction(control: Control, path: TransactionPath) -> TransactionInfo:
    """Abort an open transaction, as after its timeout: its producer is fenced. Return the state after it.

    Raises CallError 404, and 409 if no transaction is open.
    """
    transactions, known = _find(control, path.transactional_id)
    if not known.is_ongoing:
        message = f"{path.transactional_id} has no open transaction: it is in state {known.state_name}"
        raise conflict(message, field="transactional_id", value=path.transactional_id)

    async def work() -> TransactionInfo:
        with _conflicts(path, "aborted"):
            await _abort(transactions, path)
            return transaction_info(transactions.describe(path.transactional_id))

    return await run_long_call(control, work())


async def fence_transaction(control: Control, path: TransactionPath) -> TransactionInfo:
    """Give a transactional id its next epoch, as InitProducerId of another producer does, and return its state.

    The producer that has it is fenced, and an open transaction is aborted.
    """
    transactions, known = _find(control, path.transactional_id)

    async def work() -> TransactionInfo:
        with _conflicts(path, "fenced"):
            await _abort(transactions, path)
            initialized = transactions.init_producer(path.transactional_id, known.timeout_ms, None)
            await transactions.flushed()
        return transaction_info(initialized)

    return await run_long_call(control, work())


async def _abort(transactions: TransactionCoordinator, path: TransactionPath) -> None:
    """Abort the transaction if it is open, and return when its markers are written."""
    transactions.abort(path.transactional_id)
    # With flush.messages an abort takes a few flushes.
    await transactions.flushed()


@contextmanager
def _conflicts(path: TransactionPath, change: str) -> Generator[None]:
    """Raise CallError 409 for a change that the coordinator refuses."""
    try:
        yield
    except KafkaError as error:
        message = f"{path.transactional_id} cannot be {change}: {ErrorCode(error.code).name} {error.message}"
        raise conflict(message, field="transactional_id", value=path.transactional_id) from error


def _find(control: Control, transactional_id: str) -> tuple[TransactionCoordinator, TransactionMetadata]:
    """Return the coordinator of a transactional id, and its state. Raises CallError 404."""
    for node, transactions in transaction_coordinators(control.cluster):
        if not is_coordinator(control.cluster, node, CoordinatorType.TRANSACTION, transactional_id):
            continue
        with suppress(KafkaError):
            return transactions, transactions.describe(transactional_id)
    raise unknown("transaction", transactional_id, field="transactional_id")


def transaction_info(known: TransactionMetadata) -> TransactionInfo:
    """Return the model of a transactional id."""
    return TransactionInfo(
        transactional_id=known.transactional_id,
        producer_id=known.producer_id,
        producer_epoch=known.producer_epoch,
        state=known.state_name,
        timeout_ms=known.timeout_ms,
        started_ms=known.start_ms if known.start_ms >= 0 else None,
        updated_ms=known.last_update_ms,
        partitions=[PartitionInfo(topic=topic, partition=index) for topic, index in known.partitions],
    )


def _id_of(known: TransactionMetadata) -> str:
    return known.transactional_id


OPERATIONS = (
    Operation(method="GET", path="/v1/transactions", perform=list_transactions, tag=TAG),
    Operation(
        method="GET", path="/v1/transactions/{transactional_id}", perform=get_transaction, tag=TAG, errors=(404,)
    ),
    Operation(
        method="DELETE",
        path="/v1/transactions/{transactional_id}",
        perform=forget_transaction,
        tag=TAG,
        errors=(404, 409),
    ),
    *(
        Operation(
            method="POST",
            path=f"/v1/transactions/{{transactional_id}}/{name}",
            perform=perform,
            tag=TAG,
            errors=(404, 409),
        )
        for name, perform in (("abort", abort_transaction), ("fence", fence_transaction))
    ),
)
