"""Record batches for the capture programs: fixed times, any compression, nothing taken from the product."""

from collections.abc import Sequence

from . import raw_batches

# Fixed, so that two captures agree: 2023-11-14 22:13:20 UTC. Topics that keep such records need retention.ms=-1.
FIRST_TIMESTAMP = 1_700_000_000_000
GZIP = raw_batches.GZIP
NO_PRODUCER = (-1, -1, -1)


def batch(
    timestamps: Sequence[int] = (FIRST_TIMESTAMP,),
    *,
    key: bytes = b"key",
    value: bytes = b"value",
    codec: int = 0,
    producer: tuple[int, int, int] = NO_PRODUCER,
) -> bytes:
    """Return a batch of one record a timestamp; producer is (producer id, epoch, first sequence)."""
    producer_id, producer_epoch, base_sequence = producer
    return raw_batches.batch(
        len(timestamps),
        timestamps[0],
        timestamp_deltas=[timestamp - timestamps[0] for timestamp in timestamps],
        key=key,
        value=value,
        codec=codec,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
    )
