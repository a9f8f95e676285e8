"""What the client of a request may do (Kafka: AuthHelper). Without an authorizer that is everything.

Source: AuthHelper, AclEntry.supportedOperations and KafkaApis.allowTokenRequests, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING

from ...protocol.acl_types import CLUSTER_NAME, AclOperation, ResourceType
from ..runtime.long_work import for_each
from ..security.principal import ANONYMOUS, Client

if TYPE_CHECKING:
    from .request_context import RequestContext

# The message for a group of which the client may describe the group, and not its topics.
DESCRIBED_TOPICS_DENIED = "The group has described topic(s) that the client is not authorized to describe."

_SUPPORTED = {
    ResourceType.TOPIC: (
        AclOperation.READ,
        AclOperation.WRITE,
        AclOperation.CREATE,
        AclOperation.DELETE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
    ),
    ResourceType.CLUSTER: (
        AclOperation.CREATE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
        AclOperation.CLUSTER_ACTION,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
        AclOperation.IDEMPOTENT_WRITE,
    ),
    ResourceType.GROUP: (
        AclOperation.READ,
        AclOperation.DELETE,
        AclOperation.DESCRIBE,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
    ),
}
_ALL_BITS = {
    resource_type: sum(1 << operation for operation in operations) for resource_type, operations in _SUPPORTED.items()
}


def permits(context: RequestContext, operation: AclOperation, resource_type: ResourceType, name: str) -> bool:
    """Return whether the client may do this with the resource of that name."""
    node = context.node
    if node.authorizer is None:
        return True
    return node.authorizer.allows(node.image.security.acls, _client_of(context), operation, resource_type, name)


def permits_on_cluster(context: RequestContext, operation: AclOperation) -> bool:
    """Return whether the client may do this with the cluster."""
    return permits(context, operation, ResourceType.CLUSTER, CLUSTER_NAME)


def may_describe_topic(context: RequestContext, name: str) -> bool:
    """Return whether the client may describe a topic."""
    return permits(context, AclOperation.DESCRIBE, ResourceType.TOPIC, name)


def may_describe_topics(context: RequestContext, names: Iterable[str]) -> bool:
    """Return whether the client may describe each of the topics."""
    return all(may_describe_topic(context, name) for name in names)


async def describable_topics(context: RequestContext, names: Iterable[str]) -> list[str]:
    """Return the given topics that the client may describe."""
    asked = list(names)
    if context.node.authorizer is None:
        return asked
    answers = await for_each(partial(may_describe_topic, context), asked)
    return list(compress(asked, answers))


def permits_on_any(context: RequestContext, operation: AclOperation, resource_type: ResourceType) -> bool:
    """Return whether the client may do this with some resource of the type."""
    node = context.node
    if node.authorizer is None:
        return True
    return node.authorizer.allows_any(node.image.security.acls, _client_of(context), operation, resource_type)


def allows_token_requests(context: RequestContext) -> bool:
    """Return whether the client may send requests for delegation tokens.

    A client needs SASL or a certificate, and may not have authenticated with a token itself.
    """
    sasl = context.connection.sasl
    if sasl is not None:
        return not sasl.is_token_authenticated
    return context.connection.principal != ANONYMOUS


def authorized_operations(context: RequestContext, resource_type: ResourceType, name: str) -> int:
    """Return the bits of the operations that a resource supports and the client may do."""
    if context.node.authorizer is None:
        return _ALL_BITS[resource_type]
    return sum(
        1 << operation for operation in _SUPPORTED[resource_type] if permits(context, operation, resource_type, name)
    )


def authorized_operations_on_cluster(context: RequestContext) -> int:
    """Return the bits of the operations that the client may do with the cluster; none if it may not describe it."""
    if not permits_on_cluster(context, AclOperation.DESCRIBE):
        return 0
    return authorized_operations(context, ResourceType.CLUSTER, CLUSTER_NAME)


def _client_of(context: RequestContext) -> Client:
    return Client(context.connection.principal, context.connection.client_host)
