"""What the journal keeps of a Fetch on the hot path: numbers, packed, and no view of a log's memory."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ....protocol.fetch_codec import FetchedPartition, FetchRequest, FetchResults
from ....storage.segments.whole_batches import NO_OFFSET, first_offset_in
from .. import details

if TYPE_CHECKING:
    from ....protocol.codec_messages import Response
    from ....protocol.request_facts import Request
    from .models import RequestDetails

    # Of a small response its bytes, of a Fetch its numbers, of a large one its details.
    KeptResponse: TypeAlias = "bytes | RawFetch | RequestDetails | None"

# The partitions that are kept; as many as models.PARTS_MAX.
PARTITIONS_MAX = 100
# partition, error code; fetch offset, first and last offset; high watermark, last stable and log start offset.
_NUMBERS = Struct("=ihqqqqqq")
_pack_numbers = _NUMBERS.pack

# The fields of KeptFetch. Each Fetch creates a plain tuple, at a third of the cost of a NamedTuple.
RawFetch = tuple[int, int, int, int, tuple[bytes, ...], bytes, int, tuple[int, ...]]


class KeptFetch(NamedTuple):
    """The numbers of a Fetch. topics: the key of the topic for each partition in numbers.

    partitions_left_out: how many there are beyond PARTITIONS_MAX; those with records and errors come first.
    codes_left_out: their error codes that are not 0.
    """

    isolation_level: int
    session_id: int
    session_epoch: int
    new_session_id: int
    topics: tuple[bytes, ...]
    numbers: bytes
    partitions_left_out: int
    codes_left_out: tuple[int, ...]

    def ranges(self) -> Iterator[tuple[bytes, tuple[int, ...]]]:
        """Yield the key of the topic and the numbers of each partition."""
        return zip(self.topics, _NUMBERS.iter_unpack(self.numbers), strict=True)


def keep_fetch(request: Request, response: Response) -> RawFetch:
    """Return what the journal keeps of a Fetch. It is written for speed."""
    assert isinstance(request, FetchRequest), "a Fetch"
    results = response if isinstance(response, FetchResults) else details.fetch_messages.results_of(response)
    partitions = results.partitions
    if len(partitions) == 1:
        topic, partition = partitions[0]
        return (
            request.isolation_level,
            request.session_id,
            request.session_epoch,
            results.session_id,
            (topic,),
            _packed(partition),
            0,
            (),
        )
    return _keep_several(request, results)


def _keep_several(request: FetchRequest, results: FetchResults) -> RawFetch:
    partitions = results.partitions
    if len(partitions) > PARTITIONS_MAX:
        partitions = sorted(partitions, key=_is_empty)
    kept, left_out = partitions[:PARTITIONS_MAX], partitions[PARTITIONS_MAX:]
    return (
        request.isolation_level,
        request.session_id,
        request.session_epoch,
        results.session_id,
        tuple([topic for topic, _ in kept]),
        b"".join([_packed(partition) for _, partition in kept]),
        len(left_out),
        tuple([partition.error_code for _, partition in left_out if partition.error_code]),
    )


def _is_empty(fetched: tuple[bytes, FetchedPartition]) -> bool:
    return not fetched[1].records and not fetched[1].error_code


def _packed(partition: FetchedPartition) -> bytes:
    return _pack_numbers(
        partition.index,
        partition.error_code,
        partition.fetch_offset,
        first_offset_in(partition.records) if partition.records else NO_OFFSET,
        partition.last_offset,
        partition.high_watermark,
        partition.last_stable_offset,
        partition.log_start_offset,
    )
