"""The details of OffsetCommit, TxnOffsetCommit and OffsetFetch."""

from __future__ import annotations

from ....protocol.api_keys import ApiKey
from ....protocol.message_fields import elements
from .exchange import Exchange, error_in, number_or_none, text_or_none
from .models import GroupOffset, OffsetsDetails
from .partition_pairs import PartitionKey, PartitionPair, pair_partitions

# The fields with the generation or epoch, by API.
_EPOCHS = ("generation_id_or_member_epoch", "generation_id", "member_epoch")


def offsets_details(exchange: Exchange) -> OffsetsDetails:
    """Return the group and the offsets of the partitions."""
    found = pair_partitions(exchange)
    is_fetch = exchange.api.key is ApiKey.OFFSET_FETCH
    request: object = exchange.request
    groups = elements(request, "groups") if is_fetch and request is not None else []
    group = groups[0] if groups else request
    epochs = (number_or_none(group, field) for field in _EPOCHS)
    return OffsetsDetails(
        group_id=text_or_none(group, "group_id") or "",
        member_id=text_or_none(group, "member_id"),
        epoch=next((epoch for epoch in epochs if epoch is not None), None),
        group_instance_id=text_or_none(request, "group_instance_id"),
        producer_id=number_or_none(request, "producer_id"),
        producer_epoch=number_or_none(request, "producer_epoch"),
        offsets=[
            _offset(key, pair, pair.answered if is_fetch else pair.asked, names_group=len(groups) > 1)
            for key, pair in found.pairs.items()
        ],
        offsets_left_out=found.left_out,
    )


def _offset(key: PartitionKey, pair: PartitionPair, committed: object, *, names_group: bool) -> GroupOffset:
    """Return the offset of a partition. committed: the element that has it."""
    return GroupOffset(
        topic=key.topic,
        partition=key.partition,
        offset=number_or_none(committed, "committed_offset"),
        leader_epoch=number_or_none(committed, "committed_leader_epoch"),
        error=error_in(pair.answered),
        group_id=key.owner if names_group else None,
    )
