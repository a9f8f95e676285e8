"""How much of a log one task reads, and how many tasks a shuffle has. This module does not use Spark."""

from __future__ import annotations

from collections.abc import Mapping

from ..read.fetch_log import FetchLog
from ..read.log_splits import open_log
from ..read.options import SPLIT_BYTES_DEFAULT, SPLIT_RECORDS_DEFAULT, parse_options

# The size of a log on a broker is estimated from its offsets.
RECORD_BYTES_ASSUMED = 100
# A quarter of a producer's batch.size.
BATCH_BYTES_ASSUMED = 4000

_SPLIT_DEFAULTS = {"splitBytes": SPLIT_BYTES_DEFAULT, "splitRecords": SPLIT_RECORDS_DEFAULT}
# A user's own value is kept.
SHUFFLE_TASKS_KEY = "spark.sql.shuffle.partitions"
# The bytes of the log for each task of a shuffle.
_SHUFFLE_TASK_BYTES = 32 * 1024 * 1024
# Each task of a stage takes memory on the driver.
TASKS_MAX = 20_000


def with_bounded_splits(options: Mapping[str, str]) -> tuple[dict[str, str], int]:
    """Return options that read a log in at most TASKS_MAX tasks (at least one a file), and its approximate size.

    The size is in bytes. Raises BadOption, BrokerError, OSError.
    """
    log = open_log(parse_options(options))
    size = sum(split.end - split.start for split in log.splits())
    if isinstance(log, FetchLog):
        return with_split_size(options, "splitRecords", size), size * RECORD_BYTES_ASSUMED
    return with_split_size(options, "splitBytes", size), size


def with_split_size(options: Mapping[str, str], name: str, size: int) -> dict[str, str]:
    """Return options that read a log of that size in at most TASKS_MAX tasks (at least one a file).

    name: splitBytes or splitRecords. A value in options is kept.
    """
    given = {option.lower(): value for option, value in options.items()}
    split_size = -(-size // TASKS_MAX)
    if name.lower() in given or split_size <= _SPLIT_DEFAULTS[name]:
        return dict(options)
    return {**options, name: str(split_size)}


def shuffle_tasks(size: int, cores: int) -> int:
    """Return the number of tasks of a shuffle for a log of that size in bytes: at least one for each core."""
    return min(max(cores, -(-size // _SHUFFLE_TASK_BYTES)), TASKS_MAX)
