"""The details of the requests of group members.

Classic members embed their assignments as bytes, which are decoded for the protocol type "consumer". Versions of
SyncGroup before 5 do not name the protocol type; there, bytes that do not decode are no assignment.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import cast

from ....protocol.api_keys import ApiKey
from ....protocol.apis.fields import TopicList, TopicNameOf
from ....protocol.consumer_protocol import CONSUMER, read_assignment
from ....protocol.frames import FrameError
from ....protocol.message_fields import elements, number_in, text_in
from ....protocol.shortened_text import shortened
from ....protocol.streams_status import StreamsStatus
from .exchange import Exchange, error_in, number_or_none, text_or_none
from .models import PARTS_MAX, GroupMember, MemberDetails, MemberTasks, TopicPartitions

_BY_ID = TopicList("topic_partitions", name="", topic_id="topic_id", partitions="partitions")


def member_details(exchange: Exchange) -> MemberDetails:
    """Return the member, its epochs and its assignment."""
    request, response = exchange.request, exchange.response
    members = _listed_members(exchange)
    return MemberDetails(
        group_id=text_or_none(request, "group_id") or "",
        member_id=text_or_none(response, "member_id") or text_or_none(request, "member_id"),
        group_instance_id=text_or_none(request, "group_instance_id") or text_or_none(request, "instance_id"),
        epoch=_epoch_in(request),
        new_epoch=_epoch_in(response),
        protocol=text_or_none(response, "protocol_name") or text_or_none(request, "protocol_name"),
        leader_id=text_or_none(response, "leader"),
        owned=_partitions_in(request, exchange.topic_name_of),
        assignment=_assignment(exchange),
        owned_tasks=_tasks_in(request),
        tasks=_tasks_in(response),
        statuses=_statuses_in(response),
        members=[_member(exchange, member) for member in islice(members, PARTS_MAX)],
        members_left_out=max(0, len(members) - PARTS_MAX),
    )


def _epoch_in(message: object) -> int | None:
    epoch = number_or_none(message, "generation_id")
    return number_or_none(message, "member_epoch") if epoch is None else epoch


def _listed_members(exchange: Exchange) -> list[object]:
    match exchange.api.key:
        case ApiKey.SYNC_GROUP if exchange.request is not None:
            return elements(exchange.request, "assignments")
        case ApiKey.JOIN_GROUP if exchange.response is not None:
            return elements(exchange.response, "members")
        case ApiKey.LEAVE_GROUP if exchange.request is not None:
            return elements(exchange.response or exchange.request, "members")
        case _:
            return []


def _member(exchange: Exchange, member: object) -> GroupMember:
    return GroupMember(
        member_id=text_or_none(member, "member_id") or "",
        group_instance_id=text_or_none(member, "group_instance_id"),
        assignment=_embedded(exchange, member) if exchange.api.key is ApiKey.SYNC_GROUP else None,
        error=error_in(member),
    )


def _assignment(exchange: Exchange) -> list[TopicPartitions] | None:
    response: object = exchange.response
    if exchange.api.key is ApiKey.SYNC_GROUP:
        return None if error_in(response) else _embedded(exchange, response)
    return _partitions_in(getattr(response, "assignment", None), exchange.topic_name_of)


def _embedded(exchange: Exchange, holder: object) -> list[TopicPartitions] | None:
    """Return the classic assignment in a response or of a member; None if it is not one of the consumer protocol."""
    if holder is None or text_in(exchange.request, "protocol_type") not in (CONSUMER, ""):
        return None
    try:
        decoded = read_assignment(cast("bytes", getattr(holder, "assignment", b"")))
    except FrameError:
        return None
    return _topics((shortened(each.topic), each.partitions) for each in decoded.assigned_partitions)


def _partitions_in(holder: object, topic_name_of: TopicNameOf) -> list[TopicPartitions] | None:
    """Return the partitions by topic id of a heartbeat; None without them."""
    if getattr(holder, _BY_ID.topics, None) is None:
        return None
    return _topics(
        (_BY_ID.topic_text(each, topic_name_of) or "", cast("list[int]", elements(each, _BY_ID.partitions)))
        for each in elements(holder, _BY_ID.topics)
    )


def _tasks_in(holder: object) -> MemberTasks | None:
    """Return the tasks of a streams group's heartbeat; None without them."""
    if getattr(holder, "active_tasks", None) is None:
        return None
    return MemberTasks(
        **{
            kind: {
                shortened(text_in(each, "subtopology_id")): cast("list[int]", elements(each, "partitions"))[:PARTS_MAX]
                for each in islice(elements(holder, f"{kind}_tasks"), PARTS_MAX)
            }
            for kind in ("active", "standby", "warmup")
        }
    )


def _statuses_in(holder: object) -> list[str]:
    if getattr(holder, "status", None) is None:
        return []
    return [
        f"{StreamsStatus(number_in(each, 'status_code', 0)).name}: {shortened(text_in(each, 'status_detail'))}"
        for each in islice(elements(holder, "status"), PARTS_MAX)
    ]


def _topics(named: Iterable[tuple[str, list[int]]]) -> list[TopicPartitions]:
    """Return at most PARTS_MAX topics, with at most so many partitions each."""
    return [
        TopicPartitions(topic=topic, partitions=partitions[:PARTS_MAX])
        for topic, partitions in islice(named, PARTS_MAX)
    ]
