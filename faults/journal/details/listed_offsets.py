"""The details of ListOffsets."""

from __future__ import annotations

from .exchange import Exchange, error_in, isolation_in, number_or_none
from .models import ListedOffset, ListOffsetsDetails
from .partition_pairs import pair_partitions


def list_offsets_details(exchange: Exchange) -> ListOffsetsDetails:
    """Return the timestamps and offsets of the partitions."""
    found = pair_partitions(exchange)
    return ListOffsetsDetails(
        isolation=isolation_in(exchange.request),
        partitions=[
            ListedOffset(
                topic=key.topic,
                partition=key.partition,
                asked_timestamp=number_or_none(pair.asked, "timestamp"),
                offset=number_or_none(pair.answered, "offset"),
                timestamp=number_or_none(pair.answered, "timestamp"),
                error=error_in(pair.answered),
            )
            for key, pair in found.pairs.items()
        ],
        partitions_left_out=found.left_out,
    )
