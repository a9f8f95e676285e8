"""The results of a Fetch whose response is a message, which an injected error makes."""

from __future__ import annotations

from ....protocol.codec_messages import Response
from ....protocol.fetch_codec import FetchedPartition, FetchedPartitions, FetchResults
from ....protocol.messages.fetch import FetchResponse
from ....protocol.primitives import ZERO_UUID
from ....storage.segments.whole_batches import last_offset_in


def results_of(response: Response) -> FetchResults:
    """Return the results in a message, which an injected error makes. The offsets asked for are not in it."""
    assert isinstance(response, FetchResponse), "the response to a Fetch"
    partitions: FetchedPartitions = []
    for topic in response.responses:
        for each in topic.partitions:
            records = [memoryview(each.records or b"")]
            fetched = FetchedPartition(
                each.partition_index,
                each.error_code,
                each.high_watermark,
                each.last_stable_offset,
                each.log_start_offset,
            )
            fetched.records, fetched.last_offset = records, last_offset_in(records, None)
            key = topic.topic.encode() if topic.topic_id == ZERO_UUID else topic.topic_id
            partitions.append((key, fetched))
    return FetchResults(partitions, response.error_code, response.session_id)
