"""DescribeQuorum, ListConfigResources and UnregisterBroker, every version:
python -m tests.golden.capture_quorum HOST:PORT.

Needs a fresh broker with default configuration.
"""

from fauxka.protocol.messages.describe_quorum import DescribeQuorumRequest, RequestPartitionData, RequestTopicData
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fauxka.protocol.messages.list_config_resources import ListConfigResourcesRequest
from fauxka.protocol.messages.unregister_broker import UnregisterBrokerRequest

from .capture_recorder import Recorder, main

METADATA_TOPIC = "__cluster_metadata"
TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
RESOURCE_TYPES = (TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP)


def capture(recorder: Recorder) -> None:
    """Record every case."""
    _resources_of_an_empty_cluster(recorder)
    recorder.create_topic("a-one", 1)
    recorder.create_topic("b-one", 1)
    _quorum(recorder)
    _configured_resources(recorder)
    _resource_types(recorder)
    _unknown_brokers(recorder)


def describing(*topics: tuple[str, list[int]]) -> DescribeQuorumRequest:
    """Return a DescribeQuorum request."""
    entries = [
        RequestTopicData(topic_name=name, partitions=[RequestPartitionData(partition_index=index) for index in indexes])
        for name, indexes in topics
    ]
    return DescribeQuorumRequest(topics=entries)


def _quorum(recorder: Recorder) -> None:
    cases = {
        "the metadata partition": describing((METADATA_TOPIC, [0])),
        "no topics": describing(),
        "the metadata topic without partitions": describing((METADATA_TOPIC, [])),
        "another partition": describing((METADATA_TOPIC, [1])),
        "partition -1": describing((METADATA_TOPIC, [-1])),
        "the metadata partition twice": describing((METADATA_TOPIC, [0, 0])),
        "the metadata partition and another": describing((METADATA_TOPIC, [0, 1])),
        "the metadata topic twice": describing((METADATA_TOPIC, [0]), (METADATA_TOPIC, [0])),
        "a topic": describing(("a-one", [0])),
        "an unknown topic": describing(("not-there", [0, 1])),
        "the metadata topic and another": describing((METADATA_TOPIC, [0]), ("a-one", [0, 1])),
        "an invalid and an empty name": describing(("with blank", [0]), ("", [0])),
    }
    for version in range(3):
        for case, request in cases.items():
            recorder.case(case, version, request)


def resources(*types: int) -> ListConfigResourcesRequest:
    """Return a ListConfigResources request."""
    return ListConfigResourcesRequest(resource_types=list(types))


def _resources_of_an_empty_cluster(recorder: Recorder) -> None:
    recorder.case("an empty cluster", 0, resources())
    recorder.case("an empty cluster", 1, resources())
    for resource_type in RESOURCE_TYPES:
        recorder.case(f"an empty cluster, type {resource_type}", 1, resources(resource_type))


def _configured_resources(recorder: Recorder) -> None:
    _set(recorder, CLIENT_METRICS, "subscription-1", "interval.ms", "1000")
    _set(recorder, CLIENT_METRICS, "subscription-2", "interval.ms", "2000")
    _set(recorder, GROUP, "group-1", "consumer.session.timeout.ms", "50000")
    _set(recorder, BROKER, "", "background.threads", "11")
    _set(recorder, TOPIC, "b-one", "retention.ms", "1000000")
    recorder.settle()
    recorder.case("client metrics", 0, resources())
    recorder.case("all types", 1, resources())
    for resource_type in RESOURCE_TYPES:
        recorder.case(f"configured, type {resource_type}", 1, resources(resource_type))
    _set(recorder, CLIENT_METRICS, "subscription-1", "interval.ms", None)
    _set(recorder, GROUP, "group-1", "consumer.session.timeout.ms", None)
    recorder.settle()
    recorder.case("configs deleted", 0, resources())
    recorder.case("configs deleted", 1, resources(CLIENT_METRICS, GROUP))


def _set(recorder: Recorder, resource_type: int, name: str, key: str, value: str | None) -> None:
    operation = 1 if value is None else 0
    config = AlterableConfig(name=key, config_operation=operation, value=value)
    resource = AlterConfigsResource(resource_type=resource_type, resource_name=name, configs=[config])
    recorder.case(
        f"{key} of {resource_type} {name!r}: {value}", 1, IncrementalAlterConfigsRequest(resources=[resource])
    )


def _resource_types(recorder: Recorder) -> None:
    for types in ((2, 16), (16, 2), (32, 4), (2, 2), (4, 4), (16, 16), (8, 4), (2, 4, 8, 16, 32)):
        recorder.case(f"types {types}", 1, resources(*types))
    for unknown in ((0,), (1,), (3,), (64,), (127,), (-1,), (2, 0), (0, 2), (2, 64)):
        recorder.case(f"unknown types {unknown}", 1, resources(*unknown))


def _unknown_brokers(recorder: Recorder) -> None:
    for broker_id in (0, 2, -1, 3000, 2147483647, -2147483648):
        recorder.case(f"broker {broker_id}", 0, UnregisterBrokerRequest(broker_id=broker_id))


if __name__ == "__main__":
    main(capture)
