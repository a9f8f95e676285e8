"""Descriptions of groups of the consumer protocol, for ConsumerGroupDescribe.

Source: ConsumerGroup.asDescribedGroup and ConsumerGroupMember.asConsumerGroupDescribeMember, Kafka 4.3.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.consumer_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    TopicPartitions,
)
from ....protocol.stored_records.consumer_group_values import Partitions
from .member import merged, without_epochs
from .topics import existing_topics

if TYPE_CHECKING:
    from .group import ConsumerGroup
    from .member import ConsumerMember
    from .topics import GroupTopics

# The types of members by their numbers on the wire.
CLASSIC_MEMBER, CONSUMER_MEMBER = 0, 1


def describe(group: ConsumerGroup, topics: GroupTopics, default_assignor: str) -> DescribedGroup:
    """Describe a group and its members."""
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.subscriptions.preferred_assignor or default_assignor,
        members=[
            _describe_member(member, group.target_assignment_of(member.member_id), topics)
            for member in group.members.values()
        ],
    )


def describe_error(group_id: str, error: KafkaError) -> DescribedGroup:
    """Describe a group that another node coordinates, that does not exist, or that has another type.

    error: NOT_COORDINATOR, to which Kafka adds no message, or GROUP_ID_NOT_FOUND.
    """
    message = error.message if error.code is ErrorCode.GROUP_ID_NOT_FOUND else None
    return DescribedGroup(group_id=group_id, error_code=error.code, error_message=message)


def describe_empty_id() -> DescribedGroup:
    """Describe a group with an empty id."""
    return DescribedGroup(error_code=ErrorCode.INVALID_GROUP_ID)


def _describe_member(member: ConsumerMember, target: Partitions, topics: GroupTopics) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex,
        assignment=_assignment(without_epochs(merged(member.assigned, member.pending_revocation)), topics),
        target_assignment=_assignment(target, topics),
        member_type=CLASSIC_MEMBER if member.uses_classic_protocol else CONSUMER_MEMBER,
    )


def _assignment(partitions: Partitions, topics: GroupTopics) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic.topic_id, topic_name=topic.name, partitions=sorted(of_topic))
            for topic, of_topic in existing_topics(partitions, topics)
        ]
    )
