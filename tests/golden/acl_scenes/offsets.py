"""The committed offsets of groups: OffsetCommit, OffsetFetch and OffsetDelete."""

from collections.abc import Callable

from fauxka.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
)

from ..acl_recorder import AclCase, each
from ..acl_scene import Scene
from ..acls import Acls, on_group, on_topic
from ..failover.coordinator_requests import committing, deleting_offsets, fetching_offsets
from .several import joined

BY_ID = 10


def acls_of_group_and_topics(group_operation: str, lesser: str, topic_operation: str) -> dict[str, Acls]:
    """Return ACLs for group "group" and the topics "topic", "other", "missing"."""
    group = on_group("group", group_operation)
    return {
        "no ACL": (),
        f"{group_operation} of the group": group,
        f"{topic_operation} of the topics": on_topic("*", topic_operation),
        f"{lesser} of the group, {topic_operation} of the topics": on_group("group", lesser)
        + on_topic("*", topic_operation),
        f"{group_operation} of the group, {topic_operation} of one topic": group + on_topic("topic", topic_operation),
        f"{group_operation} of the group, {topic_operation} of the topics": group + on_topic("*", topic_operation),
    }


def _commit(version: int) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        topics = [scene.topic("topic"), scene.topic("other"), scene.missing_topic("missing")]
        requests = (committing(scene.name("group"), topic, 7) for topic in topics)
        scene.send(version, joined("topics", *requests))

    return steps


def _fetch(version: int) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        topics = [scene.topic("topic"), scene.topic("other")]
        groups = [scene.group("group", *topics), scene.group("group2", *topics)]
        topics.append(scene.missing_topic("missing"))
        by_group = [joined_topics([fetching_offsets(group, topic) for topic in topics]) for group in groups]
        scene.send(version, joined("groups", *by_group))

    return steps


def joined_topics(requests: list[OffsetFetchRequest]) -> OffsetFetchRequest:
    """Return one request for the topics of requests for the same group."""
    topics = [topic for request in requests for topic in request.groups[0].topics or []]
    group = OffsetFetchRequestGroup(group_id=requests[0].groups[0].group_id, topics=topics)
    return OffsetFetchRequest(groups=[group])


def _fetch_all(scene: Scene) -> None:
    topics = [scene.topic("topic"), scene.topic("other")]
    groups = [scene.group("group", *topics), scene.group("group2", *topics)]
    asked = [OffsetFetchRequestGroup(group_id=group, topics=None) for group in groups]
    scene.send(8, OffsetFetchRequest(groups=asked))


def _fetch_of_one_group(version: int, *, is_for_all: bool) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        topics = [scene.topic("topic"), scene.topic("other")]
        group = scene.group("group", *topics)
        named = [OffsetFetchRequestTopic(name=topic.name, partition_indexes=[0]) for topic in topics]
        scene.send(version, OffsetFetchRequest(group_id=group, topics=None if is_for_all else named))

    return steps


def _delete(scene: Scene) -> None:
    topics = [scene.topic("topic"), scene.topic("other")]
    group = scene.group("group", *topics)
    requests = [deleting_offsets(group, topic) for topic in [*topics, scene.missing_topic("missing")]]
    scene.send(0, joined("topics", *requests))


_FETCH_ACLS = acls_of_group_and_topics("DESCRIBE", "DESCRIBE_CONFIGS", "DESCRIBE")
_TWO_GROUPS = on_group("group", "READ", pattern="PREFIXED")

CASES: list[AclCase] = [
    *each("OffsetCommit v9", _commit(9), acls_of_group_and_topics("READ", "DESCRIBE", "READ")),
    *each("OffsetCommit v9, DESCRIBE of the topics", _commit(9), {"READ": _TWO_GROUPS + on_topic("*", "DESCRIBE")}),
    *each("OffsetCommit v10", _commit(BY_ID), acls_of_group_and_topics("READ", "DESCRIBE", "READ")),
    *each(
        "OffsetFetch v8",
        _fetch(8),
        _FETCH_ACLS | {"READ of both groups and DESCRIBE of one topic": _TWO_GROUPS + on_topic("topic", "DESCRIBE")},
    ),
    *each("OffsetFetch v10", _fetch(BY_ID), _FETCH_ACLS),
    *each("OffsetFetch v8 of all topics", _fetch_all, _FETCH_ACLS),
    *each("OffsetFetch v5", _fetch_of_one_group(5, is_for_all=False), _FETCH_ACLS),
    *each("OffsetFetch v1", _fetch_of_one_group(1, is_for_all=False), {"no ACL": ()}),
    *each("OffsetFetch v7 of all topics", _fetch_of_one_group(7, is_for_all=True), _FETCH_ACLS),
    *each("OffsetDelete v0", _delete, acls_of_group_and_topics("DELETE", "READ", "READ")),
]
