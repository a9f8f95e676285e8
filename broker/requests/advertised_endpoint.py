"""The addresses of brokers in responses: those of the listener whose clients get the response."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from ...protocol.current_leader import CurrentLeader, NodeEndpoint
from ...protocol.error_codes import ErrorCode
from ..metadata.metadata_image import BrokerRegistration, Endpoint
from .request_context import RequestContext

NO_CONTROLLER = -1
# The errors after which a client needs the leader, and not after UNKNOWN_LEADER_EPOCH: there the node is behind.
_STALE_LEADER = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


class _Partition(Protocol):
    @property
    def partition_index(self) -> int: ...

    @property
    def error_code(self) -> int: ...


P_co = TypeVar("P_co", bound=_Partition, covariant=True)


class _Topic(Protocol[P_co]):
    @property
    def topic_id(self) -> bytes: ...

    @property
    def partitions(self) -> Iterable[P_co]: ...


def find_endpoint(context: RequestContext, broker: BrokerRegistration) -> Endpoint | None:
    """Return the address of a broker for the client of a request, or None if the broker has no such listener.

    Source: MetadataCache.getAliveBrokerNode, Kafka 4.3.0.
    """
    if broker.node_id == context.node.node_id:
        return Endpoint(context.listener.advertised_host, context.listener.advertised_port)
    return broker.endpoints.get(context.listener.name)


def registered_brokers(context: RequestContext) -> Iterator[tuple[BrokerRegistration, Endpoint]]:
    """Yield all brokers with their addresses for the client of a request."""
    for broker in context.node.image.brokers:
        endpoint = find_endpoint(context, broker)
        if endpoint is not None:
            yield broker, endpoint


def alive_brokers(context: RequestContext) -> Iterator[tuple[BrokerRegistration, Endpoint]]:
    """Yield the brokers that are not fenced, with their addresses for the client of a request."""
    return ((broker, endpoint) for broker, endpoint in registered_brokers(context) if not broker.is_fenced)


def controller_id_of(context: RequestContext) -> int:
    """Return the id of the broker that clients send requests for the controller to.

    Kafka returns any broker that is alive, because each forwards them. Here it is this node, which the client has
    reached, or another one if this node is not registered any more; NO_CONTROLLER without any.
    Source: KRaftMetadataCache.getControllerId and getRandomAliveBroker, Kafka 4.3.0.
    """
    online = context.node.image.online_brokers()
    return context.node.node_id if context.node.node_id in online else min(online, default=NO_CONTROLLER)


def find_leader_after(error_code: int, context: RequestContext, topic_id: bytes, index: int) -> CurrentLeader | None:
    """Return the leader of a partition if an error tells that the client has an old one, else None.

    Source: KafkaApis.getCurrentLeader and its callers, Kafka 4.3.0.
    """
    topic = context.node.image.find_topic_by_id(topic_id)
    if error_code not in _STALE_LEADER or topic is None or not topic.has_partition(index):
        return None
    partition = topic.partitions[index]
    broker = context.node.image.find_broker(partition.leader_id)
    endpoint = None if broker is None else find_endpoint(context, broker)
    if broker is None or endpoint is None:
        return CurrentLeader(partition.leader_id, partition.leader_epoch)
    address = NodeEndpoint(broker.node_id, endpoint.host, endpoint.port, broker.rack)
    return CurrentLeader(partition.leader_id, partition.leader_epoch, address)


def leaders_after_errors(
    context: RequestContext, topics: Iterable[_Topic[P_co]]
) -> Iterator[tuple[P_co, CurrentLeader]]:
    """Yield the partitions of a response whose error tells that the client has an old leader, with the leader."""
    for topic in topics:
        for partition in topic.partitions:
            leader = find_leader_after(partition.error_code, context, topic.topic_id, partition.partition_index)
            if leader is not None:
                yield partition, leader


def endpoints_of(leaders: Iterable[CurrentLeader | None]) -> list[NodeEndpoint]:
    """Return the address of each leader once, in the order of their ids."""
    endpoints = {each.endpoint.node_id: each.endpoint for each in leaders if each is not None and each.endpoint}
    return [endpoints[node_id] for node_id in sorted(endpoints)]
