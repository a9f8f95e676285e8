"""A new leader of a partition, as the controller has elected it."""

from __future__ import annotations

from typing import NamedTuple


class LeaderChange(NamedTuple):
    """A new leader of a partition, or a leader in a new epoch.

    node_before, epoch_before: the last leader; -1 and -1 for a new partition.
    end_offset: where the log of the new leader ends when it begins to lead. log_epochs: the leader epochs of that log
    with their start offsets; the last one is that in which the node appends. It is an older one while the node does not
    hear of its election. Records of earlier leaders that are not in that log are lost.
    is_clean: whether the new leader was in sync with the last one, so that it has all that acks=all acknowledged.
    """

    topic_name: str
    partition: int
    node_before: int
    epoch_before: int
    node: int
    epoch: int
    end_offset: int
    log_epochs: tuple[tuple[int, int], ...]
    is_clean: bool = True
