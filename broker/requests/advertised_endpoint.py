"""The addresses of brokers in responses: those of the listener whose clients get the response."""

from __future__ import annotations

from collections.abc import Iterator

from ...protocol.current_leader import CurrentLeader, NodeEndpoint
from ...protocol.error_codes import ErrorCode
from ..metadata.metadata_image import BrokerRegistration, Endpoint
from .request_context import RequestContext

NO_CONTROLLER = -1
# The errors after which a client needs the leader, and not after UNKNOWN_LEADER_EPOCH: there the node is behind.
_STALE_LEADER = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


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
