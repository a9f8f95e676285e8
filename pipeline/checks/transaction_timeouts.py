"""How long a transaction may be open before it hangs: its own timeout, plus the time until a coordinator looks at it.

The timeout of a transaction is in the log of its coordinator, `__transaction_state`. A transaction that is not in it
has at most the `transaction.max.timeout.ms` of the broker. A coordinator aborts what has timed out once in each
`transaction.abort.timed.out.transaction.cleanup.interval.ms`.
Source: TransactionStateManager.timedOutTransactions, TransactionLog and TransactionLogValue.json, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from ...client.errors import BrokerError
from ...protocol.stored_records.transaction_log_records import TransactionStatus
from ..bad_option import BadOption
from ..read.broker_configs import broker_configs
from ..read.log_frame import read_log
from ..read.log_splits import open_log
from ..read.options import options_of_same_place, parse_options

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

MAX_TIMEOUT_KEY = "transaction.max.timeout.ms"
CHECK_INTERVAL_KEY = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
# Kafka's defaults, for a folder.
MAX_TIMEOUT_MS = 15 * 60 * 1000
CHECK_INTERVAL_MS = 10_000

TRANSACTION_LOG = "__transaction_state"
_COLUMNS_READ = ("partition", "offset", "key", "value", "is_control", "damage")
# The states of an open transaction.
_OPEN = (TransactionStatus.ONGOING, TransactionStatus.PREPARE_COMMIT, TransactionStatus.PREPARE_ABORT)


@dataclass(frozen=True, slots=True)
class TransactionTimeouts:
    """When transactions time out. own: the columns producer_id and timeout_ms, of open transactions; None: unknown."""

    max_timeout_ms: int = MAX_TIMEOUT_MS
    check_interval_ms: int = CHECK_INTERVAL_MS
    own: DataFrame | None = None

    def with_limit(self, rows: DataFrame) -> DataFrame:
        """Add hangs_after_ms, the time for which a transaction of the row's producer may be open."""
        latest = f.lit(self.max_timeout_ms + self.check_interval_ms)
        if self.own is None:
            return rows.withColumn("hangs_after_ms", latest)
        # One small row for each open transaction.
        joined = rows.join(f.broadcast(self.own), "producer_id", "left")
        own = f.col("timeout_ms") + self.check_interval_ms
        return joined.withColumn("hangs_after_ms", f.coalesce(own, latest)).drop("timeout_ms")


def read_timeouts(spark: SparkSession, options: Mapping[str, str]) -> TransactionTimeouts:
    """Return the timeouts of a log. What cannot be read has Kafka's default. options: of the data source."""
    place = options_of_same_place(options)
    configs = _configs(place)
    own: DataFrame | None = None
    coordinators = {**place, "topics": TRANSACTION_LOG}
    if _is_there(coordinators):
        own = own_timeouts(read_log(spark, coordinators, _COLUMNS_READ))
    return TransactionTimeouts(
        configs.get(MAX_TIMEOUT_KEY, MAX_TIMEOUT_MS), configs.get(CHECK_INTERVAL_KEY, CHECK_INTERVAL_MS), own
    )


def own_timeouts(records: DataFrame) -> DataFrame:
    """Return producer_id and timeout_ms of each open transaction. records: of the log of the coordinators."""
    states = records.where(f.col("damage").isNull() & ~f.col("is_control")).groupBy("partition", "key")
    latest = states.agg(f.max_by("value", "offset").alias("value"))
    # Version, producer id, epoch, timeout and status: the same bytes in each version of the value.
    fields = latest.select(
        _number("value", 3, 8).alias("producer_id"),
        _number("value", 13, 4).alias("timeout_ms"),
        _number("value", 17, 1).alias("status"),
    )
    is_open = f.col("status").isin([int(status) for status in _OPEN])
    return fields.where(is_open).groupBy("producer_id").agg(f.max("timeout_ms").alias("timeout_ms"))


def _number(name: str, first: int, size: int) -> Column:
    """Return the big-endian number of size bytes from the byte first (of 1) on. It must not be negative."""
    return f.conv(f.hex(f.substring(name, first, size)), 16, 10).cast("bigint")


def _configs(place: Mapping[str, str]) -> dict[str, int]:
    options = parse_options(place)
    if not options.bootstrap:
        return {}
    try:
        found = broker_configs(options, (MAX_TIMEOUT_KEY, CHECK_INTERVAL_KEY))
    except BrokerError:
        return {}
    return {name: int(value) for name, value in found.items() if value is not None and value.isdecimal()}


def _is_there(coordinators: Mapping[str, str]) -> bool:
    try:
        return bool(open_log(parse_options(coordinators)).splits())
    except (BadOption, BrokerError):
        return False
