"""What a request needs: the operations on the cluster, on groups, topics and transactional ids (Kafka: KafkaApis).

Rules:
- First come the checks of the request as a whole, in the order of Kafka. The first that fails is its error.
- Then the groups, transactional ids and other entries of a list are checked one by one, then the topics.
- Handlers check themselves what depends on what they find: Produce, Fetch and Metadata, and all that list everything.
Source: KafkaApis and ControllerApis, Kafka 4.3.0; tests/golden/acls-4.3.0.jsonl.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import cast

from ...protocol.acl_types import AclOperation, ResourceType
from ...protocol.api_keys import APIS, Api, ApiKey
from ...protocol.apis.authorization import ClusterNeed, Need
from ...protocol.apis.fields import GROUP_RESOURCE, TOPIC_RESOURCE
from ...protocol.error_codes import ErrorCode
from ...protocol.message import Message
from ...protocol.message_fields import elements, number_in, text_in
from ..coordinators.internal_topics import CoordinatorType
from ..metadata.config_changes import RequestedChange, is_refused_unauthorized
from ..runtime.long_work import step
from .permissions import may_describe_topic, permits, permits_on_any, permits_on_cluster
from .request_context import RequestContext

# What the key of a FindCoordinator is, by its type; for other types the client needs the cluster.
_COORDINATED: Mapping[int, ResourceType] = {
    CoordinatorType.GROUP: ResourceType.GROUP,
    CoordinatorType.TRANSACTION: ResourceType.TRANSACTIONAL_ID,
}
_DENIED = {
    ResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
}
# Up to this version, AddPartitionsToTxn is a request of a client.
_LAST_CLIENT_ADD_PARTITIONS = 3


# What the types of these resources are for ACLs; the configs of all others belong to the cluster.
_CONFIGS_OF = {TOPIC_RESOURCE: ResourceType.TOPIC, GROUP_RESOURCE: ResourceType.GROUP}

_WRITE_TRANSACTION = Need(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, "transactional_id")

# An entry that the client may not have, and its error.
DeniedEntry = tuple[object, ErrorCode]


def operation_on_cluster(api: Api) -> AclOperation:
    """Return the first operation on the cluster that allows the requests of an API."""
    (need,) = api.authorization.whole
    assert isinstance(need, ClusterNeed), f"{api.name} needs no operation on the cluster"
    return need.operations[0]


def _error_of(context: RequestContext, request: Message, need: Need | ClusterNeed) -> ErrorCode | None:
    if isinstance(need, ClusterNeed):
        if any(permits_on_cluster(context, operation) for operation in need.operations):
            return None
        return ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    name = text_in(request, need.field)
    return None if permits(context, need.operation, need.resource_type, name) else _DENIED[need.resource_type]


async def request_error(context: RequestContext, api: Api, request: Message) -> ErrorCode | None:
    """Return the error of the request as a whole, or None."""
    for need in api.authorization.whole:
        error = _error_of(context, request, need)
        if error is not None:
            return error
    return await _FIND_ERROR[api.key](context, request) if api.authorization.has_own_rule else None


async def _add_partitions_error(context: RequestContext, request: Message) -> ErrorCode | None:
    if context.api_version > _LAST_CLIENT_ADD_PARTITIONS:
        return _error_of(context, request, ClusterNeed((AclOperation.CLUSTER_ACTION,)))
    return _error_of(context, request, _WRITE_TRANSACTION._replace(field="v3_and_below_transactional_id"))


async def _single_coordinator_error(context: RequestContext, request: Message) -> ErrorCode | None:
    """Return the error of a FindCoordinator of one key; later versions have a list of them."""
    if elements(request, "coordinator_keys"):
        return None
    return _coordinator_error(context, request, text_in(request, "key"))


async def _single_offsets_error(context: RequestContext, request: Message) -> ErrorCode | None:
    """Return the error of an OffsetFetch of one group; later versions have a list of them."""
    if elements(request, "groups"):
        return None
    return _error_of(context, request, Need(AclOperation.DESCRIBE, ResourceType.GROUP, "group_id"))


async def _subscription_error(context: RequestContext, request: Message) -> ErrorCode | None:
    for name in cast("list[str]", elements(request, "subscribed_topic_names")):
        if not may_describe_topic(context, name):
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED
        await step()
    return None


async def _init_producer_id_error(context: RequestContext, request: Message) -> ErrorCode | None:
    """Return the error of an InitProducerId. To write to any topic allows idempotent producers (KIP-679)."""
    if text_in(request, "transactional_id"):
        return _error_of(context, request, _WRITE_TRANSACTION)
    if permits_on_cluster(context, AclOperation.IDEMPOTENT_WRITE):
        return None
    if permits_on_any(context, AclOperation.WRITE, ResourceType.TOPIC):
        return None
    return ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def _coordinator_error(context: RequestContext, request: Message, key: str) -> ErrorCode | None:
    resource_type = _COORDINATED.get(number_in(request, "key_type", 0))
    if resource_type is None:
        return _error_of(context, request, ClusterNeed((AclOperation.CLUSTER_ACTION,)))
    return None if permits(context, AclOperation.DESCRIBE, resource_type, key) else _DENIED[resource_type]


def _entry_list(api: Api) -> str:
    """Return the field of the request with the entries that are checked one by one, "" for none."""
    if api.authorization.configs is not None:
        return "resources"
    is_checked = api.authorization.entries is not None or api.key is ApiKey.FIND_COORDINATOR
    return api.entries.request_field if is_checked and api.entries is not None else ""


def has_entries(api: Api, request: Message) -> bool:
    """Return whether an entry is left in a request that had some."""
    return bool(elements(request, _entry_list(api)))


async def denied_entries(context: RequestContext, api: Api, request: Message) -> list[DeniedEntry]:
    """Take the entries out of the request that the client may not have, and return them.

    A change of configs that is invalid anyway stays, as Kafka's broker finds that first.
    """
    field = _entry_list(api)
    denied: list[DeniedEntry] = []
    if not field:
        return denied
    entries = elements(request, field)
    kept: list[object] = []
    for entry in entries:
        error = _entry_error(context, api, request, entry)
        if error is not None and api.authorization.configs is AclOperation.ALTER_CONFIGS:
            is_incremental = api.key is ApiKey.INCREMENTAL_ALTER_CONFIGS
            change = cast(RequestedChange, entry)
            if await is_refused_unauthorized(context.node, change, is_incremental=is_incremental):
                error = None
        if error is None:
            kept.append(entry)
        else:
            denied.append((entry, error))
        await step()
    entries[:] = kept
    return denied


def _entry_error(context: RequestContext, api: Api, request: Message, entry: object) -> ErrorCode | None:
    if api.authorization.configs is not None:
        return _configs_error(context, api.authorization.configs, entry)
    key = entry if isinstance(entry, str) else text_in(entry, "group_id")
    if api.key is ApiKey.FIND_COORDINATOR:
        return _coordinator_error(context, request, key)
    assert api.authorization.entries is not None, "the entries are checked"
    operation, resource_type = api.authorization.entries
    return None if permits(context, operation, resource_type, key) else _DENIED[resource_type]


def _configs_error(context: RequestContext, operation: AclOperation, resource: object) -> ErrorCode | None:
    resource_type = _CONFIGS_OF.get(number_in(resource, "resource_type", 0))
    if resource_type is None:
        return _error_of(context, cast(Message, resource), ClusterNeed((operation,)))
    name = text_in(resource, "resource_name")
    return None if permits(context, operation, resource_type, name) else _DENIED[resource_type]


async def denied_topics(context: RequestContext, api: Api, request: Message) -> set[str]:
    """Return the names of the topics that the client may not have."""
    denied: set[str] = set()
    operation, instead = api.authorization.topics, api.authorization.or_on_cluster
    if api.key is ApiKey.ADD_PARTITIONS_TO_TXN and context.api_version > _LAST_CLIENT_ADD_PARTITIONS:
        return denied
    if operation is None or (instead is not None and permits_on_cluster(context, instead)):
        return denied
    for each in api.requests:
        names = [name for name, _ in each.named_topics(request, context.node.image.topic_name_of)]
        # To name a topic twice is an error of its own in CreateTopics.
        twice = {name for name, count in Counter(names).items() if count > 1} if api.key is ApiKey.CREATE_TOPICS else ()
        for name in dict.fromkeys(names):
            if name not in twice and not permits(context, operation, ResourceType.TOPIC, name):
                denied.add(name)
            await step()
    return denied


# What finds the error of a request as a whole where it takes more than _NEEDS.
_FIND_ERROR: Mapping[ApiKey, Callable[[RequestContext, Message], Awaitable[ErrorCode | None]]] = {
    ApiKey.ADD_PARTITIONS_TO_TXN: _add_partitions_error,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: _subscription_error,
    ApiKey.FIND_COORDINATOR: _single_coordinator_error,
    ApiKey.INIT_PRODUCER_ID: _init_producer_id_error,
    ApiKey.OFFSET_FETCH: _single_offsets_error,
    ApiKey.SHARE_GROUP_HEARTBEAT: _subscription_error,
}
_UNMATCHED = _FIND_ERROR.keys() ^ {api.key for api in APIS.values() if api.authorization.has_own_rule}
assert not _UNMATCHED, f"has_own_rule and the rules here differ in {_UNMATCHED}"
