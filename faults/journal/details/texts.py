"""The details of a request in few words: what it asks for, and what its response has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from .models import FetchedRange, RequestDetails, ResponseError, TopicPartitions

# Partitions in a text; the others are counted.
SHOWN_MAX = 3
_TIMESTAMPS = {-1: "latest", -2: "earliest", -3: "with the greatest timestamp"}


def asked_text(details: RequestDetails) -> str:
    """Return what a request asks for, such as "orders-0 from 12"; "" if its API has no such details."""
    if details.fetch is not None:
        return _joined(f"{_name(each)} from {each.fetch_offset}" for each in details.fetch.partitions)
    if details.list_offsets is not None:
        return _joined(
            f"{each.topic}-{each.partition} {_timestamp_text(each.asked_timestamp)}"
            for each in details.list_offsets.partitions
        )
    if details.offsets is not None:
        committed = (each for each in details.offsets.offsets if each.offset is not None and each.offset >= 0)
        return _joined(f"{each.topic}-{each.partition} at {each.offset}" for each in committed)
    if details.share is not None:
        return _joined(
            f"{each.topic}-{each.partition} {'/'.join(ranges.types)} {ranges.first_offset}..{ranges.last_offset}"
            for each in details.share.partitions
            for ranges in each.acknowledged
        )
    if details.member is not None and details.member.epoch is not None:
        return f"epoch {details.member.epoch}"
    return ""


def answered_text(details: RequestDetails) -> str:
    """Return what a response has, such as "orders-0 12..19"; "" without details."""
    if details.first_error is not None:
        return error_text(details.first_error, details.more_errors)
    if details.fetch is not None:
        return _joined(_read_text(each) for each in details.fetch.partitions if each.first_offset is not None)
    if details.list_offsets is not None:
        return _joined(f"{each.topic}-{each.partition} at {each.offset}" for each in details.list_offsets.partitions)
    if details.share is not None:
        return _joined(
            f"{each.topic}-{each.partition} {ranges.first_offset}..{ranges.last_offset} x{ranges.delivery_count}"
            for each in details.share.partitions
            for ranges in each.acquired
        )
    if details.member is not None:
        parts = [] if details.member.new_epoch is None else [f"epoch {details.member.new_epoch}"]
        assignment = details.member.assignment
        return ", ".join(parts if assignment is None else [*parts, _assignment_text(assignment)])
    return ""


def error_text(error: ResponseError, more_errors: int) -> str:
    """Return the first error with its place, and the number of the others."""
    place = "" if error.topic is None else f" for {error.topic}"
    if error.partition is not None:
        place += f"-{error.partition}"
    return f"{error.error}{place}{f' and {more_errors} more' if more_errors else ''}"


def _timestamp_text(timestamp: int | None) -> str:
    return _TIMESTAMPS.get(timestamp or 0, f"at {timestamp} ms")


def _name(each: FetchedRange) -> str:
    return f"{each.topic}-{each.partition}"


def _read_text(each: FetchedRange) -> str:
    return f"{_name(each)} {each.first_offset}..{'' if each.last_offset is None else each.last_offset}"


def _assignment_text(assignment: Sequence[TopicPartitions]) -> str:
    names = [f"{each.topic}-{partition}" for each in assignment for partition in each.partitions]
    return f"assigned {_joined(names) or 'nothing'}"


def _joined(texts: Iterable[str]) -> str:
    """Return the first texts, and how many others there are."""
    every = iter(texts)
    shown = ", ".join(islice(every, SHOWN_MAX))
    more = sum(1 for _ in every)
    return f"{shown} and {more} more" if more else shown
