"""Authorizes requests before their handlers see them, if the broker has an authorizer (Kafka: KafkaApis, AuthHelper).

Rules:
- First come the checks of the request as a whole, in the order of Kafka. The first that fails is its error.
- Then the groups, transactional ids and other entries of a list are checked one by one, then the topics. What the
  client may not have is taken out of the request, the handler gets the rest, and the errors are added to the response.
- Handlers check themselves what depends on what they find: Produce, Fetch and Metadata, and all that list everything.
Source: KafkaApis and ControllerApis, Kafka 4.3.0; tests/golden/acls-4.3.0.jsonl.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, cast

from ...protocol.api_keys import Api, ApiKey
from ...protocol.error_codes import ErrorCode
from ...protocol.error_messages import ERROR_MESSAGES
from ...protocol.errors import error_responses
from ...protocol.errors.error_entries import ENTRY_LISTS, NO_NODE, new_entry, set_values
from ...protocol.errors.response_frames import decode_response_frame, encode_response_frame, error_holders
from ...protocol.message import Message
from ...protocol.message_types import elements, number_in, request_type, text_in
from ...protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from ...protocol.messages.share_fetch import ShareFetchRequest
from ...protocol.primitives import Reader, Writer
from ...protocol.topic_lists import GROUP_RESOURCE, TOPIC_RESOURCE, request_lists
from ..config.config_resources import ResourceType as ConfigResourceType
from ..runtime.deferred import Buffers, Deferred
from ..runtime.long_work import Steps, in_thread
from ..security.acl.acl_types import AclOperation, ResourceType
from .fault_ports import joined
from .permissions import permits, permits_on_any, permits_on_cluster
from .request_context import LARGE_BODY_BYTES, RequestContext, RequestHandler

# key_type of FindCoordinator.
_COORDINATED = {0: ResourceType.GROUP, 1: ResourceType.TRANSACTIONAL_ID}
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
    ApiKey.ALTER_CLIENT_QUOTAS: _cluster(AclOperation.ALTER_CONFIGS),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: _cluster(AclOperation.ALTER),
    ApiKey.ALTER_REPLICA_LOG_DIRS: _cluster(AclOperation.ALTER),
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: (_READ_GROUP,),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _cluster(AclOperation.ALTER),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: (_READ_GROUP,),
    ApiKey.CREATE_ACLS: _cluster(AclOperation.ALTER),
    ApiKey.DELETE_ACLS: _cluster(AclOperation.ALTER),
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: (_DELETE_GROUP,),
    ApiKey.DESCRIBE_ACLS: _cluster(AclOperation.DESCRIBE),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: _cluster(AclOperation.DESCRIBE_CONFIGS),
    ApiKey.DESCRIBE_LOG_DIRS: _cluster(AclOperation.DESCRIBE),
    ApiKey.DESCRIBE_QUORUM: _cluster(AclOperation.DESCRIBE),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: _cluster(AclOperation.DESCRIBE),
    ApiKey.ELECT_LEADERS: _cluster(AclOperation.ALTER),
    ApiKey.END_TXN: (_WRITE_TRANSACTION,),
    ApiKey.HEARTBEAT: (_READ_GROUP,),
    ApiKey.JOIN_GROUP: (_READ_GROUP,),
    ApiKey.LEAVE_GROUP: (_READ_GROUP,),
    ApiKey.LIST_CONFIG_RESOURCES: _cluster(AclOperation.DESCRIBE_CONFIGS),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: _cluster(AclOperation.DESCRIBE),
    ApiKey.OFFSET_COMMIT: (_READ_GROUP,),
    ApiKey.OFFSET_DELETE: (_DELETE_GROUP,),
    ApiKey.SHARE_ACKNOWLEDGE: (_READ_GROUP,),
    ApiKey.SHARE_FETCH: (_READ_GROUP,),
    ApiKey.SHARE_GROUP_HEARTBEAT: (_READ_GROUP,),
    ApiKey.SYNC_GROUP: (_READ_GROUP,),
    ApiKey.TXN_OFFSET_COMMIT: (_WRITE_TRANSACTION, _READ_GROUP),
    ApiKey.UNREGISTER_BROKER: _cluster(AclOperation.ALTER),
    ApiKey.UPDATE_FEATURES: _cluster(AclOperation.ALTER),
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
_ON_CONFIGS: Mapping[ApiKey, AclOperation] = {
    ApiKey.ALTER_CONFIGS: AclOperation.ALTER_CONFIGS,
    ApiKey.DESCRIBE_CONFIGS: AclOperation.DESCRIBE_CONFIGS,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: AclOperation.ALTER_CONFIGS,
}
# What the types of these resources are for ACLs; the configs of all others belong to the cluster.
_CONFIGS_OF = {TOPIC_RESOURCE: ResourceType.TOPIC, GROUP_RESOURCE: ResourceType.GROUP}

# The message of the errors of entries and topics, "" for Kafka's text of the error.
_WITH_TEXT: Mapping[ApiKey, str] = {
    ApiKey.ALTER_CONFIGS: "",
    ApiKey.CREATE_TOPICS: "Authorization failed.",
    ApiKey.DESCRIBE_CONFIGS: "",
    ApiKey.DESCRIBE_PRODUCERS: "",
    ApiKey.INCREMENTAL_ALTER_CONFIGS: "",
}
# Their entries have a text with other errors only.
_WITHOUT_TEXT = frozenset({ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, ApiKey.FIND_COORDINATOR})
# The error of the whole request has a message that names the request and what it needs.
_NAMED = frozenset(
    {
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.CREATE_ACLS,
        ApiKey.DELETE_ACLS,
        ApiKey.DESCRIBE_ACLS,
        ApiKey.ELECT_LEADERS,
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        ApiKey.UNREGISTER_BROKER,
        ApiKey.UPDATE_FEATURES,
    }
)

# An entry that the client may not have, and its error.
_DeniedEntry = tuple[object, ErrorCode]


def authorizing(api: Api, handler: RequestHandler) -> RequestHandler:
    """Return the handler of an API with the checks of its requests, or itself if it makes them all."""
    return AuthorizingHandler(api, handler) if api.key in _AUTHORIZED else handler


class AuthorizingHandler:
    """A RequestHandler whose requests reach the handler of their API as far as the client may have them."""

    __slots__ = ("_api", "_handler")

    def __init__(self, api: Api, handler: RequestHandler) -> None:
        """handler: of the API."""
        self._api = api
        self._handler = handler

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Check the request, and handle what the client may have. Raises FrameError."""
        steps = self._authorize(context, bytes(frame[position:end]))
        return context.node.long_work.run(steps, context.connection)

    def _authorize(self, context: RequestContext, body: bytes) -> Steps[Buffers | Deferred[Buffers]]:
        api, version = self._api, context.api_version

        def read() -> Message:
            return request_type(api).read(Reader.of_request(body), version)

        request = (yield from in_thread(read)) if len(body) > LARGE_BODY_BYTES else read()
        error = _request_error(context, api, request)
        if error is not None and isinstance(request, DescribeUserScramCredentialsRequest) and request.users is None:
            # Kafka fails while it makes the response with the error, and sends none.
            return Deferred()
        if error is not None:
            return self._refuse(context, body, error)
        denied = yield from _denied_entries(context, api, request)
        if denied:
            # What is checked and handled from here on is the rest.
            body = _encoded(request, version)
        topics = yield from _denied_topics(context, api, request)
        if api.key is ApiKey.ADD_PARTITIONS_TO_TXN and topics:
            return self._refuse_partitions(context, body, topics)
        response = self._handle(context, body, topics, is_empty=bool(denied) and not _has_entries(api, request))
        return _changed(response, lambda buffers: _with_entries(context, api, buffers, denied)) if denied else response

    def _refuse(self, context: RequestContext, body: bytes, error: ErrorCode) -> Buffers:
        context.error_code = error
        refused = error_responses.error_response(
            self._api, context.api_version, context.correlation_id, memoryview(body), error
        )
        if self._api.key not in _NAMED:
            return [refused]
        correlation_id, response = decode_response_frame(self._api, context.api_version, refused)
        operation = cast(_ClusterNeed, _NEEDS[self._api.key][0]).operations[0]
        message = f"Request {self._api.name} needs {operation.name} permission."
        for holder, _ in error_holders(response):
            if hasattr(holder, "error_message"):
                set_values(holder, {"error_message": message})
        return [encode_response_frame(self._api, context.api_version, correlation_id, response)]

    def _refuse_partitions(self, context: RequestContext, body: bytes, topics: set[str]) -> Buffers:
        """Return the response to an AddPartitionsToTxn of which some topics are denied: it is not attempted."""
        (frame,) = self._refuse(context, body, ErrorCode.OPERATION_NOT_ATTEMPTED)
        refused = error_responses.overwrite_errors(
            self._api,
            context.api_version,
            bytes(frame),
            lambda name, index: name in topics,
            ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            context.node.image.topic_name_of,
        )
        return [refused]

    def _handle(
        self, context: RequestContext, body: bytes, topics: set[str], *, is_empty: bool
    ) -> Buffers | Deferred[Buffers]:
        """Handle the request without the denied topics, and add their errors to the response."""
        api, version = self._api, context.api_version
        topic_name_of = context.node.image.topic_name_of

        def is_denied(name: str, index: int | None) -> bool:
            return name in topics

        rest: bytes | None = None if is_empty else body
        if topics and not is_empty:
            rest = error_responses.remove_selected(api, version, memoryview(body), is_denied, topic_name_of)
        if rest is None and api.key is ApiKey.SHARE_FETCH:
            # Its session is made all the same.
            rest = _without_topics(body, version)
        if rest is None:
            response: Buffers | Deferred[Buffers] | None
            response = [error_responses.empty_response(api, version, context.correlation_id)]
        else:
            response = self._handler.handle(context, memoryview(rest), 0, len(rest))
        assert response is not None, "only a Produce has no response"
        if not topics:
            return response

        def with_errors(buffers: Buffers) -> Buffers:
            error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            frame = joined(buffers)
            added = error_responses.add_errors(api, version, frame, memoryview(body), is_denied, error, topic_name_of)
            return [_completed(context, api, added)]

        return _changed(response, with_errors)


def _changed(
    response: Buffers | Deferred[Buffers], change: Callable[[Buffers], Buffers]
) -> Buffers | Deferred[Buffers]:
    return response.encoded_by(change) if isinstance(response, Deferred) else change(response)


def _request_error(context: RequestContext, api: Api, request: Message) -> ErrorCode | None:
    """Return the error of the request as a whole, or None."""
    for need in _NEEDS.get(api.key, ()):
        error = need.error(context, request)
        if error is not None:
            return error
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


def _subscription_error(context: RequestContext, request: Message) -> ErrorCode | None:
    names = cast("list[str]", elements(request, "subscribed_topic_names"))
    if all(permits(context, AclOperation.DESCRIBE, ResourceType.TOPIC, name) for name in names):
        return None
    return ErrorCode.TOPIC_AUTHORIZATION_FAILED


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
    if api.key in _ON_CONFIGS:
        return "resources"
    return ENTRY_LISTS[api.key].request_field if api.key in _ON_ENTRIES or api.key is ApiKey.FIND_COORDINATOR else ""


def _has_entries(api: Api, request: Message) -> bool:
    return bool(elements(request, _entry_list(api)))


def _denied_entries(context: RequestContext, api: Api, request: Message) -> Steps[list[_DeniedEntry]]:
    """Take the entries out of the request that the client may not have, and return them."""
    field = _entry_list(api)
    denied: list[_DeniedEntry] = []
    if not field:
        return denied
    entries = elements(request, field)
    kept: list[object] = []
    for entry in entries:
        error = _entry_error(context, api, request, entry)
        if error is None:
            kept.append(entry)
        else:
            denied.append((entry, error))
        yield None
    entries[:] = kept
    return denied


def _entry_error(context: RequestContext, api: Api, request: Message, entry: object) -> ErrorCode | None:
    if api.key in _ON_CONFIGS:
        return _configs_error(context, _ON_CONFIGS[api.key], entry)
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


def _denied_topics(context: RequestContext, api: Api, request: Message) -> Steps[set[str]]:
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


def _with_entries(context: RequestContext, api: Api, buffers: Buffers, denied: Iterable[_DeniedEntry]) -> Buffers:
    """Return the response with the error entries of what was taken out of the request."""
    correlation_id, response = decode_response_frame(api, context.api_version, joined(buffers))
    for entry, error in denied:
        if api.key in _ON_CONFIGS:
            field = "results" if api.key is ApiKey.DESCRIBE_CONFIGS else "responses"
            answer = new_entry(api, response, field, error)
            copied: tuple[str, ...] = ("resource_type", "resource_name")
        else:
            entry_list = ENTRY_LISTS[api.key]
            answer = new_entry(api, response, entry_list.response_field, error)
            copied = entry_list.copied
            if entry_list.key:
                set_values(answer, {entry_list.key: entry})
        if api.key is ApiKey.FIND_COORDINATOR:
            set_values(answer, NO_NODE)
        set_values(answer, {name: cast(object, getattr(entry, name)) for name in copied})
        set_values(answer, _entry_message(api, answer, error))
    return [encode_response_frame(api, context.api_version, correlation_id, response)]


def _completed(context: RequestContext, api: Api, frame: bytearray) -> bytearray:
    """Return the response with what else the errors of denied topics have."""
    correlation_id, response = decode_response_frame(api, context.api_version, frame)
    for holder, field in error_holders(response):
        if getattr(holder, field) == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            set_values(holder, _topic_message(api))
            if api.key is ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS:
                set_values(holder, {"start_offset": -1})
    if api.key is ApiKey.ALTER_SHARE_GROUP_OFFSETS:
        for entry in elements(response, "responses"):
            topic = context.node.image.find_topic(text_in(entry, "topic_name"))
            set_values(entry, {} if topic is None else {"topic_id": topic.topic_id})
    return encode_response_frame(api, context.api_version, correlation_id, response)


def _topic_message(api: Api) -> dict[str, object]:
    text = _WITH_TEXT.get(api.key)
    if text is None:
        return {}
    return {"error_message": text or ERROR_MESSAGES[ErrorCode.TOPIC_AUTHORIZATION_FAILED]}


def _entry_message(api: Api, entry: object, error: ErrorCode) -> dict[str, object]:
    """Return the message of the error of an entry where it differs from that of other errors."""
    if api.key in _WITHOUT_TEXT and error is not ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        return {"error_message": cast("str | None", getattr(type(entry)(), "error_message", None))}
    if number_in(entry, "resource_type", 0) == ConfigResourceType.BROKER_LOGGER and api.key is not ApiKey.ALTER_CONFIGS:
        # Kafka's broker refuses these, and its controller the others.
        return {}
    return {"error_message": _WITH_TEXT[api.key] or ERROR_MESSAGES[error]} if api.key in _WITH_TEXT else {}


def _without_topics(body: bytes, version: int) -> bytes:
    request = ShareFetchRequest.read(Reader.of_request(body), version)
    request.topics = []
    return _encoded(request, version)


def _encoded(request: Message, version: int) -> bytes:
    writer = Writer()
    request.write(writer, version)
    return writer.getvalue()


# What finds the error of a request as a whole where it takes more than _NEEDS.
_FIND_ERROR: Mapping[ApiKey, Callable[[RequestContext, Message], ErrorCode | None]] = {
    ApiKey.ADD_PARTITIONS_TO_TXN: _add_partitions_error,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: _subscription_error,
    ApiKey.FIND_COORDINATOR: _single_coordinator_error,
    ApiKey.INIT_PRODUCER_ID: _init_producer_id_error,
    ApiKey.OFFSET_FETCH: _single_offsets_error,
    ApiKey.SHARE_GROUP_HEARTBEAT: _subscription_error,
}
# The APIs whose requests are authorized here.
_AUTHORIZED = frozenset(
    {
        *_NEEDS,
        *_ON_TOPICS,
        *_ON_ENTRIES,
        *_ON_CONFIGS,
        *_FIND_ERROR,
    }
)
