"""The APIs of the cluster, its configs and quotas."""

from __future__ import annotations

from ..acl_types import AclOperation
from .api import Api, ApiKey, Versions
from .authorization import CHECKED_BY_HANDLER, KAFKAS_TEXT, NAMED_REQUEST, OPEN, Authorization, needs_cluster
from .fields import NO_NODE, EntryList, ErrorFields, TopicList, partition_errors, partition_list

_RESOURCES = TopicList("resources", name="resource_name", resource_type="resource_type")

APIS = (
    Api(
        ApiKey.FIND_COORDINATOR,
        "FindCoordinator",
        Versions(0, 6, 3, by_release="2.1 0-2, 2.4 0-3, 3.0 0-4, 3.8 0-5, 3.9 0-6"),
        authorization=Authorization(has_own_rule=True, entries_have_text=False),
        entries=EntryList("coordinator_keys", "coordinators", key="key"),
        errors=ErrorFields(has_text=True, response_values=NO_NODE),
    ),
    Api(
        ApiKey.API_VERSIONS,
        "ApiVersions",
        Versions(0, 5, 3, by_release="2.1 0-2, 2.4 0-3, 3.9 0-4, 4.4 0-5"),
        authorization=OPEN,
    ),
    Api(
        ApiKey.DESCRIBE_CONFIGS,
        "DescribeConfigs",
        Versions(0, 4, 4, by_release="2.1 0-2, 2.6 0-3, 2.8 0-4, 4.0 1-4"),
        authorization=Authorization(configs=AclOperation.DESCRIBE_CONFIGS, part_text=KAFKAS_TEXT),
        requests=(_RESOURCES,),
        responses=(_RESOURCES._replace(topics="results", topic_error="error_code"),),
        errors=ErrorFields(has_text=True),
    ),
    Api(
        ApiKey.ALTER_CONFIGS,
        "AlterConfigs",
        Versions(0, 2, 2, by_release="2.1 0-1, 2.8 0-2"),
        authorization=Authorization(configs=AclOperation.ALTER_CONFIGS, part_text=KAFKAS_TEXT),
        requests=(_RESOURCES,),
        responses=(_RESOURCES._replace(topics="responses", topic_error="error_code"),),
        is_forwarded=True,
    ),
    Api(
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        "IncrementalAlterConfigs",
        Versions(0, 1, 1, by_release="2.3 0-0, 2.4 0-1"),
        authorization=Authorization(configs=AclOperation.ALTER_CONFIGS, part_text=KAFKAS_TEXT),
        requests=(_RESOURCES,),
        responses=(_RESOURCES._replace(topics="responses", topic_error="error_code"),),
        is_forwarded=True,
    ),
    Api(
        ApiKey.DESCRIBE_CLIENT_QUOTAS,
        "DescribeClientQuotas",
        Versions(0, 1, 1, by_release="2.6 0-0, 2.8 0-1"),
        authorization=needs_cluster(AclOperation.DESCRIBE_CONFIGS),
        errors=ErrorFields(response_values={"entries": None}),
    ),
    Api(
        ApiKey.ALTER_CLIENT_QUOTAS,
        "AlterClientQuotas",
        Versions(0, 1, 1, by_release="2.6 0-0, 2.8 0-1"),
        authorization=needs_cluster(AclOperation.ALTER_CONFIGS),
        entries=EntryList("entries", "entries", copied=("entity",)),
        errors=ErrorFields(has_text=True),
        is_forwarded=True,
    ),
    Api(
        ApiKey.DESCRIBE_QUORUM,
        "DescribeQuorum",
        Versions(0, 2, 0, by_release="3.3 0-1, 3.9 0-2"),
        authorization=needs_cluster(AclOperation.DESCRIBE),
        requests=(partition_list("topics", name="topic_name"),),
        responses=(partition_errors("topics", name="topic_name"),),
        errors=ErrorFields(has_text=True, last_version_with_topics=-1),
        is_forwarded=True,
    ),
    Api(
        ApiKey.UPDATE_FEATURES,
        "UpdateFeatures",
        Versions(0, 2, 0, by_release="2.7 0-0, 3.3 0-1, 4.0 0-2"),
        authorization=needs_cluster(AclOperation.ALTER, text=NAMED_REQUEST),
        is_forwarded=True,
    ),
    Api(
        ApiKey.DESCRIBE_CLUSTER,
        "DescribeCluster",
        Versions(0, 2, 0, by_release="2.8 0-0, 3.7 0-1, 4.0 0-2"),
        authorization=CHECKED_BY_HANDLER,
    ),
    Api(
        ApiKey.UNREGISTER_BROKER,
        "UnregisterBroker",
        Versions(0, 0, 0, by_release="3.3 0-0"),
        authorization=needs_cluster(AclOperation.ALTER, text=NAMED_REQUEST),
        errors=ErrorFields(has_text=True),
        is_forwarded=True,
    ),
    Api(
        ApiKey.LIST_CONFIG_RESOURCES,
        "ListConfigResources",
        Versions(0, 1, 0, by_release="3.7 0-0, 4.1 0-1"),
        authorization=needs_cluster(AclOperation.DESCRIBE_CONFIGS),
    ),
    Api(
        ApiKey.ADD_RAFT_VOTER,
        "AddRaftVoter",
        Versions(0, 1, 0, by_release="3.9 0-0, 4.2 0-1"),
        authorization=needs_cluster(AclOperation.ALTER),
        errors=ErrorFields(has_text=True),
        is_forwarded=True,
    ),
    Api(
        ApiKey.REMOVE_RAFT_VOTER,
        "RemoveRaftVoter",
        Versions(0, 0, 0, by_release="3.9 0-0"),
        authorization=needs_cluster(AclOperation.ALTER),
        errors=ErrorFields(has_text=True),
        is_forwarded=True,
    ),
    Api(
        ApiKey.UNREGISTER_CONTROLLER,
        "UnregisterController",
        Versions(0, 0, 0, by_release="4.4 0-0"),
        authorization=needs_cluster(AclOperation.ALTER, text=NAMED_REQUEST),
        errors=ErrorFields(has_text=True),
        is_forwarded=True,
    ),
)
