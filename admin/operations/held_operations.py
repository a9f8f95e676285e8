"""Operations on held requests: list them and release them in any order."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ...broker.dispatch.held_requests import HeldRequest
from ...faults.journal.journal_batches import BatchInfo
from ...faults.journal.journal_entries import BATCHES_MAX
from ...faults.rule_error import InvalidValueError
from ...protocol.frames import FrameError
from ...protocol.shortened_text import shortened
from ..control import Control
from ..errors import unknown
from ..operation import Operation
from ..paging import INT64_MAX, NumberPage, page_of

TAG = "held"

# As many as one page of a list.
RELEASED_AT_ONCE_MAX = 10_000

HeldId = Annotated[int, Meta(ge=0, le=INT64_MAX)]


class HeldPath(Struct, kw_only=True, forbid_unknown_fields=True):
    """The id of a held request."""

    id: HeldId


class HeldRequestInfo(Struct, kw_only=True):
    """A held request.

    kind: `hold`, or `hold_markers` for an EndTxn that is answered, and whose markers are not written. point:
    `received`, before it is applied, or `applied`, before its response. since_ms: on the broker's clock.
    """

    id: int
    kind: str
    rule: int
    point: str
    since_ms: int
    node: int
    connection: int
    client_id: str | None
    software: str
    api: str
    api_version: int
    correlation_id: int
    size: int
    topics: list[str]
    batches: list[BatchInfo]
    batches_left_out: int


class HeldPage(Struct, kw_only=True):
    """Held requests, oldest first."""

    items: list[HeldRequestInfo]
    next: str | None


class Release(Struct, kw_only=True, forbid_unknown_fields=True):
    """The ids to release, in this order."""

    ids: Annotated[list[HeldId], Meta(min_length=1, max_length=RELEASED_AT_ONCE_MAX)]


class Released(Struct, kw_only=True):
    """The released ids, in this order."""

    ids: list[int]


def list_held(control: Control, query: NumberPage) -> HeldPage:
    """List the held requests."""
    following = (held for held in control.held.items() if held.held_id > query.since)
    items, token = page_of(following, query.limit, held_request_info, lambda held: str(held.held_id))
    return HeldPage(items=items, next=token)


def release_held(control: Control, path: HeldPath) -> Released:
    """Release a held request."""
    return _release(control, [path.id])


def release_held_in_order(control: Control, body: Release) -> Released:
    """Release held requests in the given order; none of them if one is not held."""
    if len(set(body.ids)) < len(body.ids):
        raise InvalidValueError("ids", body.ids, "each id once", "an id is given twice")
    return _release(control, body.ids)


def _release(control: Control, held_ids: list[int]) -> Released:
    held = control.held
    missing = next((held_id for held_id in held_ids if held.find(held_id) is None), None)
    if missing is not None:
        raise unknown("held request", missing)
    held.release(held_ids)
    return Released(ids=held_ids)


def held_request_info(held: HeldRequest) -> HeldRequestInfo:
    """Return the model of a held request. One whose body does not decode has no topics and batches."""
    request = held.request
    try:
        topics, batches = request.facts.topics, request.facts.batches
    except FrameError:
        topics, batches = (), []
    return HeldRequestInfo(
        id=held.held_id,
        kind=held.kind,
        rule=held.rule_id,
        point=held.point,
        since_ms=held.since_ms,
        node=request.connection.node_id,
        connection=request.connection.connection_id,
        client_id=request.kept_client_id,
        software=request.connection.client_software,
        api=request.api_name,
        api_version=request.api_version,
        correlation_id=request.correlation_id,
        size=request.size,
        topics=[shortened(topic) for topic in topics[:BATCHES_MAX]],
        batches=[
            BatchInfo(
                topic=shortened(batch.topic),
                partition=batch.partition,
                producer_id=batch.producer_id,
                producer_epoch=batch.producer_epoch,
                base_sequence=batch.base_sequence,
                last_sequence=batch.last_sequence,
                records=batch.records_count,
            )
            for batch in batches[:BATCHES_MAX]
        ],
        batches_left_out=max(0, len(batches) - BATCHES_MAX),
    )


OPERATIONS = (
    Operation(method="GET", path="/v1/held", perform=list_held, tag=TAG),
    Operation(method="POST", path="/v1/held/release", perform=release_held_in_order, tag=TAG, errors=(404,)),
    Operation(method="POST", path="/v1/held/{id}/release", perform=release_held, tag=TAG, errors=(404,)),
)
