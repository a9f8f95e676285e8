"""The subscriptions of a group: topic names, regular expressions and assignors of its members.

Source: ModernGroup.computeSubscribedTopicNames, ConsumerGroup.subscriptionType and computePreferredServerAssignor,
Kafka 4.3.0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..java_hash_tables import java_hash_order

if TYPE_CHECKING:
    from ....protocol.stored_records.consumer_group_values import RegularExpression
    from .member import ConsumerMember


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """The subscriptions of some members, counted.

    by_name, regexes, assignors: the number of members per topic name, regular expression and assignor.
    by_regex: the number of regular expressions that match each topic.
    """

    member_count: int
    by_name: Mapping[str, int]
    by_regex: Mapping[str, int]
    regexes: Mapping[str, int]
    assignors: Mapping[str, int]

    @classmethod
    def of(cls, members: Iterable[ConsumerMember], resolved: Mapping[str, RegularExpression]) -> Subscriptions:
        """Count the subscriptions of members. resolved: the topics of those regular expressions that are looked up."""
        by_name, regexes, assignors = Counter[str](), Counter[str](), Counter[str]()
        member_count = 0
        for member in members:
            member_count += 1
            by_name.update(member.subscribed_topic_names)
            if member.regex is not None:
                regexes[member.regex] += 1
            if member.server_assignor is not None:
                assignors[member.server_assignor] += 1
        by_regex = Counter[str](topic for regex in regexes if regex in resolved for topic in resolved[regex].topics)
        return cls(member_count, by_name, by_regex, regexes, assignors)

    @property
    def topic_names(self) -> frozenset[str]:
        """The names of all subscribed topics, including topics that do not exist."""
        return frozenset(self.by_name) | frozenset(self.by_regex)

    @property
    def are_homogeneous(self) -> bool:
        """Whether all members certainly consume the same topics; members are not compared one by one."""
        if not self.regexes:
            return all(count == self.member_count for count in self.by_name.values())
        if next(iter(self.regexes.values())) != self.member_count:
            return False
        return not self.by_name and all(count == 1 for count in self.by_regex.values())

    @property
    def preferred_assignor(self) -> str | None:
        """The assignor that most members request, or None if none requests one."""
        if not self.assignors:
            return None
        return max(java_hash_order(self.assignors), key=lambda name: self.assignors[name])


def topics_of(member: ConsumerMember, resolved: Mapping[str, RegularExpression]) -> frozenset[str]:
    """Return the topics that a member subscribes to by name or by its regular expression."""
    regex = member.regex
    if regex is None or regex not in resolved:
        return member.subscribed_topic_names
    return member.subscribed_topic_names | frozenset(resolved[regex].topics)
