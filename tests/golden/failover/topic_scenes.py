"""Topics created, grown and deleted while nodes are dead, and what each node returns about itself and the others."""

from fauxka.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fauxka.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fauxka.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from fauxka.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from fauxka.protocol.messages.describe_quorum import DescribeQuorumRequest, RequestPartitionData, RequestTopicData
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

from ..capture_nodes import creating
from .recorder import FailoverRecorder
from .requests import TIMEOUT_MS, Topic, metadata, partitions, producing, records

BROKER_RESOURCE, LOGGER_RESOURCE = 4, 8
CONFIG_KEYS = ["broker.rack", "node.id", "num.io.threads", "log.retention.ms"]
NODES = (1, 2, 3)


def script(recorder: FailoverRecorder) -> None:
    """Record every case."""
    recorder.scene("before")
    topic = recorder.create("described", [[1, 2], [2, 3], [3, 1]])
    recorder.case(1, "produce", 11, producing(topic, records(2)))
    recorder.until_high_watermark(topic, 2, 1, 2)
    recorder.scene("all alive")
    _nodes(recorder)
    recorder.scene("node 3 killed")
    recorder.kill(3)
    _nodes(recorder)
    _created(recorder)
    _grown(recorder, topic)
    recorder.scene("nodes 2 and 3 killed")
    recorder.kill(2)
    _created(recorder)
    _grown(recorder, topic)
    doomed = recorder.create("doomed", [[1, 2, 3]])
    recorder.case(1, "delete a topic", 6, _deleting(doomed))
    recorder.forget(doomed)
    recorder.publish()
    recorder.case(1, "metadata of the deleted topic", 12, metadata(doomed))
    recorder.scene("all back")
    recorder.start(2)
    recorder.start(3)
    recorder.case(1, "partitions", 0, partitions(topic))
    for node in NODES:
        recorder.case(node, "log dirs", 4, DescribeLogDirsRequest(topics=None))
    _auto_created(recorder)


def _deleting(topic: Topic) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topics=[DeleteTopicState(name=topic.name)], timeout_ms=TIMEOUT_MS)


def _nodes(recorder: FailoverRecorder) -> None:
    """Ask each live node about itself, about each other one, and about the quorum."""
    for node in sorted(recorder.live):
        quorum = [RequestTopicData(topic_name="__cluster_metadata", partitions=[RequestPartitionData()])]
        recorder.case(node, "quorum", 2, DescribeQuorumRequest(topics=quorum))
        for name in ("1", "2", "3", "4", ""):
            asked = DescribeConfigsResource(
                resource_type=BROKER_RESOURCE, resource_name=name, configuration_keys=CONFIG_KEYS
            )
            recorder.case(node, f"configs of broker {name!r}", 4, DescribeConfigsRequest(resources=[asked]))
            logger = DescribeConfigsResource(
                resource_type=LOGGER_RESOURCE, resource_name=name, configuration_keys=["root"]
            )
            recorder.case(node, f"loggers of broker {name!r}", 4, DescribeConfigsRequest(resources=[logger]))
            recorder.case(node, f"alter broker {name!r}", 1, _altering(BROKER_RESOURCE, name, "num.io.threads", "8"))
            recorder.case(node, f"alter a logger of {name!r}", 1, _altering(LOGGER_RESOURCE, name, "root", "ERROR"))
        recorder.case(node, "log dirs", 4, DescribeLogDirsRequest(topics=None))


def _altering(resource_type: int, name: str, key: str, value: str) -> IncrementalAlterConfigsRequest:
    entry = AlterableConfig(name=key, config_operation=0, value=value)
    resource = AlterConfigsResource(resource_type=resource_type, resource_name=name, configs=[entry])
    return IncrementalAlterConfigsRequest(resources=[resource], validate_only=True)


def _created(recorder: FailoverRecorder) -> None:
    """Create topics by number and by list, in a version without configs in the response.

    The created ones are deleted, so that the names can be used once more. Which live node leads a partition that is
    created by number is drawn.
    """
    layouts: dict[str, list[list[int]]] = {
        "a dead node": [[3]],
        "a dead and a live node": [[3, 1]],
        "a live and a dead node": [[1, 3]],
        "all nodes": [[3, 2, 1], [2, 3, 1], [1, 2, 3]],
        "a partition without a live node": [[1], [3]],
        "an unknown node": [[1, 4]],
        "two dead nodes": [[2, 3]],
    }
    for case, layout in layouts.items():
        recorder.case(1, f"create on {case}", 4, creating("by-list", dict(enumerate(layout))))
        recorder.publish()
        named = Topic("by-list", bytes(16), layout)
        recorder.case(1, f"partitions on {case}", 0, partitions(named))
        recorder.call(1, 6, _deleting(named))
        recorder.publish()
    for factor in (1, 2, 3, 4):
        recorder.case(1, f"create with {factor} replicas", 4, creating("by-number", count=1, factor=factor))
        recorder.publish()
        recorder.call(1, 6, _deleting(Topic("by-number", bytes(16), [])))
        recorder.publish()


def _grown(recorder: FailoverRecorder, topic: Topic) -> None:
    layouts = {"a dead node": [[3, 3]], "dead nodes": [[2, 3]], "a dead and a live node": [[3, 1]]}
    for case, layout in layouts.items():
        assignments = [CreatePartitionsAssignment(broker_ids=ids) for ids in layout]
        added = CreatePartitionsTopic(name=topic.name, count=4, assignments=assignments)
        request = CreatePartitionsRequest(topics=[added], timeout_ms=TIMEOUT_MS, validate_only=True)
        recorder.case(1, f"add a partition on {case}", 3, request)
    for count in (4, 3):
        added = CreatePartitionsTopic(name=topic.name, count=count, assignments=None)
        request = CreatePartitionsRequest(topics=[added], timeout_ms=TIMEOUT_MS, validate_only=True)
        recorder.case(1, f"{count} partitions", 3, request)


def _auto_created(recorder: FailoverRecorder) -> None:
    recorder.scene("auto creation")
    request = MetadataRequest(topics=[MetadataRequestTopic(name="automatic")], allow_auto_topic_creation=True)
    recorder.case(2, "metadata of a new topic", 12, request)
