"""What a request needs: the operations on the cluster, on groups, topics and transactional ids (Kafka: KafkaApis).

Rules:
- First come the checks of the request as a whole, in the order of Kafka. The first that fails is its error.
- Then the groups, transactional ids and other entries of a list are checked one by one, then the topics.
- Handlers check themselves what depends on what they find: Produce, Fetch and Metadata, and all that list everything.
Source: KafkaApis and ControllerApis, Kafka 4.3.0; tests/golden/acls-4.3.0.jsonl.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple, cast

from ...protocol.api_keys import Api, ApiKey
from ...protocol.error_codes import ErrorCode
from ...protocol.errors.error_entries import ENTRY_LISTS
from ...protocol.message import Message
from ...protocol.message_types import elements, number_in, text_in
from ...protocol.topic_lists import GROUP_RESOURCE, TOPIC_RESOURCE, request_lists
from ..coordinators.internal_topics import CoordinatorType
from ..metadata.config_changes import RequestedChange, is_refused_unauthorized
from ..runtime.long_work import Steps
from ..security.acl.acl_types import AclOperation, ResourceType
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


class _Need(NamedTuple):
    """What a request needs as a whole: an operation on the resource that a field names."""

    operation: AclOperation
    resource_type: ResourceType
    field: str

    def error(self, context: RequestContext, request: Message) -> ErrorCode | None:
        name = text_in(request, self.field)
        return None if permits(context, self.operation, self.resource_type, name) else _DENIED[self.resource_type]


class _ClusterNeed(NamedTuple):
    """What a request needs as a whole: one of these operations on the cluster."""

    operations: tuple[AclOperation, ...]

    def error(self, context: RequestContext, request: Message) -> ErrorCode | None:
        if any(permits_on_cluster(context, operation) for operation in self.operations):
            return None
        return ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def _cluster(*operations: AclOperation) -> tuple[_ClusterNeed]:
    return (_ClusterNeed(operations),)


_READ_GROUP = _Need(AclOperation.READ, ResourceType.GROUP, "group_id")
_DELETE_GROUP = _Need(AclOperation.DELETE, ResourceType.GROUP, "group_id")
_WRITE_TRANSACTION = _Need(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, "transactional_id")

_NEEDS: Mapping[ApiKey, tuple[_Need | _ClusterNeed, ...]] = {
    ApiKey.ADD_OFFSETS_TO_TXN: (_WRITE_TRANSACTION, _READ_GROUP),
    ApiKey.ADD_RAFT_VOTER: _cluster(AclOperation.ALTER),
    ApiKey.ALTER_CLIENT_QUOTAS: _cluster(AclOperation.ALTER_CONFIGS),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: _cluster(AclOperation.ALTER),
    ApiKey.ALTER_REPLICA_LOG_DIRS: _cluster(AclOperation.ALTER),
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: (_READ_GROUP,),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _cluster(AclOperation.ALTER),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: (_READ_GROUP,),
    ApiKey.CREATE_ACLS: _cluster(AclOperation.ALTER),
    ApiKey.DELETE_ACLS: _cluster(AclOperation.ALTER),
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: (_DELETE_GROUP,),
    ApiKey.DELETE_SHARE_GROUP_STATE: _cluster(AclOperation.CLUSTER_ACTION),
    ApiKey.DESCRIBE_ACLS: _cluster(AclOperation.DESCRIBE),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: _cluster(AclOperation.DESCRIBE_CONFIGS),
    ApiKey.DESCRIBE_LOG_DIRS: _cluster(AclOperation.DESCRIBE),
    ApiKey.DESCRIBE_QUORUM: _cluster(AclOperation.DESCRIBE),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: _cluster(AclOperation.DESCRIBE),
    ApiKey.ELECT_LEADERS: _cluster(AclOperation.ALTER),
    ApiKey.END_TXN: (_WRITE_TRANSACTION,),
    ApiKey.HEARTBEAT: (_READ_GROUP,),
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: _cluster(AclOperation.CLUSTER_ACTION),
    ApiKey.JOIN_GROUP: (_READ_GROUP,),
    ApiKey.LEAVE_GROUP: (_READ_GROUP,),
    ApiKey.LIST_CONFIG_RESOURCES: _cluster(AclOperation.DESCRIBE_CONFIGS),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: _cluster(AclOperation.DESCRIBE),
    ApiKey.OFFSET_COMMIT: (_READ_GROUP,),
    ApiKey.OFFSET_DELETE: (_DELETE_GROUP,),
    ApiKey.READ_SHARE_GROUP_STATE: _cluster(AclOperation.CLUSTER_ACTION),
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: _cluster(AclOperation.CLUSTER_ACTION),
    ApiKey.REMOVE_RAFT_VOTER: _cluster(AclOperation.ALTER),
    ApiKey.SHARE_ACKNOWLEDGE: (_READ_GROUP,),
    ApiKey.SHARE_FETCH: (_READ_GROUP,),
    ApiKey.SHARE_GROUP_HEARTBEAT: (_READ_GROUP,),
    ApiKey.SYNC_GROUP: (_READ_GROUP,),
    ApiKey.TXN_OFFSET_COMMIT: (_WRITE_TRANSACTION, _READ_GROUP),
    ApiKey.UNREGISTER_BROKER: _cluster(AclOperation.ALTER),
    ApiKey.UPDATE_FEATURES: _cluster(AclOperation.ALTER),
    ApiKey.WRITE_SHARE_GROUP_STATE: _cluster(AclOperation.CLUSTER_ACTION),
    ApiKey.WRITE_TXN_MARKERS: _cluster(AclOperation.ALTER, AclOperation.CLUSTER_ACTION),
}

# The operation on each topic that a request names.
_ON_TOPICS: Mapping[ApiKey, AclOperation] = {
    ApiKey.ADD_PARTITIONS_TO_TXN: AclOperation.WRITE,
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: AclOperation.READ,
    ApiKey.CREATE_PARTITIONS: AclOperation.ALTER,
    ApiKey.CREATE_TOPICS: AclOperation.CREATE,
    ApiKey.DELETE_RECORDS: AclOperation.DELETE,
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: AclOperation.READ,
    ApiKey.DESCRIBE_PRODUCERS: AclOperation.READ,
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: AclOperation.DESCRIBE,
    ApiKey.LIST_OFFSETS: AclOperation.DESCRIBE,
    ApiKey.OFFSET_COMMIT: AclOperation.READ,
    ApiKey.OFFSET_DELETE: AclOperation.READ,
    ApiKey.OFFSET_FETCH: AclOperation.DESCRIBE,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: AclOperation.DESCRIBE,
    ApiKey.SHARE_ACKNOWLEDGE: AclOperation.READ,
    ApiKey.SHARE_FETCH: AclOperation.READ,
    ApiKey.TXN_OFFSET_COMMIT: AclOperation.READ,
}
# The operation on the cluster that allows one of these on every topic.
_CLUSTER_FOR_TOPICS: Mapping[ApiKey, AclOperation] = {
    ApiKey.CREATE_TOPICS: AclOperation.CREATE,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: AclOperation.CLUSTER_ACTION,
}

# The operation on each entry of the list that is in ENTRY_LISTS.
_ON_ENTRIES: Mapping[ApiKey, tuple[AclOperation, ResourceType]] = {
    ApiKey.CONSUMER_GROUP_DESCRIBE: (AclOperation.DESCRIBE, ResourceType.GROUP),
    ApiKey.DELETE_GROUPS: (AclOperation.DELETE, ResourceType.GROUP),
    ApiKey.DESCRIBE_GROUPS: (AclOperation.DESCRIBE, ResourceType.GROUP),
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: (AclOperation.DESCRIBE, ResourceType.GROUP),
    ApiKey.DESCRIBE_TRANSACTIONS: (AclOperation.DESCRIBE, ResourceType.TRANSACTIONAL_ID),
    ApiKey.OFFSET_FETCH: (AclOperation.DESCRIBE, ResourceType.GROUP),
    ApiKey.SHARE_GROUP_DESCRIBE: (AclOperation.DESCRIBE, ResourceType.GROUP),
}
# The operation on each resource of the requests for configs.
ON_CONFIGS: Mapping[ApiKey, AclOperation] = {
    ApiKey.ALTER_CONFIGS: AclOperation.ALTER_CONFIGS,
    ApiKey.DESCRIBE_CONFIGS: AclOperation.DESCRIBE_CONFIGS,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: AclOperation.ALTER_CONFIGS,
}
_CHANGES_OF_CONFIGS = ON_CONFIGS.keys() - {ApiKey.DESCRIBE_CONFIGS}
# What the types of these resources are for ACLs; the configs of all others belong to the cluster.
_CONFIGS_OF = {TOPIC_RESOURCE: ResourceType.TOPIC, GROUP_RESOURCE: ResourceType.GROUP}

# An entry that the client may not have, and its error.
DeniedEntry = tuple[object, ErrorCode]


def operation_on_cluster(api: Api) -> AclOperation:
    """Return the first operation on the cluster that allows the requests of an API."""
    (need,) = _NEEDS[api.key]
    assert isinstance(need, _ClusterNeed), f"{api.name} needs no operation on the cluster"
    return need.operations[0]


def request_error(context: RequestContext, api: Api, request: Message) -> Steps[ErrorCode | None]:
    """Return the error of the request as a whole, or None."""
    for need in _NEEDS.get(api.key, ()):
        error = need.error(context, request)
        if error is not None:
            return error
    if api.key in _SUBSCRIBING:
        return (yield from _subscription_error(context, request))
    find_error = _FIND_ERROR.get(api.key)
    return None if find_error is None else find_error(context, request)


def _add_partitions_error(context: RequestContext, request: Message) -> ErrorCode | None:
    if context.api_version > _LAST_CLIENT_ADD_PARTITIONS:
        return _ClusterNeed((AclOperation.CLUSTER_ACTION,)).error(context, request)
    return _WRITE_TRANSACTION._replace(field="v3_and_below_transactional_id").error(context, request)


def _single_coordinator_error(context: RequestContext, request: Message) -> ErrorCode | None:
    """Return the error of a FindCoordinator of one key; later versions have a list of them."""
    if elements(request, "coordinator_keys"):
        return None
    return _coordinator_error(context, request, text_in(request, "key"))


def _single_offsets_error(context: RequestContext, request: Message) -> ErrorCode | None:
    """Return the error of an OffsetFetch of one group; later versions have a list of them."""
    if elements(request, "groups"):
        return None
    return _Need(AclOperation.DESCRIBE, ResourceType.GROUP, "group_id").error(context, request)


def _subscription_error(context: RequestContext, request: Message) -> Steps[ErrorCode | None]:
    for name in cast("list[str]", elements(request, "subscribed_topic_names")):
        if not may_describe_topic(context, name):
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED
        yield None
    return None


def _init_producer_id_error(context: RequestContext, request: Message) -> ErrorCode | None:
    """Return the error of an InitProducerId. To write to any topic allows idempotent producers (KIP-679)."""
    if text_in(request, "transactional_id"):
        return _WRITE_TRANSACTION.error(context, request)
    if permits_on_cluster(context, AclOperation.IDEMPOTENT_WRITE):
        return None
    if permits_on_any(context, AclOperation.WRITE, ResourceType.TOPIC):
        return None
    return ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def _coordinator_error(context: RequestContext, request: Message, key: str) -> ErrorCode | None:
    resource_type = _COORDINATED.get(number_in(request, "key_type", 0))
    if resource_type is None:
        return _ClusterNeed((AclOperation.CLUSTER_ACTION,)).error(context, request)
    return None if permits(context, AclOperation.DESCRIBE, resource_type, key) else _DENIED[resource_type]


def _entry_list(api: Api) -> str:
    """Return the field of the request with the entries that are checked one by one, "" for none."""
    if api.key in ON_CONFIGS:
        return "resources"
    return ENTRY_LISTS[api.key].request_field if api.key in _ON_ENTRIES or api.key is ApiKey.FIND_COORDINATOR else ""


def has_entries(api: Api, request: Message) -> bool:
    """Return whether an entry is left in a request that had some."""
    return bool(elements(request, _entry_list(api)))


def denied_entries(context: RequestContext, api: Api, request: Message) -> Steps[list[DeniedEntry]]:
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
        if error is not None and api.key in _CHANGES_OF_CONFIGS:
            is_incremental = api.key is ApiKey.INCREMENTAL_ALTER_CONFIGS
            change = cast(RequestedChange, entry)
            if (yield from is_refused_unauthorized(context.node, change, is_incremental=is_incremental)):
                error = None
        if error is None:
            kept.append(entry)
        else:
            denied.append((entry, error))
        yield None
    entries[:] = kept
    return denied


def _entry_error(context: RequestContext, api: Api, request: Message, entry: object) -> ErrorCode | None:
    if api.key in ON_CONFIGS:
        return _configs_error(context, ON_CONFIGS[api.key], entry)
    key = entry if isinstance(entry, str) else text_in(entry, "group_id")
    if api.key is ApiKey.FIND_COORDINATOR:
        return _coordinator_error(context, request, key)
    operation, resource_type = _ON_ENTRIES[api.key]
    return None if permits(context, operation, resource_type, key) else _DENIED[resource_type]


def _configs_error(context: RequestContext, operation: AclOperation, resource: object) -> ErrorCode | None:
    resource_type = _CONFIGS_OF.get(number_in(resource, "resource_type", 0))
    if resource_type is None:
        return _ClusterNeed((operation,)).error(context, cast(Message, resource))
    name = text_in(resource, "resource_name")
    return None if permits(context, operation, resource_type, name) else _DENIED[resource_type]


def denied_topics(context: RequestContext, api: Api, request: Message) -> Steps[set[str]]:
    """Return the names of the topics that the client may not have."""
    denied: set[str] = set()
    operation = _ON_TOPICS.get(api.key)
    on_cluster = _CLUSTER_FOR_TOPICS.get(api.key)
    if api.key is ApiKey.ADD_PARTITIONS_TO_TXN and context.api_version > _LAST_CLIENT_ADD_PARTITIONS:
        return denied
    if operation is None or (on_cluster is not None and permits_on_cluster(context, on_cluster)):
        return denied
    for each in request_lists(api):
        names = [name for name, _ in each.named_topics(request, context.node.image.topic_name_of)]
        # To name a topic twice is an error of its own in CreateTopics.
        twice = {name for name, count in Counter(names).items() if count > 1} if api.key is ApiKey.CREATE_TOPICS else ()
        for name in dict.fromkeys(names):
            if name not in twice and not permits(context, operation, ResourceType.TOPIC, name):
                denied.add(name)
            yield None
    return denied


# What finds the error of a request as a whole where it takes more than _NEEDS.
_FIND_ERROR: Mapping[ApiKey, Callable[[RequestContext, Message], ErrorCode | None]] = {
    ApiKey.ADD_PARTITIONS_TO_TXN: _add_partitions_error,
    ApiKey.FIND_COORDINATOR: _single_coordinator_error,
    ApiKey.INIT_PRODUCER_ID: _init_producer_id_error,
    ApiKey.OFFSET_FETCH: _single_offsets_error,
}
# Their requests name the topics that a member of a group subscribes to.
_SUBSCRIBING = frozenset({ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_HEARTBEAT})
# The APIs whose requests are authorized here.
AUTHORIZED = frozenset(
    {
        *_NEEDS,
        *_ON_TOPICS,
        *_ON_ENTRIES,
        *ON_CONFIGS,
        *_FIND_ERROR,
    }
)
