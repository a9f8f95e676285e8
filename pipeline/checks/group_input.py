"""The input of the audit of consumer groups: commits of a broker or of a folder, and the ends of the log.

The commits are read before the ends of the log: a group commits what it has read, so no commit is behind an end that is
read later. A broker that denies its coordinators' log has no history.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from ...client.errors import BrokerError
from ...storage.log_files import PartitionName
from ..bad_option import BadOption
from ..read.group_offsets import group_offsets
from ..read.log_frame import read_log
from ..read.log_splits import open_log
from ..read.options import LogOptions, options_of_same_place, parse_options
from .findings import all_findings
from .group_audit import PartitionEnds, audit_group_history, audit_group_offsets, ends_frame
from .group_commits import COMMITS_SCHEMA, GROUP_LOG, GROUP_LOG_COLUMNS, latest_commits, read_commits
from .log_bounds import LogBounds
from .log_order import BATCH_COLUMNS_READ

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The value of --groups for all groups.
ALL_GROUPS = "all"


def check_groups(options: Mapping[str, str], groups: str) -> None:
    """Raise BadOption if no group is named, or a folder has no commits."""
    if not _names(groups):
        raise BadOption(f"groups: must be {ALL_GROUPS}, or names of groups separated by commas, not {groups!r}")
    if parse_options(options).path is not None and not _has_group_log(_group_log(options)):
        raise BadOption(f"groups: {options['path']} has no segments of {GROUP_LOG}")


def audit_groups(
    spark: SparkSession,
    options: Mapping[str, str],
    groups: str,
    bounds: list[LogBounds],
    batches: Callable[[], DataFrame],
) -> DataFrame:
    """Return the findings of the groups in the audited topics. Raises BadOption.

    options: of the audited log. groups: ALL_GROUPS, or names separated by commas. bounds: of the log. batches: returns
    the batches view of the log, read after the commits.
    """
    parsed = parse_options(options)
    history = _history(spark, options)
    try:
        latest = None if parsed.path is not None else group_offsets(parsed, _wanted_names(groups))
        ends = _ends(parsed, bounds)
    except BrokerError as error:
        raise BadOption(str(error)) from error
    of_log = batches()
    audited = f.broadcast(ends_frame(spark, ends).select("topic", "partition"))
    if history is not None:
        history = _wanted(history, groups).join(audited, ["topic", "partition"], "left_semi")
    if latest is not None:
        now = spark.createDataFrame([(*one, None) for one in latest], COMMITS_SCHEMA)
    else:
        assert history is not None, "check_groups has found the commits of a folder"
        now = latest_commits(history)
    found = audit_group_offsets(_wanted(now, groups), ends_frame(spark, ends), of_log)
    return found if history is None else all_findings(found, audit_group_history(history, of_log))


def _history(spark: SparkSession, options: Mapping[str, str]) -> DataFrame | None:
    """Return all commits; None if the log of the coordinators is not there or denied."""
    group_log = _group_log(options)
    if not _has_group_log(group_log):
        return None
    batches = read_log(spark, {**group_log, "view": "batches"}, BATCH_COLUMNS_READ)
    return read_commits(read_log(spark, group_log, GROUP_LOG_COLUMNS), batches)


def _group_log(options: Mapping[str, str]) -> dict[str, str]:
    """Return options of the data source that read the log of the coordinators."""
    return {**options_of_same_place(options), "topics": GROUP_LOG}


def _has_group_log(group_log: Mapping[str, str]) -> bool:
    try:
        return bool(open_log(parse_options(group_log)).splits())
    except (BadOption, BrokerError):
        return False


def _ends(options: LogOptions, bounds: list[LogBounds]) -> list[PartitionEnds]:
    log = open_log(options)
    _, ends = log.whole_range()
    open_transactions = open_log(replace(options, is_committed=True)).open_transaction_offsets()
    starts = {PartitionName(one.topic, one.partition): one.log_start for one in bounds}
    return [PartitionEnds(*name, starts.get(name, 0), end, open_transactions.get(name)) for name, end in ends.items()]


def _wanted(commits: DataFrame, groups: str) -> DataFrame:
    names = _wanted_names(groups)
    return commits if names is None else commits.where(f.col("group_id").isin(names))


def _wanted_names(groups: str) -> list[str] | None:
    """Return the names of the wanted groups; None for all."""
    names = _names(groups)
    return None if names == [ALL_GROUPS] else names


def _names(groups: str) -> list[str]:
    return [name.strip() for name in groups.split(",") if name.strip()]
