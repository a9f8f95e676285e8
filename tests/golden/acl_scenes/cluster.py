"""The APIs that need an operation of the cluster."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.messages.add_raft_voter import AddRaftVoterRequest
from fauxka.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    OpData,
    RequestEntryData,
)
from fauxka.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from fauxka.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from fauxka.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
)
from fauxka.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from fauxka.protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from fauxka.protocol.messages.describe_delegation_token import DescribeDelegationTokenRequest
from fauxka.protocol.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from fauxka.protocol.messages.describe_quorum import DescribeQuorumRequest, RequestPartitionData, RequestTopicData
from fauxka.protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName
from fauxka.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from fauxka.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from fauxka.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from fauxka.protocol.messages.unregister_broker import UnregisterBrokerRequest
from fauxka.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest

from ..acl_recorder import AclCase, each
from ..acl_scene import MISSING_ID, Scene
from ..acls import Acls, on, on_cluster, on_topic

TIMEOUT_MS = 10_000
METADATA_TOPIC = "__cluster_metadata"
MISSING_NODE = 99
SCRAM_SHA_256 = 1
EXACT = 0


@dataclass(frozen=True)
class ClusterApi:
    """One API. operation: what it needs. lesser: of the cluster, and not enough. request_for: of a topic's name."""

    title: str
    version: int
    operation: str
    lesser: str
    request_for: Callable[[str], RequestMessage]

    def cases(self) -> list[AclCase]:
        """Return a case for each set of ACLs."""
        acls: Mapping[str, Acls] = {
            "no ACL": (),
            f"ALL of the topic, {self.lesser}": on_topic("topic", "ALL") + on_cluster(self.lesser),
            self.operation: on_cluster(self.operation),
        }
        return each(f"{self.title} v{self.version}", self._steps, acls)

    def _steps(self, scene: Scene) -> None:
        topic = scene.topic("topic")
        scene.send(self.version, self.request_for(topic.name))


def _alter_log_dirs(topic: str) -> AlterReplicaLogDirsRequest:
    topics = [AlterReplicaLogDirTopic(name=topic, partitions=[0])]
    return AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path="/no/log/dir", topics=topics)])


def _describe_log_dirs(topic: str) -> DescribeLogDirsRequest:
    return DescribeLogDirsRequest(topics=[DescribableLogDirTopic(topic=topic, partitions=[0])])


def _elect(topic: str) -> ElectLeadersRequest:
    partitions = TopicPartitions(topic=topic, partitions=[0])
    return ElectLeadersRequest(topic_partitions=[partitions], timeout_ms=TIMEOUT_MS)


def _reassign(topic: str) -> AlterPartitionReassignmentsRequest:
    partitions = [ReassignablePartition(partition_index=0, replicas=[1])]
    return AlterPartitionReassignmentsRequest(
        timeout_ms=TIMEOUT_MS, topics=[ReassignableTopic(name=topic, partitions=partitions)]
    )


def _list_reassignments(topic: str) -> ListPartitionReassignmentsRequest:
    topics = [ListPartitionReassignmentsTopics(name=topic, partition_indexes=[0])]
    return ListPartitionReassignmentsRequest(timeout_ms=TIMEOUT_MS, topics=topics)


def _describe_quotas(name: str) -> DescribeClientQuotasRequest:
    component = ComponentData(entity_type="user", match_type=EXACT, match=name)
    return DescribeClientQuotasRequest(components=[component])


def _alter_quotas(name: str) -> AlterClientQuotasRequest:
    entry = RequestEntryData(
        entity=[EntityData(entity_type="user", entity_name=name)],
        ops=[OpData(key="producer_byte_rate", value=1024.0)],
    )
    return AlterClientQuotasRequest(entries=[entry])


def _describe_credentials(name: str) -> DescribeUserScramCredentialsRequest:
    return DescribeUserScramCredentialsRequest(users=[UserName(name=name)])


def _alter_credentials(name: str) -> AlterUserScramCredentialsRequest:
    return AlterUserScramCredentialsRequest(deletions=[ScramCredentialDeletion(name=name, mechanism=SCRAM_SHA_256)])


def _update_features(_: str) -> UpdateFeaturesRequest:
    update = FeatureUpdateKey(feature="no.such.feature", max_version_level=1)
    return UpdateFeaturesRequest(timeout_ms=TIMEOUT_MS, feature_updates=[update], validate_only=True)


def _describe_quorum(_: str) -> DescribeQuorumRequest:
    topic = RequestTopicData(topic_name=METADATA_TOPIC, partitions=[RequestPartitionData(partition_index=0)])
    return DescribeQuorumRequest(topics=[topic])


def _unregister(_: str) -> UnregisterBrokerRequest:
    return UnregisterBrokerRequest(broker_id=MISSING_NODE)


def _add_voter(_: str) -> AddRaftVoterRequest:
    return AddRaftVoterRequest(
        cluster_id=None, timeout_ms=TIMEOUT_MS, voter_id=MISSING_NODE, voter_directory_id=MISSING_ID
    )


def _remove_voter(_: str) -> RemoveRaftVoterRequest:
    return RemoveRaftVoterRequest(cluster_id=None, voter_id=MISSING_NODE, voter_directory_id=MISSING_ID)


APIS = (
    ClusterApi("AlterReplicaLogDirs", 2, "ALTER", "DESCRIBE", _alter_log_dirs),
    ClusterApi("DescribeLogDirs", 4, "DESCRIBE", "DESCRIBE_CONFIGS", _describe_log_dirs),
    ClusterApi("ElectLeaders", 2, "ALTER", "DESCRIBE", _elect),
    ClusterApi("AlterPartitionReassignments", 1, "ALTER", "DESCRIBE", _reassign),
    ClusterApi("ListPartitionReassignments", 0, "DESCRIBE", "ALTER_CONFIGS", _list_reassignments),
    ClusterApi("DescribeClientQuotas", 1, "DESCRIBE_CONFIGS", "DESCRIBE", _describe_quotas),
    ClusterApi("AlterClientQuotas", 1, "ALTER_CONFIGS", "ALTER", _alter_quotas),
    ClusterApi("DescribeUserScramCredentials", 0, "DESCRIBE", "ALTER_CONFIGS", _describe_credentials),
    ClusterApi("AlterUserScramCredentials", 0, "ALTER", "ALTER_CONFIGS", _alter_credentials),
    ClusterApi("UpdateFeatures", 1, "ALTER", "ALTER_CONFIGS", _update_features),
    ClusterApi("DescribeQuorum", 2, "DESCRIBE", "DESCRIBE_CONFIGS", _describe_quorum),
    ClusterApi("UnregisterBroker", 0, "ALTER", "DESCRIBE", _unregister),
    ClusterApi("AddRaftVoter", 0, "ALTER", "DESCRIBE", _add_voter),
    ClusterApi("RemoveRaftVoter", 0, "ALTER", "DESCRIBE", _remove_voter),
)


def _describe_all_log_dirs(scene: Scene) -> None:
    scene.send(2, DescribeLogDirsRequest(topics=[]))


def _create_token(owner: str) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        request = CreateDelegationTokenRequest(
            owner_principal_type="User" if owner else None, owner_principal_name=owner or None, max_lifetime_ms=-1
        )
        scene.send(3, request)

    return steps


def _describe_tokens(scene: Scene) -> None:
    scene.send(3, DescribeDelegationTokenRequest(owners=None))


CASES: list[AclCase] = [
    *(case for api in APIS for case in api.cases()),
    *each("DescribeLogDirs v2 of no topic", _describe_all_log_dirs, {"no ACL": (), "ALTER": on_cluster("ALTER")}),
    *each("CreateDelegationToken v3", _create_token(""), {"no ACL": ()}),
    *each(
        "CreateDelegationToken v3 for bob",
        _create_token("bob"),
        {"no ACL": (), "CREATE_TOKENS": on("USER", "User:bob", "CREATE_TOKENS")},
    ),
    *each("DescribeDelegationToken v3", _describe_tokens, {"no ACL": ()}),
]
