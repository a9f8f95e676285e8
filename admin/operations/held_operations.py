"""Requests that a rule holds: which ones, and letting them go on, in whatever order a test wants."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ...broker.dispatch.held_requests import HeldRequest
from ...faults.rule_error import RuleError
from ...protocol.frames import FrameError
from ..control import Control
from ..errors import unknown
from ..operation import Operation
from ..paging import INT64_MAX, NumberPage, page_of

TAG = "held"

# As many as a list may show.
RELEASED_AT_ONCE_MAX = 10_000

HeldId = Annotated[int, Meta(ge=0, le=INT64_MAX)]


class HeldPath(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which request that is held."""

    id: HeldId


class HeldBatch(Struct, kw_only=True):
    """A batch that a request carries; -1 in numbers that it does not have."""

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    records: int


class HeldRequestInfo(Struct, kw_only=True):
    """A request that is held.

    point: `received`, and nothing of it is applied; or `applied`, and it only is not answered.
    since_ms: by the broker's clock.
    """

    id: int
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
    batches: list[HeldBatch]


class HeldPage(Struct, kw_only=True):
    """Requests that are held, in the order in which they came."""

    items: list[HeldRequestInfo]
    next: str | None


class Release(Struct, kw_only=True, forbid_unknown_fields=True):
    """What is to go on, in this order."""

    ids: Annotated[list[HeldId], Meta(min_length=1, max_length=RELEASED_AT_ONCE_MAX)]


class Released(Struct, kw_only=True):
    """What went on, in this order."""

    ids: list[int]


def list_held(control: Control, query: NumberPage) -> HeldPage:
    """List the requests that wait for a release."""
    behind = (held for held in control.held.items() if held.held_id > query.since)
    items, token = page_of(behind, query.limit, held_request_info, lambda held: str(held.held_id))
    return HeldPage(items=items, next=token)


def release_held(control: Control, path: HeldPath) -> Released:
    """Let a request go on."""
    return _release(control, [path.id])


def release_held_in_order(control: Control, body: Release) -> Released:
    """Let several requests go on, one after the other in the order given; none if one of them is not held."""
    if len(set(body.ids)) < len(body.ids):
        raise RuleError("ids", body.ids, "each id once", "an id is given twice")
    return _release(control, body.ids)


def _release(control: Control, held_ids: list[int]) -> Released:
    held = control.held
    missing = next((held_id for held_id in held_ids if held.find(held_id) is None), None)
    if missing is not None:
        raise unknown("held request", missing)
    held.release(held_ids)
    return Released(ids=held_ids)


def held_request_info(held: HeldRequest) -> HeldRequestInfo:
    """Return the request as it is told; one whose body does not decode names nothing."""
    request = held.request
    try:
        topics, batches = request.facts.topics, request.facts.batches
    except FrameError:
        topics, batches = (), []
    return HeldRequestInfo(
        id=held.held_id,
        rule=held.rule_id,
        point=held.point,
        since_ms=held.since_ms,
        node=request.connection.node_id,
        connection=request.connection.connection_id,
        client_id=request.client_id,
        software=request.connection.client_software,
        api=request.api_name,
        api_version=request.api_version,
        correlation_id=request.correlation_id,
        size=request.size,
        topics=list(topics),
        batches=[
            HeldBatch(
                topic=batch.topic,
                partition=batch.partition,
                producer_id=batch.producer_id,
                producer_epoch=batch.producer_epoch,
                base_sequence=batch.base_sequence,
                last_sequence=batch.last_sequence,
                records=batch.records_count,
            )
            for batch in batches
        ],
    )


OPERATIONS = (
    Operation(method="GET", path="/v1/held", perform=list_held, tag=TAG),
    Operation(method="POST", path="/v1/held/release", perform=release_held_in_order, tag=TAG, errors=(404,)),
    Operation(method="POST", path="/v1/held/{id}/release", perform=release_held, tag=TAG, errors=(404,)),
)
