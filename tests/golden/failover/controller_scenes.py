"""What goes on, and what waits, while there is no controller."""

from fauxka.protocol.messages.create_topics import CreateTopicsRequest
from fauxka.protocol.messages.describe_cluster import DescribeClusterRequest
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fauxka.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

from ..capture_nodes import creating
from ..capture_replicas import electing
from . import coordinator_requests as requests
from .internal_topics import create_internal_topics
from .recorder import FailoverRecorder
from .requests import Topic, fetching, listing_offsets, metadata, partitions, producing, records

TOPIC_RESOURCE = 2
SHORT_MS = 2000
LONG_MS = 19_000


def script(recorder: FailoverRecorder) -> None:
    """Record every case."""
    recorder.scene("with a controller")
    create_internal_topics(recorder)
    topic = recorder.create("data", [[1, 2, 3]])
    ids = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
    recorder.retried_case(1, "a producer id", 4, ids, _has_id)
    recorder.retried_case(1, "commit an offset", 8, requests.committing("group", topic, 1))
    recorder.scene("without a controller")
    recorder.kill_controller()
    recorder.case(1, "produce", 11, producing(topic, records(2)))
    recorder.until_high_watermark(topic, 2, 1, 2, 3)
    recorder.case(2, "fetch from a follower", 12, fetching(topic, 0))
    recorder.case(1, "latest offset", 8, listing_offsets(topic, -1))
    recorder.case(1, "commit an offset", 8, requests.committing("group", topic, 2))
    recorder.case(1, "a producer id", 4, ids)
    recorder.case(2, "metadata", 12, metadata(topic))
    recorder.case(2, "cluster", 2, DescribeClusterRequest())
    _timed_out(recorder, topic)
    recorder.kill_unnoticed(1)
    recorder.scene("without a controller, node 1 killed")
    recorder.pause(8)
    recorder.case(2, "partitions", 0, partitions(topic))
    recorder.case(2, "produce", 11, producing(topic, records()))
    waiting = recorder.waiting(2, "create a topic", 4, _creating("late", LONG_MS))
    recorder.scene("the controller is back")
    recorder.start_controller()
    waiting.finish(bound_ms=LONG_MS)
    recorder.case(2, "partitions", 0, partitions(topic))
    recorder.case(2, "produce", 11, producing(topic, records()))
    recorder.start(1)


def _has_id(response: object) -> bool:
    assert isinstance(response, InitProducerIdResponse)
    return response.error_code == 0


def _timed_out(recorder: FailoverRecorder, topic: Topic) -> None:
    entry = AlterableConfig(name="retention.ms", config_operation=0, value="-1")
    resource = AlterConfigsResource(resource_type=TOPIC_RESOURCE, resource_name=topic.name, configs=[entry])
    recorder.timed_case(1, "create a topic", 4, _creating("early", SHORT_MS), bound_ms=SHORT_MS)
    elected = electing(0, (topic.name, [0]), timeout_ms=SHORT_MS)
    recorder.timed_case(1, "elect", 2, elected, bound_ms=SHORT_MS)
    altered = IncrementalAlterConfigsRequest(resources=[resource])
    recorder.timed_case(1, "alter a config", 1, altered, bound_ms=SHORT_MS)


def _creating(name: str, timeout_ms: int) -> CreateTopicsRequest:
    request = creating(name, {0: [2, 3]})
    request.timeout_ms = timeout_ms
    return request
