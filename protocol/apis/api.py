"""What is known of an API: one record, from which everything that differs by API is derived.

The modules beside this one have the records, one module a subject, as the folders of broker.handlers. A record without
an authorization is an error at import. Source of the error responses: AbstractRequest.getErrorResponse of each request;
of the authorization: KafkaApis and ControllerApis, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple, TypedDict, Unpack, cast

from ..acl_types import AclOperation, ResourceType
from ..message_fields import elements, number_in, text_in
from ..primitives import ZERO_UUID

# flexible_since of an API without compact lengths and tagged fields: above every version.
NEVER_FLEXIBLE = 2**15

# Returns the name of a topic id, None if the topic does not exist.
TopicNameOf = Callable[[bytes], "str | None"]

# ConfigResource.Type of Kafka.
TOPIC_RESOURCE = 2
GROUP_RESOURCE = 32

# The message of an error of authorization: Kafka's text of the error code; a sentence that names the request.
KAFKAS_TEXT = "Kafka's text"
NAMED_REQUEST = "the request"

# FindCoordinator's node fields for an unknown coordinator.
NO_NODE: Mapping[str, object] = MappingProxyType({"node_id": -1, "port": -1})
_NONE: Mapping[str, object] = MappingProxyType({})


class ApiKey(IntEnum):
    """Every API of Kafka 4.3, by Kafka's name."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    SASL_HANDSHAKE = 17
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    WRITE_TXN_MARKERS = 27
    TXN_OFFSET_COMMIT = 28
    DESCRIBE_ACLS = 29
    CREATE_ACLS = 30
    DELETE_ACLS = 31
    DESCRIBE_CONFIGS = 32
    ALTER_CONFIGS = 33
    ALTER_REPLICA_LOG_DIRS = 34
    DESCRIBE_LOG_DIRS = 35
    SASL_AUTHENTICATE = 36
    CREATE_PARTITIONS = 37
    CREATE_DELEGATION_TOKEN = 38
    RENEW_DELEGATION_TOKEN = 39
    EXPIRE_DELEGATION_TOKEN = 40
    DESCRIBE_DELEGATION_TOKEN = 41
    DELETE_GROUPS = 42
    ELECT_LEADERS = 43
    INCREMENTAL_ALTER_CONFIGS = 44
    ALTER_PARTITION_REASSIGNMENTS = 45
    LIST_PARTITION_REASSIGNMENTS = 46
    OFFSET_DELETE = 47
    DESCRIBE_CLIENT_QUOTAS = 48
    ALTER_CLIENT_QUOTAS = 49
    DESCRIBE_USER_SCRAM_CREDENTIALS = 50
    ALTER_USER_SCRAM_CREDENTIALS = 51
    VOTE = 52
    BEGIN_QUORUM_EPOCH = 53
    END_QUORUM_EPOCH = 54
    DESCRIBE_QUORUM = 55
    ALTER_PARTITION = 56
    UPDATE_FEATURES = 57
    ENVELOPE = 58
    FETCH_SNAPSHOT = 59
    DESCRIBE_CLUSTER = 60
    DESCRIBE_PRODUCERS = 61
    BROKER_REGISTRATION = 62
    BROKER_HEARTBEAT = 63
    UNREGISTER_BROKER = 64
    DESCRIBE_TRANSACTIONS = 65
    LIST_TRANSACTIONS = 66
    ALLOCATE_PRODUCER_IDS = 67
    CONSUMER_GROUP_HEARTBEAT = 68
    CONSUMER_GROUP_DESCRIBE = 69
    CONTROLLER_REGISTRATION = 70
    GET_TELEMETRY_SUBSCRIPTIONS = 71
    PUSH_TELEMETRY = 72
    ASSIGN_REPLICAS_TO_DIRS = 73
    LIST_CONFIG_RESOURCES = 74
    DESCRIBE_TOPIC_PARTITIONS = 75
    SHARE_GROUP_HEARTBEAT = 76
    SHARE_GROUP_DESCRIBE = 77
    SHARE_FETCH = 78
    SHARE_ACKNOWLEDGE = 79
    ADD_RAFT_VOTER = 80
    REMOVE_RAFT_VOTER = 81
    UPDATE_RAFT_VOTER = 82
    INITIALIZE_SHARE_GROUP_STATE = 83
    READ_SHARE_GROUP_STATE = 84
    WRITE_SHARE_GROUP_STATE = 85
    DELETE_SHARE_GROUP_STATE = 86
    READ_SHARE_GROUP_STATE_SUMMARY = 87
    STREAMS_GROUP_HEARTBEAT = 88
    STREAMS_GROUP_DESCRIBE = 89
    DESCRIBE_SHARE_GROUP_OFFSETS = 90
    ALTER_SHARE_GROUP_OFFSETS = 91
    DELETE_SHARE_GROUP_OFFSETS = 92


class TopicListFields(TypedDict, total=False):
    """The fields of a TopicList that most of them do not have."""

    topic_id: str
    partitions: str
    index: str
    owners: str
    owner_key: str
    error: str
    topic_error: str
    resource_type: str


class TopicList:
    """The field names of one list of topics; "" for a field that the messages do not have.

    owners: the list of the messages that hold the list of topics (groups, transactions), "" if the request or response
    itself holds it. owner_key: the field that identifies an owner.
    topics: the list. name, topic_id: the fields of a topic; a list of strings has neither.
    partitions: the list in each topic. index: the field of a partition; a list of numbers has none.
    error: in responses, the error code of a partition, or of a topic without partitions.
    topic_error: in responses, the error code of a topic.
    resource_type: the field with the type of an element, if the list also has elements that are not topics.
    """

    __slots__ = (
        "error",
        "index",
        "name",
        "owner_key",
        "owners",
        "partitions",
        "resource_type",
        "topic_error",
        "topic_id",
        "topics",
    )

    def __init__(self, topics: str, name: str = "name", **fields: Unpack[TopicListFields]) -> None:
        """The fields as in the class; "" for those that are not given."""
        self.topics = topics
        self.name = name
        self.topic_id = fields.get("topic_id", "")
        self.partitions = fields.get("partitions", "")
        self.index = fields.get("index", "")
        self.owners = fields.get("owners", "")
        self.owner_key = fields.get("owner_key", "")
        self.error = fields.get("error", "")
        self.topic_error = fields.get("topic_error", "")
        self.resource_type = fields.get("resource_type", "")

    def owner_messages(self, message: object) -> list[object]:
        """Return the messages that hold a list of topics: the owners, or message itself."""
        return elements(message, self.owners) if self.owners else [message]

    def topic_name(self, topic: object, topic_name_of: TopicNameOf) -> str | None:
        """Return the name of a topic, looked up by id if it has none; None for an unknown topic and other resources."""
        if self.resource_type and number_in(topic, self.resource_type, TOPIC_RESOURCE) != TOPIC_RESOURCE:
            return None
        name = topic if isinstance(topic, str) else text_in(topic, self.name) if self.name else ""
        if name or not self.topic_id:
            return name or None
        topic_id = cast(bytes, getattr(topic, self.topic_id))
        return None if topic_id == ZERO_UUID else topic_name_of(topic_id)

    def partition_index(self, partition: object) -> int:
        """Return the index of an element of the partitions."""
        return cast(int, partition) if not self.index else number_in(partition, self.index, -1)

    def named_topics(self, message: object, topic_name_of: TopicNameOf) -> Iterator[tuple[str, object]]:
        """Yield name and element of each known topic of all owners."""
        for owner in self.owner_messages(message):
            yield from self.topics_of(owner, topic_name_of)

    def topics_of(self, owner: object, topic_name_of: TopicNameOf) -> Iterator[tuple[str, object]]:
        """Yield name and element of each known topic of one owner."""
        for topic in elements(owner, self.topics):
            name = self.topic_name(topic, topic_name_of)
            if name is not None:
                yield name, topic


class EntryList(NamedTuple):
    """The field names of a list in the request and of the list in the response with one entry for each element.

    key: the field of the entry that holds the element, if the elements are strings.
    copied: the fields that are copied from the element, if the elements are messages.
    """

    request_field: str
    response_field: str
    key: str = ""
    copied: tuple[str, ...] = ()


class ErrorFields(NamedTuple):
    """What the error responses have beside their error codes.

    has_text: the entries carry Kafka's text of the error; the others leave error_message null.
    partition_values, response_values: fields whose value is not the default of the message.
    last_version_with_topics: the last version whose error response has an entry for each topic; later ones have one
    error for the whole response or for each group. -1: no version has entries.
    merges_topics: Kafka keeps the topics in maps: a partition that is named twice has one entry, a topic without
    partitions has none.
    """

    has_text: bool = False
    partition_values: Mapping[str, object] = _NONE
    response_values: Mapping[str, object] = _NONE
    last_version_with_topics: int = NEVER_FLEXIBLE
    merges_topics: bool = False


class Need(NamedTuple):
    """An operation on the resource that a field of the request names."""

    operation: AclOperation
    resource_type: ResourceType
    field: str


class ClusterNeed(NamedTuple):
    """One of these operations on the cluster."""

    operations: tuple[AclOperation, ...]


def on_cluster(*operations: AclOperation) -> ClusterNeed:
    """Return the need of one of the operations on the cluster."""
    return ClusterNeed(operations)


class Authorization(NamedTuple):
    """What a request demands of its client.

    whole: of the request as a whole, in Kafka's order. has_own_rule: there is more, in
    broker.requests.authorization_rules. entries: on each entry of the API's EntryList. configs: on each resource whose
    configs are named. topics: on each topic; or_on_cluster allows every topic.
    is_handled_without_topics: the handler checks the group or session before the topics, so even without any.
    whole_text, part_text: the message of the error of the whole request, or of entries and topics; "" where it has none
    of its own. entries_have_text: whether the entries have it too.
    is_checked_by_handler: the handler checks what it finds. is_open: every client may send it.
    """

    whole: tuple[Need | ClusterNeed, ...] = ()
    has_own_rule: bool = False
    entries: tuple[AclOperation, ResourceType] | None = None
    configs: AclOperation | None = None
    topics: AclOperation | None = None
    or_on_cluster: AclOperation | None = None
    is_handled_without_topics: bool = False
    whole_text: str = ""
    part_text: str = ""
    entries_have_text: bool = True
    is_checked_by_handler: bool = False
    is_open: bool = False

    @property
    def is_checked_before(self) -> bool:
        """Whether the request is checked before its handler sees it."""
        return not self.is_checked_by_handler and not self.is_open


# The handler checks each topic, batch, group or transaction, or who the client is.
CHECKED_BY_HANDLER = Authorization(is_checked_by_handler=True)
# Before it is known who the client is, or every request is refused.
OPEN = Authorization(is_open=True)


class Api(NamedTuple):
    """One API. A tuple, because it is faster to create, and start-up creates all of them.

    name: Kafka's name, the prefix of the request and response classes.
    first_version, last_version: the supported versions.
    flexible_since: the first version with compact lengths and tagged fields, or NEVER_FLEXIBLE.
    advertised_since: the first version that ApiVersions returns, if it is not the first supported one.
    requests, responses: where requests and responses name topics: a list of the response for each of the request, if
    the responses name topics as the requests do. Two lists where a version has another structure; one is then empty.
    entries: the list with one entry for each element.
    is_forwarded: Kafka's broker forwards the request to the controller.
    has_secrets: the journal does not keep its body.
    is_never_throttled: brokers send it, or clients that have not authenticated.
    """

    key: ApiKey
    name: str
    first_version: int
    last_version: int
    flexible_since: int
    authorization: Authorization
    advertised_since: int | None = None
    requests: tuple[TopicList, ...] = ()
    responses: tuple[TopicList, ...] = ()
    entries: EntryList | None = None
    errors: ErrorFields = ErrorFields()
    is_forwarded: bool = False
    has_secrets: bool = False
    is_never_throttled: bool = False

    def __hash__(self) -> int:
        """Return the hash of the key: the mappings of the record have none."""
        return hash(self.key)

    @property
    def first_advertised(self) -> int:
        """The first version that ApiVersions returns."""
        return self.first_version if self.advertised_since is None else self.advertised_since

    @property
    def module(self) -> str:
        """The name of its module in protocol.messages and in broker.handlers."""
        return self.key.name.lower()
