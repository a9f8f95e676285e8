"""The start offset of a share group in a partition that it has never consumed (share.auto.offset.reset).

Source: ShareGroupAutoOffsetResetStrategy and SharePartition.startOffsetDuringInitialization, Kafka 4.3.0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .settings import BY_DURATION, EARLIEST

if TYPE_CHECKING:
    from ....storage.partition_log import PartitionLog

# PnDTnHnMn.nS, the format of java.time.Duration.
_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.IGNORECASE)
_SECONDS = (86_400, 3_600, 60, 1)


def first_offset(log: PartitionLog, reset: str, now_ms: int) -> int:
    """Return the log start offset, the high watermark, or the offset of the first record after the duration."""
    if reset == EARLIEST:
        return log.log_start_offset
    if reset.startswith(BY_DURATION):
        found = log.offset_for_timestamp(now_ms - duration_ms(reset.removeprefix(BY_DURATION)))
        if found is not None:
            return found.offset
    return log.high_watermark


def duration_ms(text: str) -> int:
    """Return a duration in ms. Returns 0 for another text, which the config validation never accepts."""
    parts = _DURATION.fullmatch(text)
    if parts is None:
        return 0
    return round(1000 * sum(float(part or 0) * seconds for part, seconds in zip(parts.groups(), _SECONDS, strict=True)))
