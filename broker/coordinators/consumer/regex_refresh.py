"""Lookup of the topics that match the regular expressions of a group.

The response of the heartbeat that starts a search does not depend on its result. When the search is complete, the group
gets a new epoch, and the next heartbeats assign the topics. A group has at most one search at a time.
Source: GroupMetadataManager.maybeUpdateRegularExpressions and handleRegularExpressionsResult, Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from enum import Enum
from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.stored_records.consumer_group_records import ConsumerRecordType
from ....protocol.stored_records.consumer_group_values import RegularExpression
from .group_change import ConsumerGroupChange
from .records import group_record, regex_record, tombstone
from .subscriptions import Subscriptions
from .topic_regex import InvalidRegexError, RegexSearch, TopicRegex
from .topics import metadata_hash, take_snapshot

if TYPE_CHECKING:
    from .group import ConsumerGroup
    from .group_change import ConsumerGroupStore, MayDescribe
    from .member import ConsumerMember
    from .settings import ConsumerGroupSettings
    from .target_assignment import UpdatedMembers
    from .topics import GroupTopics

logger = logging.getLogger(__name__)

# The shortest time between two lookups for one group, even if topics are created meanwhile.
# Source: GroupMetadataManager.REGEX_BATCH_REFRESH_MIN_INTERVAL_MS, Kafka 4.3.0.
REFRESH_INTERVAL_MS_MIN = 10_000


class RegexUpdate(Enum):
    """The change that a request makes to a member's regular expression."""

    NONE = 0
    # The regular expression is new to the member, and its topics are not looked up yet.
    UPDATED = 1
    # The topics of the member change at once.
    RESOLVED = 2


class RegexRefresh:
    """Looks up the topics of regular expressions, and writes them to the log."""

    __slots__ = ("_settings", "_store", "_topics")

    def __init__(self, store: ConsumerGroupStore, settings: ConsumerGroupSettings, topics: GroupTopics) -> None:
        """topics: the topics to match."""
        self._store = store
        self._settings = settings
        self._topics = topics

    def update(
        self,
        change: ConsumerGroupChange,
        member: ConsumerMember,
        updated: ConsumerMember,
        updated_members: UpdatedMembers,
    ) -> RegexUpdate:
        """Check a member's new regular expression, and start a lookup after the commit if one is due.

        Raises KafkaError INVALID_REGULAR_EXPRESSION.
        """
        group = change.group
        update, is_new = RegexUpdate.NONE, False
        if member.subscribed_topic_regex != updated.subscribed_topic_regex:
            update, is_new = self._changed(change, member, updated)
        regexes = updated_members.subscriptions.regexes
        if (is_new or group.subscriptions.regexes) and regexes and self._is_due(group, len(regexes), is_new=is_new):
            change.after_commit(lambda: self._refresh(group, list(regexes), change.may_describe))
        return update

    def _changed(
        self, change: ConsumerGroupChange, member: ConsumerMember, updated: ConsumerMember
    ) -> tuple[RegexUpdate, bool]:
        """Return the kind of change, and whether the regular expression is new to the group."""
        group = change.group
        subscribed = group.subscriptions.regexes
        if member.regex is not None and subscribed.get(member.regex, 0) == 1:
            change.add_records(tombstone(ConsumerRecordType.REGULAR_EXPRESSION, group.group_id, member.regex))
        if updated.regex is None:
            return (RegexUpdate.UPDATED if member.regex is None else RegexUpdate.RESOLVED), False
        if updated.regex not in subscribed:
            check_regex(updated.regex)
            return RegexUpdate.UPDATED, True
        return (RegexUpdate.RESOLVED if updated.regex in group.resolved_regexes else RegexUpdate.UPDATED), False

    def _is_due(self, group: ConsumerGroup, regex_count: int, *, is_new: bool) -> bool:
        if group.is_regex_refresh_running:
            return False
        last = next(iter(group.resolved_regexes.values()), None)
        if last is None:
            return True
        age_ms = group.timers.now_ms() - last.timestamp
        return age_ms > REFRESH_INTERVAL_MS_MIN and (
            is_new
            or regex_count != len(group.resolved_regexes)
            or last.version < self._topics.version()
            or age_ms > self._settings.limits.regex_refresh_interval_ms
        )

    def _refresh(self, group: ConsumerGroup, regexes: Collection[str], may_describe: MayDescribe | None) -> None:
        version, now_ms = self._topics.version(), group.timers.now_ms()
        names = self._topics.names()
        if may_describe is not None:
            names = [name for name in names if may_describe(name)]
        search = RegexSearch(regexes, names)

        def write() -> None:
            group.is_regex_refresh_running = False
            found = {
                regex: RegularExpression(tuple(sorted(names)), version, now_ms)
                for regex, names in search.matched.items()
                if regex in group.subscriptions.regexes
            }
            self._write(group, found)

        group.is_regex_refresh_running = True
        search.run(write, lambda: self._store.registry.has(group))

    def _write(self, group: ConsumerGroup, found: Mapping[str, RegularExpression]) -> None:
        change = ConsumerGroupChange(group)
        self._resolve(change, found)
        try:
            self._store.commit(change)
        except KafkaError as error:
            # A later heartbeat starts another lookup.
            logger.warning("group %s: cannot write the matching topics: %s", group.group_id, error.message)

    def _resolve(self, change: ConsumerGroupChange, found: Mapping[str, RegularExpression]) -> None:
        group = change.group
        before = group.resolved_regexes
        change.add_records(*(regex_record(group.group_id, regex, value) for regex, value in found.items()))
        names = Subscriptions.of(group.members.values(), {**before, **found}).topic_names
        new_hash = metadata_hash(names, self._topics)
        has_changed = any((before[regex].topics if regex in before else ()) != found[regex].topics for regex in found)
        if has_changed or new_hash != group.metadata_hash:
            epoch = group.group_epoch + 1
            change.add_records(group_record(group.group_id, epoch, new_hash))
            snapshot = take_snapshot(sorted(names), self._topics)
            change.after_commit(lambda: group.set_topics_snapshot(snapshot))
            logger.info("group %s: epoch %d: its regular expressions match other topics", group.group_id, epoch)


def check_regex(regex: str) -> None:
    """Raise KafkaError INVALID_REGULAR_EXPRESSION if the text is not a regular expression."""
    try:
        TopicRegex(regex)
    except InvalidRegexError as error:
        raise KafkaError(
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {error.description}.",
        ) from error
