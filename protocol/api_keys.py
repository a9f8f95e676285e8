"""The APIs and versions that a broker of Kafka 4.3 advertises; ApiVersions responds with this table.

ApiKey also has the APIs that Kafka defines but a broker does not advertise: those between controllers, and client
telemetry, which needs a metrics reporter. Unreleased versions (InitProducerId 6) are left out.
Source: tests/golden/api_versions-4.3.0.json, and ApiKeys of Kafka 4.3.0 for the first version of Produce.
"""

from enum import IntEnum
from typing import NamedTuple

# flexible_since of an API without compact lengths and tagged fields: above every version.
NEVER_FLEXIBLE = 2**15


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


# Produce 0 to 2 are advertised but rejected: old librdkafka disables compression for a broker that does not advertise
# Produce 0 (KAFKA-18659).
FIRST_ADVERTISED = {ApiKey.PRODUCE: 0}


class Api(NamedTuple):
    """One API. A tuple, because it is faster to create, and start-up creates all of them.

    name: Kafka's name, the prefix of the request and response classes.
    module: the name of its module in protocol.messages and in broker.handlers.
    first_version, last_version: the supported versions.
    flexible_since: the first version with compact lengths and tagged fields, or NEVER_FLEXIBLE.
    """

    key: ApiKey
    name: str
    module: str
    first_version: int
    last_version: int
    flexible_since: int

    @property
    def first_advertised(self) -> int:
        """The first version that ApiVersions returns."""
        return FIRST_ADVERTISED.get(self.key, self.first_version)


_SERVED = (
    Api(ApiKey.PRODUCE, "Produce", "produce", 3, 13, 9),
    Api(ApiKey.FETCH, "Fetch", "fetch", 4, 18, 12),
    Api(ApiKey.LIST_OFFSETS, "ListOffsets", "list_offsets", 1, 11, 6),
    Api(ApiKey.METADATA, "Metadata", "metadata", 0, 13, 9),
    Api(ApiKey.OFFSET_COMMIT, "OffsetCommit", "offset_commit", 2, 10, 8),
    Api(ApiKey.OFFSET_FETCH, "OffsetFetch", "offset_fetch", 1, 10, 6),
    Api(ApiKey.FIND_COORDINATOR, "FindCoordinator", "find_coordinator", 0, 6, 3),
    Api(ApiKey.JOIN_GROUP, "JoinGroup", "join_group", 0, 9, 6),
    Api(ApiKey.HEARTBEAT, "Heartbeat", "heartbeat", 0, 4, 4),
    Api(ApiKey.LEAVE_GROUP, "LeaveGroup", "leave_group", 0, 5, 4),
    Api(ApiKey.SYNC_GROUP, "SyncGroup", "sync_group", 0, 5, 4),
    Api(ApiKey.DESCRIBE_GROUPS, "DescribeGroups", "describe_groups", 0, 6, 5),
    Api(ApiKey.LIST_GROUPS, "ListGroups", "list_groups", 0, 5, 3),
    Api(ApiKey.SASL_HANDSHAKE, "SaslHandshake", "sasl_handshake", 0, 1, NEVER_FLEXIBLE),
    Api(ApiKey.API_VERSIONS, "ApiVersions", "api_versions", 0, 4, 3),
    Api(ApiKey.CREATE_TOPICS, "CreateTopics", "create_topics", 2, 7, 5),
    Api(ApiKey.DELETE_TOPICS, "DeleteTopics", "delete_topics", 1, 6, 4),
    Api(ApiKey.DELETE_RECORDS, "DeleteRecords", "delete_records", 0, 2, 2),
    Api(ApiKey.INIT_PRODUCER_ID, "InitProducerId", "init_producer_id", 0, 5, 2),
    Api(ApiKey.OFFSET_FOR_LEADER_EPOCH, "OffsetForLeaderEpoch", "offset_for_leader_epoch", 2, 4, 4),
    Api(ApiKey.ADD_PARTITIONS_TO_TXN, "AddPartitionsToTxn", "add_partitions_to_txn", 0, 5, 3),
    Api(ApiKey.ADD_OFFSETS_TO_TXN, "AddOffsetsToTxn", "add_offsets_to_txn", 0, 4, 3),
    Api(ApiKey.END_TXN, "EndTxn", "end_txn", 0, 5, 3),
    Api(ApiKey.WRITE_TXN_MARKERS, "WriteTxnMarkers", "write_txn_markers", 1, 2, 1),
    Api(ApiKey.TXN_OFFSET_COMMIT, "TxnOffsetCommit", "txn_offset_commit", 0, 5, 3),
    Api(ApiKey.DESCRIBE_ACLS, "DescribeAcls", "describe_acls", 1, 3, 2),
    Api(ApiKey.CREATE_ACLS, "CreateAcls", "create_acls", 1, 3, 2),
    Api(ApiKey.DELETE_ACLS, "DeleteAcls", "delete_acls", 1, 3, 2),
    Api(ApiKey.DESCRIBE_CONFIGS, "DescribeConfigs", "describe_configs", 1, 4, 4),
    Api(ApiKey.ALTER_CONFIGS, "AlterConfigs", "alter_configs", 0, 2, 2),
    Api(ApiKey.ALTER_REPLICA_LOG_DIRS, "AlterReplicaLogDirs", "alter_replica_log_dirs", 1, 2, 2),
    Api(ApiKey.DESCRIBE_LOG_DIRS, "DescribeLogDirs", "describe_log_dirs", 1, 5, 2),
    Api(ApiKey.SASL_AUTHENTICATE, "SaslAuthenticate", "sasl_authenticate", 0, 2, 2),
    Api(ApiKey.CREATE_PARTITIONS, "CreatePartitions", "create_partitions", 0, 3, 2),
    Api(ApiKey.CREATE_DELEGATION_TOKEN, "CreateDelegationToken", "create_delegation_token", 1, 3, 2),
    Api(ApiKey.RENEW_DELEGATION_TOKEN, "RenewDelegationToken", "renew_delegation_token", 1, 2, 2),
    Api(ApiKey.EXPIRE_DELEGATION_TOKEN, "ExpireDelegationToken", "expire_delegation_token", 1, 2, 2),
    Api(ApiKey.DESCRIBE_DELEGATION_TOKEN, "DescribeDelegationToken", "describe_delegation_token", 1, 3, 2),
    Api(ApiKey.DELETE_GROUPS, "DeleteGroups", "delete_groups", 0, 2, 2),
    Api(ApiKey.ELECT_LEADERS, "ElectLeaders", "elect_leaders", 0, 2, 2),
    Api(ApiKey.INCREMENTAL_ALTER_CONFIGS, "IncrementalAlterConfigs", "incremental_alter_configs", 0, 1, 1),
    Api(ApiKey.ALTER_PARTITION_REASSIGNMENTS, "AlterPartitionReassignments", "alter_partition_reassignments", 0, 1, 0),
    Api(ApiKey.LIST_PARTITION_REASSIGNMENTS, "ListPartitionReassignments", "list_partition_reassignments", 0, 0, 0),
    Api(ApiKey.OFFSET_DELETE, "OffsetDelete", "offset_delete", 0, 0, NEVER_FLEXIBLE),
    Api(ApiKey.DESCRIBE_CLIENT_QUOTAS, "DescribeClientQuotas", "describe_client_quotas", 0, 1, 1),
    Api(ApiKey.ALTER_CLIENT_QUOTAS, "AlterClientQuotas", "alter_client_quotas", 0, 1, 1),
    Api(
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        "DescribeUserScramCredentials",
        "describe_user_scram_credentials",
        0,
        0,
        0,
    ),
    Api(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, "AlterUserScramCredentials", "alter_user_scram_credentials", 0, 0, 0),
    Api(ApiKey.DESCRIBE_QUORUM, "DescribeQuorum", "describe_quorum", 0, 2, 0),
    Api(ApiKey.UPDATE_FEATURES, "UpdateFeatures", "update_features", 0, 2, 0),
    Api(ApiKey.DESCRIBE_CLUSTER, "DescribeCluster", "describe_cluster", 0, 2, 0),
    Api(ApiKey.DESCRIBE_PRODUCERS, "DescribeProducers", "describe_producers", 0, 0, 0),
    Api(ApiKey.UNREGISTER_BROKER, "UnregisterBroker", "unregister_broker", 0, 0, 0),
    Api(ApiKey.DESCRIBE_TRANSACTIONS, "DescribeTransactions", "describe_transactions", 0, 0, 0),
    Api(ApiKey.LIST_TRANSACTIONS, "ListTransactions", "list_transactions", 0, 2, 0),
    Api(ApiKey.CONSUMER_GROUP_HEARTBEAT, "ConsumerGroupHeartbeat", "consumer_group_heartbeat", 0, 1, 0),
    Api(ApiKey.CONSUMER_GROUP_DESCRIBE, "ConsumerGroupDescribe", "consumer_group_describe", 0, 1, 0),
    Api(ApiKey.LIST_CONFIG_RESOURCES, "ListConfigResources", "list_config_resources", 0, 1, 0),
    Api(ApiKey.DESCRIBE_TOPIC_PARTITIONS, "DescribeTopicPartitions", "describe_topic_partitions", 0, 0, 0),
    Api(ApiKey.SHARE_GROUP_HEARTBEAT, "ShareGroupHeartbeat", "share_group_heartbeat", 1, 1, 1),
    Api(ApiKey.SHARE_GROUP_DESCRIBE, "ShareGroupDescribe", "share_group_describe", 1, 1, 1),
    Api(ApiKey.SHARE_FETCH, "ShareFetch", "share_fetch", 1, 2, 1),
    Api(ApiKey.SHARE_ACKNOWLEDGE, "ShareAcknowledge", "share_acknowledge", 1, 2, 1),
    Api(ApiKey.ADD_RAFT_VOTER, "AddRaftVoter", "add_raft_voter", 0, 1, 0),
    Api(ApiKey.REMOVE_RAFT_VOTER, "RemoveRaftVoter", "remove_raft_voter", 0, 0, 0),
    Api(ApiKey.INITIALIZE_SHARE_GROUP_STATE, "InitializeShareGroupState", "initialize_share_group_state", 0, 0, 0),
    Api(ApiKey.READ_SHARE_GROUP_STATE, "ReadShareGroupState", "read_share_group_state", 0, 0, 0),
    Api(ApiKey.WRITE_SHARE_GROUP_STATE, "WriteShareGroupState", "write_share_group_state", 0, 1, 0),
    Api(ApiKey.DELETE_SHARE_GROUP_STATE, "DeleteShareGroupState", "delete_share_group_state", 0, 0, 0),
    Api(ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, "ReadShareGroupStateSummary", "read_share_group_state_summary", 0, 1, 0),
    Api(ApiKey.STREAMS_GROUP_HEARTBEAT, "StreamsGroupHeartbeat", "streams_group_heartbeat", 0, 0, 0),
    Api(ApiKey.STREAMS_GROUP_DESCRIBE, "StreamsGroupDescribe", "streams_group_describe", 0, 0, 0),
    Api(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, "DescribeShareGroupOffsets", "describe_share_group_offsets", 0, 1, 0),
    Api(ApiKey.ALTER_SHARE_GROUP_OFFSETS, "AlterShareGroupOffsets", "alter_share_group_offsets", 0, 0, 0),
    Api(ApiKey.DELETE_SHARE_GROUP_OFFSETS, "DeleteShareGroupOffsets", "delete_share_group_offsets", 0, 0, 0),
)

APIS: dict[int, Api] = {api.key: api for api in _SERVED}


def api_name_of(api_key: int) -> str:
    """Return Kafka's name of an API, served or not; "api key N" for a number that Kafka does not use."""
    api = APIS.get(api_key)
    if api is not None:
        return api.name
    try:
        return ApiKey(api_key).name.title().replace("_", "")
    except ValueError:
        return f"api key {api_key}"
