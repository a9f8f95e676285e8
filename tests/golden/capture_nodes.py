"""Three nodes, each asked about partitions that it leads, follows, or has no replica of.

The topics have the same replicas in every run: partition 0 of each is led by node 1, 1 by node 2, 2 by node 3. They
hold no records, so that no answer depends on how far a follower is.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TextIO

from fauxka.protocol.batches.records import Record, build_batch
from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.messages.alter_configs import AlterableConfig as ReplacedConfig
from fauxka.protocol.messages.alter_configs import AlterConfigsRequest
from fauxka.protocol.messages.alter_configs import AlterConfigsResource as ReplacedResource
from fauxka.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fauxka.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from fauxka.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from fauxka.protocol.messages.describe_cluster import DescribeClusterRequest
from fauxka.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from fauxka.protocol.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from fauxka.protocol.messages.describe_producers import DescribeProducersRequest
from fauxka.protocol.messages.describe_producers import TopicRequest as DescribedTopic
from fauxka.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fauxka.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from fauxka.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

from .acls import EVERY_ACL, Acl, creating_acls, deleting_acls
from .capture_normal_form import Json, NormalForm
from .capture_quorum import BROKER, BROKER_LOGGER, METADATA_TOPIC, TOPIC, describing, resources
from .capture_recorder import Recorder
from .capture_replicas import listing, reassigning
from .capture_voters import CONTROLLER_LISTENER, NEW_DIRECTORY_ID, NEW_ID, adding, removing

# The leader first: node 1 leads partition 0, follows another one, and has no replica of the last one of "pairs".
LAYOUTS = {
    "whole": [[1, 2, 3], [2, 3, 1], [3, 1, 2]],
    "pairs": [[1, 2], [2, 3], [3, 1]],
    "single": [[1], [2], [3]],
}
# The epoch of every partition, a later one, and none.
EPOCHS = (0, 1, -1)
TIMEOUT_MS = 10_000
# The nodes as which a Fetch is sent, one of them unknown, in a version with each of the fields for it.
FOLLOWERS = (2, 9)
FOLLOWER_VERSIONS = (12, 17)
# Kafka returns any broker that is alive.
ANY = "any broker"
UNORDERED_FIELDS = (
    "brokers",
    "groups",
    "node_endpoints",
    "observers",
    "partition_responses",
    "partition_result",
    "transaction_states",
)
# The node id of Kafka's controller in tests/reference/kafka, and that of fauxka's.
CONTROLLER_IDS = (100, 4)
CONTROLLER = "the controller"
CONFIGS = ("node.id", "broker.id", "broker.rack", "log.retention.ms", "min.insync.replicas")


class NodeRecorder(Recorder):
    """A recorder that asks one node of several; its lines begin with the node."""

    def __init__(self, node_id: int, bootstraps: Sequence[str], output: TextIO) -> None:
        """bootstraps: the addresses from node 1 on."""
        super().__init__(bootstraps[node_id - 1], output, f"settled-{node_id}")
        ports = {int(address.rpartition(":")[2]): f"PORT {node}" for node, address in enumerate(bootstraps, 1)}
        self.normal_form = NormalForm(self.bootstrap, ports)
        self.node_id = node_id

    def wait_for_topic(self, name: str, partition_count: int) -> None:
        """Return when the node knows the leader of each partition, which may be another node."""
        self.wait_until_described(name, partition_count)

    def wait_until_described(self, name: str, partition_count: int) -> None:
        """Return when the node knows the leader of each partition of a topic."""
        self.wait(lambda: self._is_described(name, partition_count), f"topic {name} on node {self.node_id}")

    def _is_described(self, name: str, partition_count: int) -> bool:
        request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
        response = self.call(request, 12, MetadataResponse)
        partitions = response.topics[0].partitions
        return len(partitions) == partition_count and all(
            len(each.isr_nodes) == len(each.replica_nodes) for each in partitions
        )

    def _write(self, case: str, request: RequestMessage, version: int, answer: Json, remarks: dict[str, Json]) -> None:
        sort_hash_maps(answer)
        super()._write(f"node {self.node_id}: {case}", request, version, answer, remarks)


def sort_hash_maps(answer: Json) -> None:
    """Sort the lists that come in the order of a hash map, and name the broker that Kafka draws as the controller."""
    if isinstance(answer, list):
        for entry in answer:
            sort_hash_maps(entry)
    elif isinstance(answer, dict):
        _name_the_controller(answer)
        for name, value in answer.items():
            if name in UNORDERED_FIELDS and isinstance(value, list):
                value.sort(key=json.dumps)
            sort_hash_maps(value)


def _name_the_controller(answer: dict[str, Json]) -> None:
    if "controller_id" in answer:
        answer["controller_id"] = ANY
    for name in ("leader_id", "node_id", "replica_id"):
        if answer.get(name) in CONTROLLER_IDS:
            answer[name] = CONTROLLER
    if answer.get("node_id") == CONTROLLER:
        # That of fauxka has the listener of the node that responds.
        answer["listeners"] = [CONTROLLER]


def capture(bootstraps: Sequence[str], output: TextIO) -> None:
    """Record every case. bootstraps: the addresses of nodes 1, 2 and 3."""
    nodes = [NodeRecorder(node_id, bootstraps, output) for node_id in (1, 2, 3)]
    topic_ids = {name: _create(nodes[0], name, layout) for name, layout in LAYOUTS.items()}
    for node in nodes:
        for name, topic_id in topic_ids.items():
            node.normal_form.name_topic_id(topic_id, name)
            node.wait_until_described(name, len(LAYOUTS[name]))
    _refused_layouts(nodes[0])
    for node in nodes:
        _described(node)
    for node in nodes[:2]:
        for name in LAYOUTS:
            _asked(node, name, topic_ids[name])
    _of_each_node(nodes)
    _answered_by_each(nodes)
    _reassigned(nodes[0])
    for node in nodes:
        node.connection.close()


def _of_each_node(nodes: Sequence[NodeRecorder]) -> None:
    for node in nodes:
        _asked_about_itself(node)
    for node in nodes:
        _configured(node, others=nodes)


def _create(recorder: NodeRecorder, name: str, layout: Sequence[Sequence[int]]) -> bytes:
    response = recorder.case(f"create {name}", 7, creating(name, dict(enumerate(layout))))
    assert isinstance(response, CreateTopicsResponse)
    assert response.topics[0].error_code == 0, response.topics[0]
    return response.topics[0].topic_id


def creating(
    name: str, layout: Mapping[int, Sequence[int]] | None = None, *, count: int = -1, factor: int = -1
) -> CreateTopicsRequest:
    """Return a request for one topic. layout: the broker ids of each partition."""
    assignments = [
        CreatableReplicaAssignment(partition_index=index, broker_ids=list(ids)) for index, ids in (layout or {}).items()
    ]
    topic = CreatableTopic(name=name, num_partitions=count, replication_factor=factor, assignments=assignments)
    return CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS)


def _refused_layouts(recorder: NodeRecorder) -> None:
    layouts: dict[str, dict[int, list[int]]] = {
        "uneven replicas": {0: [1, 2], 1: [3]},
        "an unknown broker": {0: [1, 4]},
        "a broker twice": {0: [1, 1]},
        "a gap": {0: [1], 2: [2]},
        "no replica": {0: []},
    }
    for case, layout in layouts.items():
        recorder.case(f"create with {case}", 7, creating("refused", layout))
    recorder.case("create with four replicas", 7, creating("refused", count=1, factor=4))
    added: dict[str, list[list[int]]] = {
        "fewer replicas than the others": [[1]],
        "an unknown broker": [[1, 4]],
        "more partitions than asked for": [[1, 2], [2, 3]],
    }
    for case, layout_of_new in added.items():
        assignments = [CreatePartitionsAssignment(broker_ids=ids) for ids in layout_of_new]
        topic = CreatePartitionsTopic(name="pairs", count=4, assignments=assignments)
        recorder.case(f"add with {case}", 3, CreatePartitionsRequest(topics=[topic], timeout_ms=TIMEOUT_MS))


def _described(recorder: NodeRecorder) -> None:
    topics = [MetadataRequestTopic(name=name) for name in LAYOUTS]
    recorder.each_version(
        "metadata", (0, 5, 8, 9, 12), lambda _: MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    )
    recorder.each_version("cluster", (0, 1, 2), lambda _: DescribeClusterRequest())
    asked = [TopicRequest(name=name) for name in LAYOUTS]
    recorder.case("partitions", 0, DescribeTopicPartitionsRequest(topics=asked))


def _asked(recorder: NodeRecorder, name: str, topic_id: bytes) -> None:
    """Ask about each partition of a topic what only some nodes answer."""
    partitions = range(len(LAYOUTS[name]))
    batch = build_batch([Record(b"refused", timestamp=0)])
    for version in (7, 9, 10, 12, 13):
        # Only to nodes that refuse it, so that the topics stay empty.
        others = [index for index in partitions if LAYOUTS[name][index][0] != recorder.node_id]
        data = [PartitionProduceData(index=index, records=batch) for index in others]
        topic = TopicProduceData(name=name, topic_id=topic_id, partition_data=data)
        recorder.case(f"produce to {name}", version, ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[topic]))
    for epoch in EPOCHS:
        _asked_with_epoch(recorder, name, topic_id, epoch)
    deleted = [DeleteRecordsPartition(partition_index=index, offset=0) for index in partitions]
    recorder.case(
        f"delete records of {name}",
        2,
        DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=name, partitions=deleted)], timeout_ms=TIMEOUT_MS),
    )


def _asked_with_epoch(recorder: NodeRecorder, name: str, topic_id: bytes, epoch: int) -> None:
    partitions = range(len(LAYOUTS[name]))
    case = f"{name} in epoch {epoch}"
    for version in (8, 10, 11, 12, 15, 16, 17):
        # Before version 9 there is no epoch.
        asked = [
            FetchPartition(
                partition=index,
                fetch_offset=0,
                partition_max_bytes=1000,
                current_leader_epoch=epoch if version >= 9 else -1,
            )
            for index in partitions
        ]
        topic = FetchTopic(topic=name, topic_id=topic_id, partitions=asked)
        request = FetchRequest(max_wait_ms=0, max_bytes=1000, session_epoch=-1, topics=[topic])
        recorder.case(f"fetch {case}", version, request)
        if version in FOLLOWER_VERSIONS:
            for replica_id in FOLLOWERS:
                request.replica_id, request.replica_state = replica_id, ReplicaState(replica_id=replica_id)
                recorder.case(f"fetch {case} by node {replica_id}", version, request)
    offsets = [
        ListOffsetsPartition(partition_index=index, current_leader_epoch=epoch, timestamp=-2) for index in partitions
    ]
    recorder.case(
        f"list offsets of {case}",
        7,
        ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=name, partitions=offsets)]),
    )
    ends = [
        OffsetForLeaderPartition(partition=index, current_leader_epoch=epoch, leader_epoch=0) for index in partitions
    ]
    recorder.case(
        f"end of an epoch of {case}",
        4,
        OffsetForLeaderEpochRequest(replica_id=-1, topics=[OffsetForLeaderTopic(topic=name, partitions=ends)]),
    )


def _asked_about_itself(recorder: NodeRecorder) -> None:
    """Ask what each node has of its own, and the state of the controllers."""
    asked = [DescribableLogDirTopic(topic=name, partitions=[0, 1, 2]) for name in LAYOUTS]
    for version in (1, 3, 4, 5):
        recorder.case("all logs", version, DescribeLogDirsRequest(topics=None))
        recorder.case("logs of each partition", version, DescribeLogDirsRequest(topics=asked))
    recorder.each_version("the quorum", range(3), lambda _: describing((METADATA_TOPIC, [0])))
    recorder.case("brokers with configs", 1, resources(BROKER, BROKER_LOGGER))


def _configured(recorder: NodeRecorder, others: Sequence[NodeRecorder]) -> None:
    """Set a config of each broker at one node, and ask all nodes for it."""
    for other in others:
        name = str(other.node_id)
        recorder.case(f"configs of broker {name}", 4, _describing(BROKER, name))
        for request in _setting(name, str(recorder.node_id * 1_000_000)):
            recorder.case(f"set a config of broker {name}", 1, request)
    for other in others:
        other.settle()
        other.case(f"its configs after those of {recorder.node_id}", 4, _describing(BROKER, str(other.node_id)))
        other.case(f"a topic after the configs of {recorder.node_id}", 4, _describing(TOPIC, "pairs"))


def _describing(kind: int, name: str) -> DescribeConfigsRequest:
    keys = CONFIGS if kind == BROKER else ("retention.ms", "min.insync.replicas")
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=list(keys))
    return DescribeConfigsRequest(resources=[resource], include_synonyms=True)


def _setting(name: str, value: str) -> list[AlterConfigsRequest | IncrementalAlterConfigsRequest]:
    """Return requests that set the retention of a broker."""
    replaced = AlterConfigsRequest(
        resources=[
            ReplacedResource(
                resource_type=BROKER,
                resource_name=name,
                configs=[ReplacedConfig(name="log.retention.ms", value=f"{value}1")],
            )
        ]
    )
    altered = IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=BROKER,
                resource_name=name,
                configs=[AlterableConfig(name="log.retention.ms", config_operation=0, value=value)],
            )
        ]
    )
    return [replaced, altered]


def _answered_by_each(nodes: Sequence[NodeRecorder]) -> None:
    """Ask for producers, and without an authorizer for ACLs, and for changes of the voters."""
    for node in nodes:
        _producers(node)
    for node in nodes[:2]:
        _without_authorizer(node)
        _voters(node)


def _producers(recorder: NodeRecorder) -> None:
    """Ask for the producers of partitions that the node leads, follows, or has no replica of."""
    topics = [DescribedTopic(name=name, partition_indexes=[0, 1, 2, 3]) for name in (*LAYOUTS, "not-there")]
    recorder.case("producers", 0, DescribeProducersRequest(topics=topics))


def _without_authorizer(recorder: NodeRecorder) -> None:
    acl = Acl("TOPIC", "whole", "READ")
    for version in (1, 2, 3):
        recorder.case("ACLs", version, EVERY_ACL.describing())
        recorder.case("an ACL is created", version, creating_acls(acl))
        recorder.case("ACLs are deleted", version, deleting_acls(EVERY_ACL))


def _voters(recorder: NodeRecorder) -> None:
    for request in (adding(), adding(NEW_ID, NEW_DIRECTORY_ID, CONTROLLER_LISTENER)):
        for version in (0, 1):
            recorder.case("a voter is added", version, request)
    recorder.case("a voter is removed", 0, removing())


def _reassigned(recorder: NodeRecorder) -> None:
    """Reassign without a change of the replication factor, and list what is in progress at once."""
    moves: dict[str, tuple[str, int, list[int] | None]] = {
        "one more": ("single", 0, [1, 2]),
        "one less": ("pairs", 0, [1]),
        "one more of an unknown broker": ("single", 0, [1, 9]),
        "none": ("single", 0, []),
        "a broker twice": ("single", 0, [1, 1]),
        "the same number in another order": ("pairs", 0, [2, 1]),
        "the same": ("pairs", 0, [2, 1]),
        "of no partition": ("single", 9, [1, 2]),
        "nothing to cancel": ("single", 0, None),
    }
    for case, (topic, index, replicas) in moves.items():
        request = reassigning((topic, [(index, replicas)]), allow_replication_factor_change=False)
        recorder.case(f"reassigned, {case}", 1, request)
        recorder.case(f"listed after {case}", 0, listing(all_topics=True))
