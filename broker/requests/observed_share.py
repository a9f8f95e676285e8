"""Reports to the journal what a ShareFetch or ShareAcknowledge acquires, and which acknowledgements are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...faults.consumption.events import ShareAcquired, ShareRefused, ShareRequest
from ...protocol.error_codes import KafkaError
from ...protocol.stored_records.share_state_records import ShareKey
from ..coordinators.share.acknowledgements import AcknowledgedBatch, AcknowledgeErrors, acknowledge

if TYPE_CHECKING:
    from ..coordinators.share.share_fetcher import Fetched
    from ..coordinators.share.share_sessions import PartitionKey
    from .request_context import RequestContext


def acknowledge_observed(
    context: RequestContext,
    member: tuple[str, str],
    acknowledged: Mapping[PartitionKey, Sequence[AcknowledgedBatch]],
    *,
    may_renew: bool,
) -> tuple[ObservedShare, AcknowledgeErrors]:
    """Apply the acknowledgements of a member; see acknowledge. Also return what reports what the request acquires."""
    node = context.node
    observed = ObservedShare(context, member, acknowledges=bool(acknowledged))
    partitions = node.coordinators.share_partitions
    errors = acknowledge(node.replicas, partitions, member, acknowledged, may_renew=may_renew)
    observed.refused(acknowledged, errors)
    return observed, errors


class ObservedShare:
    """One request of a member of a share group. Without a journal, nothing is reported."""

    __slots__ = ("_consumption", "_request")

    def __init__(self, context: RequestContext, member: tuple[str, str], *, acknowledges: bool) -> None:
        """Begin before the request is handled. member: group id and member id. acknowledges: whether it does."""
        self._consumption = context.node.consumption
        self._request = ShareRequest(context.connection, *member, context.request_id)
        if self._consumption is not None:
            self._consumption.sharing(self._request)
            if acknowledges:
                self._consumption.add(self._request)

    def refused(
        self, acknowledged: Mapping[PartitionKey, Sequence[AcknowledgedBatch]], errors: AcknowledgeErrors
    ) -> None:
        """Report the acknowledgements that were refused. errors: by partition, None of the others."""
        for key, error in errors.items():
            if error is not None and self._consumption is not None:
                ranges = [(each.first_offset, each.last_offset) for each in acknowledged[key]]
                self._consumption.add(ShareRefused(self._request, self._key_of(key), ranges, error.code))

    def acquired(self, fetched: Fetched) -> None:
        """Report what was acquired. It is delivered when the response is written."""
        for key, got in fetched.items():
            if self._consumption is not None and not isinstance(got, KafkaError) and got.acquired:
                self._consumption.add(ShareAcquired(self._request, self._key_of(key), got.acquired))

    def _key_of(self, key: PartitionKey) -> ShareKey:
        return ShareKey(self._request.group, *key)
