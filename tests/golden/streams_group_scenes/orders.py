"""What the order of Kafka's hash tables decides, topologies that contradict themselves, and members that come back."""

from __future__ import annotations

from ..streams_group_client import StreamsMember, settle, subtopology, topic, topology
from ..streams_group_recorder import StreamsGroupRecorder
from .heartbeats import SOURCE, SOURCE_PARTITIONS, STATELESS, TWO_PARTS, WIDE, WIDE_PARTITIONS
from .members import Client, commit

TURNED = topology(subtopology("1", WIDE), subtopology("0", SOURCE))


def order_of_subtopologies(recorder: StreamsGroupRecorder) -> None:
    """A repartition topic has as many partitions as the first known topic that flows into it."""
    sent = topology(
        subtopology("c", WIDE, sinks=["order-2"]),
        subtopology("b", repartition=[topic("order-1"), topic("order-2")], sinks=["order-3"]),
        subtopology("a", SOURCE, sinks=["order-1"]),
        subtopology("d", repartition=[topic("order-3")]),
    )
    a = StreamsMember(recorder, "order", "a", sent)
    a.join()
    for name, count in (("order-1", SOURCE_PARTITIONS), ("order-2", WIDE_PARTITIONS), ("order-3", SOURCE_PARTITIONS)):
        recorder.wait_for_internal_topic(name, count)
    recorder.settle()
    a.beat("has its topics")
    a.own()
    recorder.describe_streams("with its topics", "order")
    many = topology(
        *(subtopology(str(number), SOURCE, sinks=[f"many-{number + 1}"]) for number in range(3)),
        *(
            subtopology(str(number), repartition=[topic(f"many-{number - 2}")], sinks=[f"many-{number + 1}"])
            for number in range(3, 15)
        ),
        subtopology("15", WIDE, repartition=[topic(f"many-{number}") for number in range(13, 16)]),
    )
    b = StreamsMember(recorder, "many topics", "b", many)
    b.join("joins with many topics")


def contradictions(recorder: StreamsGroupRecorder) -> None:
    """The same topology in another order, and topologies with something in it twice."""
    a, b = StreamsMember(recorder, "turned", "a", TWO_PARTS), StreamsMember(recorder, "turned", "b", TURNED)
    a.join()
    b.join("joins with the subtopologies in another order")
    settle(a, b)
    recorder.describe_streams("with both", "turned")
    c = StreamsMember(recorder, "turned", "c", topology(subtopology("0", SOURCE), subtopology("0", WIDE)))
    c.join("joins with a subtopology twice")
    twice = [topic("twice-changelog"), topic("twice-changelog")]
    for case, sent in {
        "a changelog": subtopology("0", SOURCE, changelogs=twice),
        "a repartition topic": subtopology("0", SOURCE, repartition=twice, sinks=["twice-changelog"]),
        "a source": subtopology("0", SOURCE, SOURCE),
    }.items():
        StreamsMember(recorder, f"twice {case}", "a", topology(sent)).join(f"has {case} twice")


def one_topic_for_two(recorder: StreamsGroupRecorder) -> None:
    """Two subtopologies read the same topic: which of them a commit belongs to."""
    both = topology(subtopology("1", SOURCE), subtopology("0", SOURCE))
    members = [StreamsMember(recorder, "both", name, both) for name in "abcd"]
    for each in members:
        each.join()
    settle(*members, rounds=4)
    recorder.describe_streams("with four", "both")
    for each in members:
        for partition in (0, 1):
            commit(recorder, f"{each.name} commits", 9, Client("both", each.name, each.member_epoch - 1), partition)


def comes_back(recorder: StreamsGroupRecorder) -> None:
    """A member leaves and joins again under its id before the next assignment."""
    a, b = (StreamsMember(recorder, "back", name, STATELESS) for name in "ab")
    a.join()
    b.join()
    settle(a, b)
    recorder.set_group_config("back", streams_assignment_interval_ms="15000")
    a.beat("is alive before")
    a.leave()
    a.join("joins again at once")
    b.beat("is alive meanwhile")
    recorder.describe_streams("before the next assignment", "back")
    recorder.kept_streams("is kept", "back")
    recorder.set_group_config("back", streams_assignment_interval_ms="0")
    a.own("after the interval")
    b.own("after the interval")
    settle(a, b)
    recorder.describe_streams("after the next assignment", "back")


def refused_place(recorder: StreamsGroupRecorder) -> None:
    """Another member asks for the place of a static one, and is refused, before that comes back."""
    a = StreamsMember(recorder, "place", "a", STATELESS, instance_id="i-a")
    b = StreamsMember(recorder, "place", "b", STATELESS, instance_id="i-b")
    other = StreamsMember(recorder, "place", "other", STATELESS, process_id="process-a", instance_id="i-a")
    a.join()
    b.join()
    settle(a, b)
    other.join("asks for the place")
    b.beat("is alive in between")
    other.join("asks again")
    a.leave("leaves for a while", member_epoch=-2)
    a.join("comes back")
    a.own("reports its tasks")
    b.own("reports its tasks")
    a.beat("is alive")
    b.beat("is alive")
    settle(a, b)
    recorder.describe_streams("in the end", "place")
    recorder.kept_streams("is kept", "place")
