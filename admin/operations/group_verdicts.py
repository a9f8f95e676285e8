"""The verdict on a group, from what the journal has recorded of it and from the logs of the cluster."""

from __future__ import annotations

from ...broker.runtime.long_work import run_steps
from ...faults.consumption.group_history import GroupHistory
from ...faults.consumption.group_verdict import GroupVerdict
from ...faults.consumption.judge import KEYS_MAX, LogEnds
from ...faults.consumption.judge import judge_group as judge_history
from ...faults.verdict.stored_batches import decode_or_none
from ...faults.work_steps import Steps
from ...protocol.batches.record_batch import parse_header
from ...storage.log_config import Records
from ..control import Control
from ..leading_partitions import leading_partitions
from ..long_calls import run_long_call
from .group_operations import GroupPath, get_group
from .group_processing import read_processing
from .topic_logs import ClusterLogs


class ConsumedClusterLogs:
    """The logs of a cluster, each as its leader has it."""

    def __init__(self, control: Control) -> None:
        """Read the logs of the cluster of control."""
        self._image = control.cluster.image
        self._logs = ClusterLogs(control.cluster)

    def has_partition(self, topic: str, partition: int) -> bool:
        """Whether the topic exists and has the partition."""
        return self._image.has_partition(topic, partition)

    def find_ends(self, topic: str, partition: int) -> LogEnds | None:
        """Return the ends of a partition; None for a deleted one, and while all nodes with a replica are down."""
        leader = self._logs.find_leader(topic, partition)
        if leader is None:
            return None
        log = leader.find_log()
        if log is None:
            return LogEnds(0, 0, 0)
        return LogEnds(
            log.log_start_offset, log.high_watermark, log.last_stable_offset, log.producers.first_open_producer
        )

    def keys(self, topic: str, partition: int, first: int, end: int) -> Steps[list[str]]:
        """Return the keys of the first records from first to before end, without those that the log does not have."""
        keys: list[str] = []
        for batch in self._logs.batches(topic, partition, first):
            for record in (yield from decode_or_none(batch)):
                if record.offset >= end or len(keys) == KEYS_MAX:
                    return keys
                if record.offset >= first and record.key is not None:
                    keys.append(record.key.decode(errors="replace"))
        return keys

    def may_have_records(
        self, topic: str, partition: int, offsets: tuple[int, int], *, committed_only: bool
    ) -> Steps[bool]:
        """Return whether one of the offsets from the first to before the second is or was a record, and not a marker.

        committed_only: records of aborted transactions do not count. Offsets that the log does not have are records.
        """
        log, (first, end) = self._logs.find_log(topic, partition), offsets
        if log is None or log.config.records is Records.GENERATED:
            return True
        if first < log.log_start_offset or end > log.log_end_offset:
            return True
        for batch in self._logs.batches(topic, partition, first):
            header = parse_header(batch)
            if header.base_offset >= end:
                break
            if not header.is_control and not (committed_only and self._logs.is_aborted(topic, partition, header)):
                return True
            yield
            # Meanwhile another node may have become the leader.
            log = self._logs.find_log(topic, partition)
            if log is None:
                return True
        return False


async def judge_group(control: Control, group_id: str) -> GroupVerdict:
    """Return the verdict on a group. Raises CallError 404 for one that neither exists nor was recorded."""
    return await run_long_call(control, _read_and_judge(control, group_id))


async def _read_and_judge(control: Control, group_id: str) -> GroupVerdict:
    control.check_running()
    for partition in leading_partitions(control.cluster):
        control.node.report_deleted(partition)
    history = history_of(control, group_id)
    processing = await read_processing(control, group_id, history)
    logs = ConsumedClusterLogs(control)
    verdict = await run_steps(judge_history(group_id, history, logs, processing.partitions))
    verdict.notes += processing.notes
    verdict.reports_left_out = processing.left_out
    return verdict


def history_of(control: Control, group_id: str) -> GroupHistory:
    """Return what was recorded of a group. Raises CallError 404 for one that neither exists nor was recorded."""
    history = control.journal.consumption.histories.groups.get(group_id)
    if history is None:
        get_group(control, path=GroupPath(group_id=group_id))
        history = GroupHistory()
    return history
