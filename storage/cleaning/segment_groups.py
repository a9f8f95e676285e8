"""Which segments of a log are cleaned into one, so that cleaning does not leave many small ones.

Source: Cleaner.groupSegmentsBySize, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..log_config import LogConfig
from ..log_files import RELATIVE_OFFSET_MAX
from ..segments.log_segment import LogSegment


def group_segments(
    segments: Sequence[LogSegment], config: LogConfig, first_uncleanable_offset: int
) -> list[list[LogSegment]]:
    """Return the segments in groups that keep, even if nothing is removed, within the limits of one segment.

    first_uncleanable_offset: where the segment behind the last one begins.
    """
    groups: list[list[LogSegment]] = []
    following = [*(segment.base_offset for segment in segments[1:]), first_uncleanable_offset]
    for segment, next_base_offset in zip(segments, following, strict=True):
        if groups and _has_room(groups[-1], segment, next_base_offset - 1, config):
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return groups


def _has_room(group: Sequence[LogSegment], segment: LogSegment, last_offset: int, config: LogConfig) -> bool:
    together = [*group, segment]
    # An empty segment has no offsets that would have to be told apart.
    is_in_range = not segment.size or last_offset - group[0].base_offset <= RELATIVE_OFFSET_MAX
    return (
        is_in_range
        and sum(each.size for each in together) <= config.segment_bytes
        and sum(each.offset_index_bytes for each in together) <= config.segment_index_bytes
        and sum(each.time_index_bytes for each in together) <= config.segment_index_bytes
    )
