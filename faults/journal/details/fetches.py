"""The details of a Fetch. An incremental one has the partitions of its session that have changed, and no others."""

from __future__ import annotations

from collections.abc import Iterator

from ....protocol.apis.fields import TopicNameOf
from ....protocol.errors.error_places import ErrorPlace
from ....protocol.fetch_codec import TOPIC_IDS_SINCE, FetchRequest
from ....protocol.kafka_uuid import uuid_text
from ....protocol.shortened_text import shortened
from .exchange import error_name_of, isolation_in
from .kept_fetch import KeptFetch
from .models import PARTS_MAX, FetchDetails, FetchedRange


def fetch_details(
    kept: KeptFetch | None, request: FetchRequest | None, version: int, topic_name_of: TopicNameOf
) -> FetchDetails | None:
    """Return the details of a Fetch; None if nothing of it is kept. request: None for a large one."""
    source = request if kept is None else kept
    if source is None:
        return None
    asked = {} if request is None else {key: each.fetch_offset for key, each in request.partitions.items()}
    ranges: list[FetchedRange] = []
    for key, numbers in () if kept is None else kept.ranges():
        asked_offset = asked.pop((key, numbers[0]), None)
        ranges.append(_range(fetched_topic(key, version, topic_name_of), numbers, asked_offset))
    left_out = 0 if kept is None else kept.partitions_left_out
    for (key, index), offset in asked.items():
        if len(ranges) < PARTS_MAX:
            topic = fetched_topic(key, version, topic_name_of)
            ranges.append(FetchedRange(topic=topic, partition=index, fetch_offset=offset))
        elif not left_out:
            # Those of the response that are left out are mostly the same.
            left_out = len(asked) - PARTS_MAX
    new_session_id = None if kept is None or kept.new_session_id == kept.session_id else kept.new_session_id
    return FetchDetails(
        isolation=isolation_in(source),
        session_id=source.session_id,
        session_epoch=source.session_epoch,
        new_session_id=new_session_id,
        partitions=ranges,
        partitions_left_out=left_out,
    )


def fetch_errors(kept: KeptFetch, version: int, topic_name_of: TopicNameOf) -> Iterator[ErrorPlace]:
    """Yield the errors of the partitions; those that are left out without their places."""
    for key, (partition, code, *_) in kept.ranges():
        if code:
            yield ErrorPlace(code, fetched_topic(key, version, topic_name_of), partition)
    yield from map(ErrorPlace, kept.codes_left_out)


def fetched_topic(key: bytes, version: int, topic_name_of: TopicNameOf) -> str:
    """Return the topic of a key of a Fetch: its name, or its id if it does not exist."""
    if version < TOPIC_IDS_SINCE:
        return shortened(key.decode(errors="replace"))
    name = topic_name_of(key)
    return uuid_text(key) if name is None else name


def _range(topic: str, numbers: tuple[int, ...], asked_offset: int | None) -> FetchedRange:
    partition, code, fetch_offset, first, last, high_watermark, last_stable_offset, log_start_offset = numbers
    return FetchedRange(
        topic=topic,
        partition=partition,
        fetch_offset=asked_offset if fetch_offset < 0 else fetch_offset,
        first_offset=None if first < 0 else first,
        last_offset=None if last < 0 else last,
        high_watermark=high_watermark,
        last_stable_offset=last_stable_offset,
        log_start_offset=log_start_offset,
        error=error_name_of(code),
    )
