"""The histories of all groups, from the events of the recorder.

- The members of a group are those of the records that its coordinator appends: of the generations of a classic group,
  or of the members and their current assignments (KIP-848).
- A Fetch names no group. It is counted to each group that has a member of the client with the partition. Without one it
  is counted to the groups for which the client commits without being a member, those that it got before too.
- A commit is one of an administrator if its client is no member, and the group has or had members or the client got
  nothing of the topic.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from ...protocol.error_codes import ErrorCode
from ...protocol.frames import FrameError
from ...protocol.stored_records.group_log_records import (
    GroupRecordType,
    OffsetCommitKey,
    OffsetCommitValue,
    record_type_of,
)
from .events import (
    Client,
    CommitRequest,
    DeletedOffsets,
    EndedTransaction,
    Event,
    FetchedRange,
    GroupRecords,
    LogEvent,
    MembersLeaving,
    OffsetsAsked,
    OutOfRange,
    ShareAcquired,
    ShareChanged,
    ShareRefused,
    ShareRequest,
    ShareReset,
    ShareStarted,
    TruncatedLog,
)
from .group_history import GroupHistory, TopicPartition, client_name
from .member_records import MemberRecords
from .partition_history import PartitionHistory
from .processed_events import EventSource, ProcessedEvents
from .receivers import Receiver
from .share_histories import ShareHistories
from .share_history import ShareHistory

# Groups, clients of no group, and ranges of each such client, that are kept.
GROUPS_MAX = 1000
CLIENTS_MAX = 100
RANGES_MAX = 1000

# The errors with which a coordinator refuses the commit of a stale member.
STALE_ERRORS = frozenset(
    {
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.STALE_MEMBER_EPOCH,
        ErrorCode.FENCED_MEMBER_EPOCH,
    }
)


class GroupHistories:
    """The groups by their ids. groups_left_out: whether there were more than are kept."""

    def __init__(self, topic_name_of: Callable[[bytes], str | None]) -> None:
        """topic_name_of: returns the name of a topic id, None for an unknown one."""
        self._topic_name_of = topic_name_of
        self._records = MemberRecords(topic_name_of)
        self._shares = ShareHistories(topic_name_of, self.group)
        self.groups: dict[str, GroupHistory] = {}
        # What applications have reported by event id.
        self.processed_events = ProcessedEvents()
        # Where the logs begin of which records were deleted.
        self._log_starts: dict[TopicPartition, int] = {}
        # The groups of which clients are or were members.
        self._joined: dict[Client, set[str]] = {}
        # The groups of clients that commit without being members.
        self._linked: dict[Client, set[str]] = {}
        # What clients got that belong to no group yet.
        self._of_no_group: dict[Client, list[FetchedRange | OutOfRange]] = {}
        # The commit whose records are next.
        self._commit: CommitRequest | None = None
        # Offsets of open transactions, by the partition of the coordinator's log and the producer id.
        self._pending: dict[tuple[int, int], list[tuple[CommitRequest | None, str, TopicPartition, int]]] = {}

    def group(self, group_id: str) -> GroupHistory:
        """Return the history of a group."""
        history = self.groups.get(group_id)
        if history is None:
            if len(self.groups) >= GROUPS_MAX:
                del self.groups[next(iter(self.groups))]
            history = self.groups[group_id] = GroupHistory(self._log_starts)
        return history

    def topics_removed(self, topics: Collection[str]) -> None:
        """Delete where the logs of the topics begin. What groups got of them is kept."""
        for place in [each for each in self._log_starts if each[0] in topics]:
            del self._log_starts[place]

    def recreate_topic(self, topic: str) -> None:
        """Replace the histories of a topic, because it is a new one of that name."""
        self.processed_events.forget_topic(topic)
        for group in self.groups.values():
            group.recreate_topic(topic)
        for ranges in self._of_no_group.values():
            ranges[:] = [each for each in ranges if self._name_of(each.topic_key) != topic]

    def processed(self, group_id: str, place: TopicPartition, offsets: Iterable[int]) -> None:
        """Note the offsets of a partition that the application has reported as processed."""
        processed = self.group(group_id).partition(place).processed
        for offset in offsets:
            processed.add(offset)

    def processed_by_id(self, source: EventSource, events: Iterable[str]) -> None:
        """Note the events that the application has reported as processed."""
        self.group(source.group)
        self.processed_events.add(source, events)

    def apply(self, event: Event) -> None:
        """Take the next event."""
        commit, self._commit = self._commit, None
        match event:
            case FetchedRange() | OutOfRange():
                self._fetched(event)
            case OffsetsAsked() | MembersLeaving():
                self._asked(event)
            case CommitRequest():
                self._committing(event)
            case GroupRecords():
                is_of_commit = commit is not None and not commit.error_code and commit.group == event.group
                self._appended(event, commit if is_of_commit else None)
            case EndedTransaction():
                self._transaction_ended(event)
            case DeletedOffsets() | TruncatedLog():
                self._log_changed(event)
            case ShareRequest() | ShareStarted() | ShareReset() | ShareAcquired() | ShareChanged() | ShareRefused():
                self._shares.apply(event)

    def _transaction_ended(self, event: EndedTransaction) -> None:
        for pending in self._pending.pop((event.log_partition, event.producer_id), ()):
            if event.is_commit:
                self._committed(*pending)

    def _log_changed(self, event: LogEvent) -> None:
        place = (event.topic, event.partition)
        if isinstance(event, DeletedOffsets):
            self._log_starts[place] = event.deleted.end_offset
        for group in self.groups.values():
            for history in (group.partitions.get(place), group.shares.get(place)):
                if history is not None:
                    _apply_log_change(history, event)

    def _name_of(self, topic_key: bytes) -> str | None:
        """Return the name of a topic from its id or its name."""
        return self._topic_name_of(topic_key) or _text_of(topic_key)

    # -- fetches

    def _fetched(self, event: FetchedRange | OutOfRange) -> None:
        topic = self._name_of(event.topic_key)
        if topic is None:
            return
        place = (topic, event.partition)
        receivers = self._receivers_of(event, place)
        for group, receiver in receivers:
            history = group.partition(place)
            if isinstance(event, OutOfRange):
                history.out_of_range(receiver, event)
            else:
                history.fetched(receiver, event)
        if not receivers:
            self._keep_of_no_group(event)

    def _receivers_of(
        self, event: FetchedRange | OutOfRange, place: TopicPartition
    ) -> list[tuple[GroupHistory, Receiver]]:
        """Return the groups of a Fetch with its receiver there."""
        connection_id = event.connection.connection_id
        members = [
            (group_id, group, member)
            for group_id in sorted(self._joined.get(event.client, ()))
            if (group := self.groups.get(group_id)) is not None
            and (member := group.find_receiver(event, place)) is not None
        ]
        if len(members) > 1:
            bound = [each for each in members if each[1].is_bound(connection_id)]
            members = bound if len(bound) == 1 else members
        if len(members) == 1:
            members[0][1].bind(connection_id, members[0][2])
        for group_id, group, _ in members:
            group.same_client.update({other: event.client for other, _, _ in members if other != group_id})
        if members:
            return [(group, group.receiver(member)) for _, group, member in members]
        linked = [self.group(each) for each in sorted(self._linked.get(event.client, ()))]
        return [(group, Receiver(client_name(event.client), is_member=False)) for group in linked]

    def _keep_of_no_group(self, event: FetchedRange | OutOfRange) -> None:
        ranges = self._of_no_group.setdefault(event.client, [])
        ranges.append(event)
        del ranges[: max(0, len(ranges) - RANGES_MAX)]
        if len(self._of_no_group) > CLIENTS_MAX:
            del self._of_no_group[next(iter(self._of_no_group))]

    # -- commits

    def _asked(self, event: OffsetsAsked | MembersLeaving) -> None:
        group = self.groups.get(event.group)
        if group is None:
            return
        if isinstance(event, MembersLeaving):
            group.note_leaving(event.members)
            return
        for partition in event.partitions:
            member = group.find_owner((event.topic, partition))
            if member is not None and member.client == event.client:
                group.partition((event.topic, partition)).begun(member.member_id, event.request_id)

    def _committing(self, commit: CommitRequest) -> None:
        self._commit = commit
        group = self.group(commit.group)
        if commit.error_code in STALE_ERRORS and commit.member_id:
            group.refused(commit)
        elif commit.is_of_member and group.note_client(commit.member_id, commit.client):
            self._joined.setdefault(commit.client, set()).add(commit.group)
            for each in self._of_no_group.pop(commit.client, ()):
                self._fetched(each)
        elif not commit.is_of_member and not commit.error_code and not group.had_members:
            self._link(commit)

    def _link(self, commit: CommitRequest) -> None:
        """Count what a client got and gets to the group for which it commits without being a member."""
        topics = {each.topic for each in commit.offsets}
        groups = self._linked.get(commit.client, set[str]())
        earlier = self._of_no_group.get(commit.client, [])
        if commit.group in groups or all(self._name_of(each.topic_key) not in topics for each in earlier):
            return
        others = {each: commit.client for each in groups}
        self.group(commit.group).same_client.update(others)
        for other in groups:
            self.group(other).same_client[commit.group] = commit.client
        self._linked.setdefault(commit.client, set()).add(commit.group)
        for each in self._of_no_group.pop(commit.client):
            self._fetched(each)

    def _appended(self, appended: GroupRecords, commit: CommitRequest | None) -> None:
        group = self.group(appended.group)
        self._records.begin(appended.request_id)
        for key, value in appended.records:
            try:
                record_type = record_type_of(key)
                if record_type == GroupRecordType.OFFSET_COMMIT:
                    self._offset_appended(appended, commit, key, value)
                else:
                    self._records.apply(group, record_type, key, value)
            except FrameError:
                # A member may write any bytes as its assignment.
                continue
        self._records.finish(group)
        for member in group.members.values():
            self._joined.setdefault(member.client, set()).add(appended.group)

    def _offset_appended(
        self, appended: GroupRecords, commit: CommitRequest | None, key: bytes, value: bytes | None
    ) -> None:
        read = OffsetCommitKey.read(key)
        place = (read.topic, read.partition)
        if value is None:
            self.group(appended.group).partition(place).commit_lost()
            return
        offset = OffsetCommitValue.read(value).offset
        if appended.producer_id < 0:
            self._committed(commit, appended.group, place, offset)
        else:
            pending = self._pending.setdefault((appended.log_partition, appended.producer_id), [])
            pending.append((commit, appended.group, place, offset))

    def _committed(self, commit: CommitRequest | None, group_id: str, place: TopicPartition, offset: int) -> None:
        group = self.group(group_id)
        is_consumer = commit is not None and (
            commit.is_of_member
            or (not group.had_members and group.has_received(client_name(commit.client), {place[0]}))
        )
        group.commit(commit, place, offset, is_consumer=is_consumer)


def _apply_log_change(history: PartitionHistory | ShareHistory, event: LogEvent) -> None:
    if isinstance(event, DeletedOffsets):
        history.deleted(event.deleted.end_offset)
    else:
        history.truncated(event.end_offset)


def _text_of(topic_key: bytes) -> str | None:
    try:
        return topic_key.decode()
    except UnicodeDecodeError:
        return None
