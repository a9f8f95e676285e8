"""The details of ShareFetch and ShareAcknowledge."""

from __future__ import annotations

from itertools import islice
from typing import cast

from ....protocol.message_fields import elements, number_in
from .exchange import Exchange, error_in, text_or_none
from .models import PARTS_MAX, AcknowledgedRange, AcquiredRange, ShareDetails, SharePartition
from .partition_pairs import PartitionKey, PartitionPair, pair_partitions

# Kafka's AcknowledgeType, by its number.
_TYPES = ("gap", "accept", "release", "reject", "renew")
_ACKNOWLEDGED, _ACQUIRED = "acknowledgement_batches", "acquired_records"


def share_details(exchange: Exchange) -> ShareDetails:
    """Return the acknowledged and the acquired records of the partitions."""
    found = pair_partitions(exchange)
    return ShareDetails(
        group_id=text_or_none(exchange.request, "group_id"),
        member_id=text_or_none(exchange.request, "member_id"),
        session_epoch=number_in(exchange.request, "share_session_epoch", -1),
        partitions=[_partition(key, pair) for key, pair in found.pairs.items()],
        partitions_left_out=found.left_out,
    )


def _partition(key: PartitionKey, pair: PartitionPair) -> SharePartition:
    acknowledged, acquired = _ranges(pair.asked, _ACKNOWLEDGED), _ranges(pair.answered, _ACQUIRED)
    return SharePartition(
        topic=key.topic,
        partition=key.partition,
        acknowledged=[
            AcknowledgedRange(first_offset=first, last_offset=last, types=_types(each))
            for first, last, each in islice(acknowledged, PARTS_MAX)
        ],
        acquired=[
            AcquiredRange(first_offset=first, last_offset=last, delivery_count=number_in(each, "delivery_count", 0))
            for first, last, each in islice(acquired, PARTS_MAX)
        ],
        error=error_in(pair.answered),
        acknowledge_error=error_in(pair.answered, "acknowledge_error_code"),
        ranges_left_out=max(0, len(acknowledged) - PARTS_MAX) + max(0, len(acquired) - PARTS_MAX),
    )


def _ranges(holder: object, field: str) -> list[tuple[int, int, object]]:
    """Return the first and last offset of the ranges in a field, with the range; none without the field."""
    if not hasattr(holder, field):
        return []
    return [
        (number_in(each, "first_offset", -1), number_in(each, "last_offset", -1), each)
        for each in elements(holder, field)
    ]


def _types(batch: object) -> list[str]:
    numbers = cast("list[int]", elements(batch, "acknowledge_types"))[:PARTS_MAX]
    return [_TYPES[number] if 0 <= number < len(_TYPES) else str(number) for number in numbers]
