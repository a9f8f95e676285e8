"""The histories of share groups, from the events of the recorder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from .events import ShareAcquired, ShareChanged, ShareEvent, ShareRefused, ShareRequest, ShareReset, ShareStarted
from .share_history import ShareHistory

if TYPE_CHECKING:
    from ...protocol.stored_records.share_state_records import ShareKey
    from .group_history import GroupHistory, TopicPartition


class ShareHistories:
    """Applies events to the share partitions of the groups."""

    def __init__(self, topic_name_of: Callable[[bytes], str | None], group_of: Callable[[str], GroupHistory]) -> None:
        """topic_name_of: returns the name of a topic id, None for an unknown one. group_of: returns a group."""
        self._topic_name_of = topic_name_of
        self._group_of = group_of
        # The request whose acknowledgements are next.
        self._request: ShareRequest | None = None

    def apply(self, event: ShareEvent) -> None:
        """Take the next event. Those of a deleted topic are ignored."""
        if isinstance(event, ShareRequest):
            self._request = event
            return
        topic = self._topic_name_of(event.key.topic_id)
        if topic is None:
            return
        history = self._history_of(event.key, topic)
        match event:
            case ShareStarted():
                self._started(event, topic, history)
            case ShareReset():
                history.reset()
            case ShareAcquired():
                history.acquired(event.request, event.ranges)
            case ShareChanged():
                history.changed(event.changes, self._request)
            case ShareRefused():
                history.refused(event.request, event.ranges, event.error_code)

    def _history_of(self, key: ShareKey, topic: str) -> ShareHistory:
        shares = self._group_of(key.group_id).shares
        place: TopicPartition = (topic, key.partition)
        history = shares.get(place)
        if history is None:
            history = shares[place] = ShareHistory(partial(ShareRequest.is_delivered, place=place))
        return history

    def _started(self, event: ShareStarted, topic: str, history: ShareHistory) -> None:
        known = self._group_of(event.key.group_id).share_topics.setdefault(topic, event.partition_count)
        is_late = event.key.partition >= known
        history.started(event.log_start, event.available, event.end_offset, is_late=is_late)
