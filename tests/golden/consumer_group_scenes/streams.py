"""Groups of Kafka Streams, whose protocol the broker is configured not to serve."""

from fauxka.protocol.messages.list_groups import ListGroupsRequest
from fauxka.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from fauxka.protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest

from ..consumer_group_recorder import ConsumerGroupRecorder


def streams(recorder: ConsumerGroupRecorder) -> None:
    """Every request of such a group."""
    heartbeat = StreamsGroupHeartbeatRequest(group_id="streams", member_id="a", member_epoch=0)
    recorder.case("a heartbeat", 0, heartbeat)
    for asks in (False, True):
        request = StreamsGroupDescribeRequest(group_ids=["streams", "", "life-1"], include_authorized_operations=asks)
        recorder.case(f"described, operations {asks}", 0, request)
    recorder.case("listed", 5, ListGroupsRequest(types_filter=["streams"]))
