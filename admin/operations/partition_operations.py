"""Operations on partitions and their replicas: list them, move leaders and coordinators, pause replication."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from ...broker.coordinators.internal_topics import INTERNAL_TOPICS, CoordinatorType, partition_index_of_key
from ...broker.metadata.metadata_image import PartitionRegistration, TopicImage
from ...faults.rule_error import InvalidValueError
from ..control import Control
from ..errors import conflict
from ..leading_partitions import find_leading_partition
from ..operation import Operation
from ..paging import LIMIT_DEFAULT, Limit, make_token, page_of, split_token
from .node_changes import NodeId, changes_node, check_node, check_running_node
from .offset_pages import PartitionIndex, unknown_partition
from .topic_operations import TopicName, TopicPath, topic_of

TAG = "replicas"

# As long as the string of a request may be.
CoordinatorKey = Annotated[str, Meta(min_length=1, max_length=32_767)]


class ReplicaState(Struct, kw_only=True):
    """The replica of a partition on one node.

    last_epoch: the leader epoch of its last batch, -1 without one. is_paused: whether it has stopped to fetch.
    """

    node: int
    log_start_offset: int
    log_end_offset: int
    last_epoch: int
    is_paused: bool


class PartitionState(Struct, kw_only=True):
    """A partition with its replicas, all by node id.

    leader: -1 for none. isr: in-sync replicas. elr: eligible leader replicas. offline: replicas on nodes that are down.
    high_watermark, log_start_offset: of the leader, else of the first replica whose node runs; null without one.
    replica_states: of the replicas whose nodes run.
    """

    topic: str
    partition: int
    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: list[int]
    isr: list[int]
    elr: list[int]
    offline: list[int]
    high_watermark: int | None
    log_start_offset: int | None
    replica_states: list[ReplicaState]


class PartitionPage(Struct, kw_only=True):
    """Partitions sorted by topic and index."""

    items: list[PartitionState]
    next: str | None


class PartitionQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """The partitions to list: all, those of a topic, or one."""

    topic: TopicName | None = None
    partition: PartitionIndex | None = None
    since: Annotated[str, Meta(max_length=1100, description="The `next` of the previous page.")] = ""
    limit: Limit = LIMIT_DEFAULT


class LeaderMove(Struct, kw_only=True, forbid_unknown_fields=True):
    """The new leader of a partition.

    node: null for no leader until the next election, as while the nodes of the ISR are down.
    unclean: allow a replica that is not in the ISR, so that records may be lost.
    """

    topic: TopicName
    partition: PartitionIndex
    node: NodeId | None
    unclean: bool = False


class ReplicaChoice(Struct, kw_only=True, forbid_unknown_fields=True):
    """The followers of a node: of all partitions, of those of a topic, or of one partition."""

    node: NodeId
    topic: TopicName | None = None
    partition: PartitionIndex | None = None


class CoordinatorMove(Struct, kw_only=True, forbid_unknown_fields=True):
    """The new coordinator of a group or a transactional id, one of which is given."""

    group_id: CoordinatorKey | None = None
    transactional_id: CoordinatorKey | None = None
    node: NodeId


class _Place(NamedTuple):
    topic: TopicImage
    registration: PartitionRegistration

    @property
    def sort_key(self) -> tuple[str, int]:
        return self.topic.name, self.registration.index


def list_partitions(control: Control, query: PartitionQuery) -> PartitionPage:
    """List the partitions with their leader, replicas, ISR and offsets."""
    since = _place_of_token(query.since) if query.since else None
    following = (place for place in _places(control, query) if since is None or place.sort_key > since)
    items, token = page_of(following, query.limit, lambda place: partition_state(control, place), _token)
    return PartitionPage(items=items, next=token)


def move_leader(control: Control, body: LeaderMove) -> PartitionState:
    """Make a node the leader of a partition of which it has a replica, or no node."""
    place = _place_of(control, body.topic, body.partition)
    return _move(control, place, body.node, unclean=body.unclean)


def pause_replication(control: Control, body: ReplicaChoice) -> ReplicaChoice:
    """Stop the fetches of a node's followers, until they are resumed or the faults are reset.

    They leave the ISR when replica.lag.time.max.ms of the broker's clock has passed.
    """
    _check_choice(control, body)
    with changes_node("node", body.node):
        control.server.pause_replication(body.node, body.topic, body.partition)
    return body


def resume_replication(control: Control, body: ReplicaChoice) -> ReplicaChoice:
    """End the pause of a node's followers."""
    _check_choice(control, body)
    with changes_node("node", body.node):
        control.server.resume_replication(body.node, body.topic, body.partition)
    return body


def move_coordinator(control: Control, body: CoordinatorMove) -> PartitionState:
    """Make a node the coordinator of a group or a transactional id: the leader of its partition of the internal topic.

    Returns that partition. The topic exists after the first request for a coordinator of its type.
    """
    place = _coordinator_place(control, body)
    return _move(control, place, body.node, unclean=False)


def _move(control: Control, place: _Place, node_id: int | None, *, unclean: bool) -> PartitionState:
    """Move the leader of a partition, and return its state. Raises CallError 404, 409."""
    registration = place.registration
    if node_id is not None:
        _check_replica(control, place, node_id)
    with changes_node("node", node_id):
        control.server.move_leader(place.topic.name, registration.index, node_id, unclean=unclean)
    # The registration before is not changed, another one takes its place.
    return partition_state(control, _Place(place.topic, place.topic.partitions[registration.index]))


def _check_replica(control: Control, place: _Place, node_id: int) -> None:
    """Check that a node runs and has a replica. Raises CallError 404, 409."""
    check_node(control, node_id)
    registration, name = place.registration, f"{place.topic.name}-{place.registration.index}"
    if node_id not in registration.replicas:
        replicas = ", ".join(map(str, registration.replicas))
        message = f"node {node_id} has no replica of {name}; its replicas are on {replicas}"
        raise conflict(message, field="node", value=node_id)
    check_running_node(control, node_id)


def _coordinator_place(control: Control, body: CoordinatorMove) -> _Place:
    """Return the partition of a coordinator. Raises InvalidValueError, and CallError 409 without its topic."""
    if (body.group_id is None) == (body.transactional_id is None):
        message = "give either group_id or transactional_id"
        raise InvalidValueError("", {}, "an object with either group_id or transactional_id", message)
    field, key, kind = (
        ("group_id", body.group_id, CoordinatorType.GROUP)
        if body.group_id is not None
        else ("transactional_id", body.transactional_id, CoordinatorType.TRANSACTION)
    )
    assert key is not None, "one of the two is given"
    topic = control.cluster.image.find_topic(INTERNAL_TOPICS[kind].name)
    if topic is None:
        message = f"{key} has no coordinator yet: there is no topic {INTERNAL_TOPICS[kind].name}"
        raise conflict(message, field=field, value=key)
    return _Place(topic, topic.partitions[partition_index_of_key(key, len(topic.partitions))])


def _check_choice(control: Control, body: ReplicaChoice) -> None:
    """Check the node, the topic and the partition. Raises InvalidValueError and CallError."""
    check_node(control, body.node)
    if body.topic is None:
        if body.partition is not None:
            raise InvalidValueError(
                "partition", body.partition, "nothing without topic", "partition is given without topic"
            )
        return
    topic = topic_of(control, TopicPath(topic=body.topic))
    if body.partition is not None:
        _place_of(control, body.topic, body.partition)
        registrations = [topic.partitions[body.partition]]
    else:
        registrations = topic.partitions
    if all(body.node not in registration.replicas for registration in registrations):
        place = body.topic if body.partition is None else f"{body.topic}-{body.partition}"
        raise conflict(f"node {body.node} has no replica of {place}", field="node", value=body.node)


def _place_of(control: Control, topic_name: str, index: int) -> _Place:
    """Return a partition. Raises CallError 404, and 409 while all nodes are down."""
    topic = topic_of(control, TopicPath(topic=topic_name))
    if not topic.has_partition(index):
        raise unknown_partition(topic, index, "partition")
    return _Place(topic, topic.partitions[index])


def _places(control: Control, query: PartitionQuery) -> Iterator[_Place]:
    """Yield the partitions of a query, sorted. Raises CallError 404 for an unknown topic or partition."""
    if query.topic is None:
        topics = sorted(control.cluster.image.topics.values(), key=lambda topic: topic.name)
    else:
        topics = [topic_of(control, TopicPath(topic=query.topic))]
        if query.partition is not None:
            _place_of(control, query.topic, query.partition)
    for topic in topics:
        for registration in topic.partitions:
            if query.partition in (None, registration.index):
                yield _Place(topic, registration)


def partition_state(control: Control, place: _Place) -> PartitionState:
    """Return the model of a partition."""
    topic, registration = place
    online = {node_id for node_id in control.server.node_ids if control.server.state_of(node_id) == "running"}
    leading = find_leading_partition(control.cluster, topic, registration)
    log = None if leading is None else leading.find_log()
    empty = None if leading is None else 0
    return PartitionState(
        topic=topic.name,
        partition=registration.index,
        leader=registration.leader_id,
        leader_epoch=registration.leader_epoch,
        partition_epoch=registration.partition_epoch,
        replicas=list(registration.replicas),
        isr=list(registration.isr),
        elr=list(registration.elr),
        offline=registration.offline_replicas(online),
        high_watermark=empty if log is None else log.high_watermark,
        log_start_offset=empty if log is None else log.log_start_offset,
        replica_states=[
            _replica_state(control, place, node_id) for node_id in registration.replicas if node_id in online
        ],
    )


def _replica_state(control: Control, place: _Place, node_id: int) -> ReplicaState:
    topic, registration = place
    node = control.server.server_of(node_id).node
    partition = node.replicas.find_partition(topic.topic_id, registration.index)
    log = None if partition is None else partition.find_log()
    return ReplicaState(
        node=node_id,
        log_start_offset=0 if log is None else log.log_start_offset,
        log_end_offset=0 if log is None else log.log_end_offset,
        last_epoch=-1 if log is None else log.leader_epochs.latest_epoch,
        is_paused=control.server.is_paused(node_id, topic.topic_id, registration.index),
    )


def _token(place: _Place) -> str:
    return make_token(*place.sort_key)


def _place_of_token(token: str) -> tuple[str, int]:
    topic, index = split_token(token, names=1, numbers=1)
    return topic, int(index)


OPERATIONS = (
    Operation(method="GET", path="/v1/partitions", perform=list_partitions, tag=TAG, errors=(404, 409)),
    Operation(method="POST", path="/v1/partitions/leader", perform=move_leader, tag=TAG, errors=(404, 409)),
    Operation(method="POST", path="/v1/replication/pause", perform=pause_replication, tag=TAG, errors=(404, 409)),
    Operation(method="POST", path="/v1/replication/resume", perform=resume_replication, tag=TAG, errors=(404, 409)),
    Operation(method="POST", path="/v1/coordinators/move", perform=move_coordinator, tag=TAG, errors=(404, 409)),
)
