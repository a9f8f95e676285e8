"""What is known of an API: one record, from which everything that differs by API is derived.

The modules of subjects beside this one have the records, as the folders of broker.handlers. A record without an
authorization is an error at import.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import NamedTuple

from .authorization import Authorization
from .fields import EntryList, ErrorFields, TopicList

# flexible_since of an API without compact lengths and tagged fields: above every version.
NEVER_FLEXIBLE = 2**15

# A minor release of Kafka, as (major, minor).
Release = tuple[int, int]
# The release that a broker follows by default.
DEFAULT_RELEASE: Release = (4, 4)
# The first release with versions of its own.
OLDEST_RELEASE: Release = (2, 1)


class ApiKey(IntEnum):
    """Every API of Kafka 4.4, and those of Kafka 3.9 that a broker advertises here, by Kafka's name."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    LEADER_AND_ISR = 4
    STOP_REPLICA = 5
    UPDATE_METADATA = 6
    CONTROLLED_SHUTDOWN = 7
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
    STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE = 93
    UNREGISTER_CONTROLLER = 94


class Versions(NamedTuple):
    """The versions of an API.

    first, last: the first and the last one that is served, in any release.
    flexible_since: the first one with compact lengths and tagged fields, or NEVER_FLEXIBLE.
    by_release: the first and the last one of each release that changed them, such as "2.4 0-2, 3.3 none, 3.6 0-3".
    A release before the first one does not have the API. "" if each release has all versions.
    advertised_since: the first one that ApiVersions returns, where it is not the first one of the release.
    """

    first: int
    last: int
    flexible_since: int
    by_release: str = ""
    advertised_since: int | None = None

    @property
    def supported(self) -> range:
        """The versions of all releases, for which there are messages."""
        return range(self.first, self.last + 1)

    def in_release(self, release: Release) -> range:
        """Return the versions that a broker of the release serves; an empty range if it does not have the API.

        A release before OLDEST_RELEASE has the versions of that one.
        """
        versions = self._of_kafka(release)
        return range(max(versions.start, self.first), versions.stop)

    def advertised_in(self, release: Release) -> range:
        """Return the versions that ApiVersions of the release returns; an empty range if it does not have the API."""
        versions = self._of_kafka(release)
        if self.advertised_since is None or not versions:
            return versions
        return range(self.advertised_since, versions.stop)

    def _of_kafka(self, release: Release) -> range:
        return _versions_in(self.by_release, release) if self.by_release else self.supported


@cache
def _versions_in(by_release: str, release: Release) -> range:
    """Return the versions of a release by Versions.by_release."""
    followed, versions = max(release, OLDEST_RELEASE), "none"
    for entry in by_release.split(", "):
        since, changed = entry.split(" ")
        major, minor = since.split(".")
        if (int(major), int(minor)) > followed:
            break
        versions = changed
    if versions == "none":
        return range(0)
    first, last = versions.split("-")
    return range(int(first), int(last) + 1)


class Api(NamedTuple):
    """One API. A tuple, because it is faster to create, and start-up creates all of them.

    name: Kafka's name, the prefix of the request and response classes.
    requests, responses: where requests and responses name topics: a list of the response for each of the request, if
    the responses name topics as the requests do. Two lists where a version has another structure; one is then empty.
    entries: the list with one entry for each element.
    is_forwarded: Kafka's broker forwards the request to the controller.
    has_secrets: the journal does not keep its body.
    is_never_throttled: brokers send it, or clients that have not authenticated.
    """

    key: ApiKey
    name: str
    versions: Versions
    authorization: Authorization
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
    def module(self) -> str:
        """The name of its module in protocol.messages and in broker.handlers."""
        return self.key.name.lower()
