"""Fetch, ListOffsets, OffsetForLeaderEpoch, DeleteRecords and DescribeProducers."""

from collections.abc import Callable

from fauxka.protocol.fetch_codec import REPLICA_STATE_SINCE
from fauxka.protocol.message import Message
from fauxka.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from fauxka.protocol.messages.fetch import ReplicaState

from ...messages import replaced
from ..acl_recorder import AclCase, each
from ..acl_scene import Scene
from ..acls import Acls, on_cluster, on_topic
from ..failover.requests import Topic, describing_producers, ending_epoch, fetching, listing_offsets
from .several import joined

FETCH_BY_NAME, FETCH_BY_ID = 12, 17
EARLIEST = -2
FOLLOWER = 1


def acls_with(operation: str, *lesser: str) -> dict[str, Acls]:
    """Return ACLs of topic "topic" without and with an operation, and sets of them for the topics of _of_four."""
    return {
        "no ACL": (),
        **{name: on_topic("topic", name) for name in lesser},
        f"{operation} for one that exists and one that does not": on_topic("topic", operation)
        + on_topic("missing", operation),
        f"{operation} for all": on_topic("*", operation),
    }


def _topics_of(scene: Scene) -> list[Topic]:
    return [
        scene.topic("topic", record_count=2),
        scene.topic("other", record_count=1),
        scene.missing_topic("missing"),
        scene.missing_topic("other-missing"),
    ]


def of_four(version: int, field: str, request_for: Callable[[Topic], Message]) -> Callable[[Scene], None]:
    """Return steps that send one request for two topics that exist and two that do not."""

    def steps(scene: Scene) -> None:
        scene.send(version, joined(field, *(request_for(topic) for topic in _topics_of(scene))))

    return steps


def _fetch(version: int) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        topics = _topics_of(scene)[: 4 if version < FETCH_BY_ID else 3]
        scene.send(version, joined("topics", *(fetching(topic, 0) for topic in topics)))

    return steps


def _fetch_as_follower(version: int) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        request = fetching(scene.topic("topic", record_count=1), 0)
        state = ReplicaState(replica_id=FOLLOWER, replica_epoch=-1)
        as_follower = {"replica_id": FOLLOWER} if version < REPLICA_STATE_SINCE else {"replica_state": state}
        scene.send(version, replaced(request, **as_follower))

    return steps


def _fetch_in_session(scene: Scene) -> None:
    topics = [scene.topic("topic", record_count=1), scene.topic("other", record_count=1)]
    request = joined("topics", *(fetching(topic, 0) for topic in topics))
    response = scene.send(FETCH_BY_NAME, replaced(request, session_epoch=0))
    session_id = getattr(response, "session_id", 0)
    scene.send(FETCH_BY_NAME, replaced(request, topics=[], session_id=session_id, session_epoch=1))


def _delete_records(topic: Topic) -> DeleteRecordsRequest:
    partition = DeleteRecordsPartition(partition_index=0, offset=1)
    return DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=topic.name, partitions=[partition])], timeout_ms=10_000)


CASES: list[AclCase] = [
    *each("Fetch v12", _fetch(FETCH_BY_NAME), acls_with("READ", "DESCRIBE", "WRITE")),
    *each("Fetch v17", _fetch(FETCH_BY_ID), acls_with("READ", "DESCRIBE")),
    *(
        case
        for version in (FETCH_BY_NAME, 14, REPLICA_STATE_SINCE, FETCH_BY_ID)
        for case in each(
            f"Fetch v{version} as a follower",
            _fetch_as_follower(version),
            {"no ACL": (), "READ": on_topic("*", "ALL"), "CLUSTER_ACTION": on_cluster("CLUSTER_ACTION")},
        )
    ),
    *each(
        "Fetch v12 in a session",
        _fetch_in_session,
        {"no ACL": (), "READ for one": on_topic("topic", "READ"), "READ for both": on_topic("*", "READ")},
    ),
    *each(
        "ListOffsets v7",
        of_four(7, "topics", lambda topic: listing_offsets(topic, EARLIEST)),
        acls_with("DESCRIBE", "READ", "ALTER_CONFIGS"),
    ),
    *each(
        "ListOffsets v10",
        of_four(10, "topics", lambda topic: listing_offsets(topic, EARLIEST)),
        acls_with("DESCRIBE"),
    ),
    *each(
        "OffsetForLeaderEpoch v4",
        of_four(4, "topics", lambda topic: ending_epoch(topic, 0)),
        acls_with("DESCRIBE", "CREATE") | {"CLUSTER_ACTION": on_cluster("CLUSTER_ACTION")},
    ),
    *each("DeleteRecords v2", of_four(2, "topics", _delete_records), acls_with("DELETE", "DESCRIBE", "WRITE")),
    *each("DescribeProducers v0", of_four(0, "topics", describing_producers), acls_with("READ", "DESCRIBE", "WRITE")),
]
