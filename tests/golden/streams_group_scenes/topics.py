"""Topics of applications: missing, created, with other partitions, and joined ones."""

from __future__ import annotations

from fauxka.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from fauxka.protocol.messages.delete_topics import DeleteTopicsRequest
from fauxka.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from fauxka.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from fauxka.protocol.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest,
)

from ..capture_recorder import TOPIC_RESOURCE
from ..streams_group_client import StreamsMember, subtopology, topic, topology
from ..streams_group_recorder import StreamsGroupRecorder
from .heartbeats import SOURCE, SOURCE_PARTITIONS, WIDE, WIDE_PARTITIONS


def missing_sources(recorder: StreamsGroupRecorder) -> None:
    """Source topics that come later."""
    names = ["st-later-d", "st-later-a", "st-later-c", "st-later-b", SOURCE]
    a = StreamsMember(
        recorder, "missing", "a", topology(subtopology("0", *names[:3], SOURCE), subtopology("1", names[3]))
    )
    a.join()
    a.beat()
    recorder.describe_streams("without its topics", "missing")
    for name in names[:3]:
        recorder.create_topic(name, 3)
    recorder.settle()
    a.beat("still misses one")
    recorder.create_topic(names[3], 1)
    recorder.settle()
    a.beat("has its topics")
    a.own()
    recorder.describe_streams("with its topics", "missing")
    recorder.call(DeleteTopicsRequest(topic_names=[names[3]], timeout_ms=30_000), 5)
    recorder.settle()
    a.beat("has lost a topic")
    recorder.describe_streams("without a topic", "missing")
    recorder.kept_streams("is kept", "missing")


def internal(recorder: StreamsGroupRecorder) -> None:
    """Internal topics are created with the partitions and configs that the application needs."""
    parts = topology(
        subtopology("0", SOURCE, WIDE, sinks=["st-app-repartition"]),
        subtopology(
            "1",
            repartition=[topic("st-app-repartition", cleanup_policy="delete", retention_ms="-1")],
            changelogs=[
                topic("st-app-b-changelog", cleanup_policy="compact"),
                topic("st-app-a-changelog", 0, 1, cleanup_policy="compact,delete"),
                topic("st-app-c-changelog"),
            ],
        ),
    )
    a = StreamsMember(recorder, "internal", "a", parts)
    a.join()
    for name in ("repartition", "a-changelog", "b-changelog", "c-changelog"):
        recorder.wait_for_internal_topic(f"st-app-{name}", WIDE_PARTITIONS)
    recorder.settle()
    a.beat("has its topics")
    a.own()
    recorder.describe_streams("with its topics", "internal")
    keys = ["cleanup.policy", "retention.ms", "segment.bytes"]
    for name in ("repartition", "a-changelog"):
        resource = DescribeConfigsResource(
            resource_type=TOPIC_RESOURCE, resource_name=f"st-app-{name}", configuration_keys=keys
        )
        recorder.case(f"configs of {name}", 4, DescribeConfigsRequest(resources=[resource]))


def wrong_partitions(recorder: StreamsGroupRecorder) -> None:
    """A topic exists with other partitions."""
    recorder.create_topic("st-narrow-changelog", 1)
    recorder.settle()
    parts = topology(subtopology("0", SOURCE, changelogs=[topic("st-narrow-changelog")]))
    a = StreamsMember(recorder, "narrow", "a", parts)
    a.join()
    a.beat()
    recorder.describe_streams("with another count", "narrow")
    cases = {
        "sources": subtopology("0", SOURCE, WIDE, joined=[([0, 1], [])]),
        "fixed": subtopology("0", SOURCE, repartition=[topic("st-f", 4)], joined=[([0], [0])]),
        "two fixed": subtopology("0", repartition=[topic("st-f", 4), topic("st-g", 3)], joined=[([], [0, 1])]),
        "flexible": subtopology("0", WIDE, repartition=[topic("st-h")], joined=[([0], [0])]),
        "loop": subtopology("0", sinks=["st-i"], repartition=[topic("st-i")]),
        "without a writer": subtopology("0", SOURCE, repartition=[topic("st-j")]),
        "no index": subtopology("0", SOURCE, joined=[([3], [])]),
        "empty group": subtopology("0", SOURCE, joined=[([], [])]),
        "negative": subtopology("0", SOURCE, repartition=[topic("st-k", -2)]),
    }
    for name, part in cases.items():
        member = StreamsMember(recorder, f"count of {name}", "a", topology(part))
        member.join(f"has the topology {name}")


def failed_creation(recorder: StreamsGroupRecorder) -> None:
    """Internal topics that cannot be created."""
    for changelog in (topic("st-bad-changelog", cleanup_policy="nonsense"), topic("st-far-changelog", 0, 9)):
        parts = topology(subtopology("0", SOURCE, changelogs=[changelog]))
        a = StreamsMember(recorder, f"failed {changelog.name}", "a", parts)
        a.join()
        recorder.pass_ms(1000)
        a.beat(f"gets the reason of {changelog.name}")


def descriptions(recorder: StreamsGroupRecorder) -> None:
    """Descriptions of topologies are asked for, from a broker without a plug-in for them (KIP-1331)."""
    group_ids = ["descriptions", "unknown", ""]
    StreamsMember(recorder, "descriptions", "a", topology(subtopology("0", SOURCE))).join()
    for is_included in (False, True):
        request = StreamsGroupDescribeRequest(group_ids=group_ids, include_topology_description=is_included)
        recorder.case(f"included: {is_included}", recorder.version, request)
    update = StreamsGroupTopologyDescriptionUpdateRequest(group_id="descriptions", member_id="a", topology_epoch=0)
    recorder.case("updated", 0, update)


def grown(recorder: StreamsGroupRecorder) -> None:
    """A source gets more partitions."""
    recorder.create_topic("st-grows", 1)
    recorder.settle()
    a = StreamsMember(recorder, "grown", "a", topology(subtopology("0", "st-grows")))
    a.join()
    a.own()
    more = CreatePartitionsTopic(name="st-grows", count=SOURCE_PARTITIONS)
    recorder.call(CreatePartitionsRequest(topics=[more], timeout_ms=30_000), 3)
    recorder.settle()
    a.beat("gets the new task")
    recorder.describe_streams("with a new task", "grown")
