"""The requests for the state of share groups (KIP-932), every version: python -m tests.golden.capture_share_state
HOST:PORT.

Needs a fresh broker with CONFIG. Kafka's brokers send each other InitializeShareGroupState, ReadShareGroupState,
WriteShareGroupState, DeleteShareGroupState and ReadShareGroupStateSummary.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.kafka_uuid import uuid_text
from fauxka.protocol.messages import delete_share_group_state as deletion
from fauxka.protocol.messages import initialize_share_group_state as initialization
from fauxka.protocol.messages import read_share_group_state as reading
from fauxka.protocol.messages import read_share_group_state_summary as summary
from fauxka.protocol.messages import write_share_group_state as writing
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest
from fauxka.protocol.primitives import ZERO_UUID

from .capture_recorder import POLL_SECONDS, SETTLE_SECONDS_MAX, Recorder, main
from .capture_share_groups import ACCEPT, RELEASE, Story, wait_for_group_coordinator

CONFIG = {
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.snapshot.update.records.per.snapshot": "3",
    "group.share.min.heartbeat.interval.ms": "500",
}
TOPIC, OTHER_TOPIC = "shared", "shared-too"
PARTITION_COUNT = 3
UNKNOWN_ID = bytes(range(16))
SHARE_KEY_TYPE = 2
DRAWN_SEED, DRAWN_COUNT = 932, 500
# Codes of a coordinator that is not ready.
LOADING_CODES = (14, 15, 16)
AVAILABLE, ACKNOWLEDGED, ARCHIVED = 0, 2, 4


@dataclass(frozen=True)
class Place:
    """A partition in a group."""

    group_id: str
    topic_id: bytes
    partition: int = 0

    def initializing(self, state_epoch: int, start_offset: int) -> initialization.InitializeShareGroupStateRequest:
        """Return a request for a new state."""
        partition = initialization.PartitionData(
            partition=self.partition, state_epoch=state_epoch, start_offset=start_offset
        )
        topic = initialization.InitializeStateData(topic_id=self.topic_id, partitions=[partition])
        return initialization.InitializeShareGroupStateRequest(group_id=self.group_id, topics=[topic])

    def writing(
        self, epochs: tuple[int, int], start_offset: int, *batches: tuple[int, int, int, int], complete_count: int = -1
    ) -> writing.WriteShareGroupStateRequest:
        """Return a request for a change. epochs: of the state and of the leader."""
        state_batches = [
            writing.StateBatch(first_offset=first, last_offset=last, delivery_state=state, delivery_count=count)
            for first, last, state, count in batches
        ]
        partition = writing.PartitionData(
            partition=self.partition,
            state_epoch=epochs[0],
            leader_epoch=epochs[1],
            start_offset=start_offset,
            delivery_complete_count=complete_count,
            state_batches=state_batches,
        )
        topic = writing.WriteStateData(topic_id=self.topic_id, partitions=[partition])
        return writing.WriteShareGroupStateRequest(group_id=self.group_id, topics=[topic])

    def reading(self, leader_epoch: int) -> reading.ReadShareGroupStateRequest:
        """Return a request for the state."""
        partition = reading.PartitionData(partition=self.partition, leader_epoch=leader_epoch)
        topic = reading.ReadStateData(topic_id=self.topic_id, partitions=[partition])
        return reading.ReadShareGroupStateRequest(group_id=self.group_id, topics=[topic])

    def summing(self, leader_epoch: int = -1) -> summary.ReadShareGroupStateSummaryRequest:
        """Return a request for the summary of the state."""
        partition = summary.PartitionData(partition=self.partition, leader_epoch=leader_epoch)
        topic = summary.ReadStateSummaryData(topic_id=self.topic_id, partitions=[partition])
        return summary.ReadShareGroupStateSummaryRequest(group_id=self.group_id, topics=[topic])

    def deleting(self) -> deletion.DeleteShareGroupStateRequest:
        """Return a request for the end of the state."""
        topic = deletion.DeleteStateData(
            topic_id=self.topic_id, partitions=[deletion.PartitionData(partition=self.partition)]
        )
        return deletion.DeleteShareGroupStateRequest(group_id=self.group_id, topics=[topic])

    def every_request(self) -> list[RequestMessage]:
        """Return one request of each API."""
        return [
            self.reading(0),
            self.summing(0),
            self.writing((0, 0), 0),
            self.deleting(),
            self.initializing(0, 0),
            self.reading(0),
            self.summing(0),
        ]


def capture(recorder: Recorder) -> None:
    """Record every case."""
    topic_id = recorder.create_topic(TOPIC, PARTITION_COUNT)
    other_id = recorder.create_topic(OTHER_TOPIC, 1)
    _send(recorder, "no topic of states yet", Place("early", topic_id).every_request())
    wait_for_coordinator(recorder, topic_id)
    _send(recorder, "a new state", Place("fresh", topic_id).every_request())
    _refused(recorder, topic_id)
    _several(recorder, topic_id, other_id)
    _epochs(recorder, Place("epochs", topic_id))
    _batches(recorder, Place("batches", topic_id))
    _snapshots(recorder, Place("snapshots", topic_id))
    _drawn(recorder, topic_id)
    wait_for_group_coordinator(recorder)
    _of_a_group(recorder)
    _fenced_group(recorder, "fenced-by-state", state_epoch=9)
    _fenced_group(recorder, "fenced-by-leader", leader_epoch=9)
    _deleted_state(recorder)


def wait_for_coordinator(recorder: Recorder, topic_id: bytes) -> None:
    """Create the topic of the states, and return when its coordinator answers."""
    key = f"any:{uuid_text(topic_id)}:0"
    deadline = time.monotonic() + SETTLE_SECONDS_MAX
    while True:
        recorder.call(FindCoordinatorRequest(key_type=SHARE_KEY_TYPE, coordinator_keys=[key]), 6)
        response = recorder.call(Place("any", topic_id).summing(), 0, summary.ReadShareGroupStateSummaryResponse)
        if response.results[0].partitions[0].error_code not in LOADING_CODES:
            return
        assert time.monotonic() < deadline, response
        time.sleep(POLL_SECONDS)


def versions_of(request: RequestMessage) -> Iterable[int]:
    """Return the versions of the request's API."""
    has_two = isinstance(request, writing.WriteShareGroupStateRequest | summary.ReadShareGroupStateSummaryRequest)
    return range(2 if has_two else 1)


def _send(recorder: Recorder, case: str, requests: Sequence[RequestMessage]) -> None:
    for request in requests:
        for version in versions_of(request):
            recorder.case(case, version, request)


def _refused(recorder: Recorder, topic_id: bytes) -> None:
    _send(recorder, "an empty group id", Place("", topic_id).every_request())
    _send(recorder, "a blank group id", Place(" ", topic_id).every_request())
    _send(recorder, "a partition too many", Place("refused", topic_id, PARTITION_COUNT).every_request())
    _send(recorder, "partition -1", Place("refused", topic_id, -1).every_request())
    _send(recorder, "an unknown topic", Place("refused", UNKNOWN_ID).every_request())
    _send(recorder, "no topic id", Place("refused", ZERO_UUID).every_request())
    without_topics: list[RequestMessage] = [
        initialization.InitializeShareGroupStateRequest(group_id="refused"),
        reading.ReadShareGroupStateRequest(group_id="refused"),
        writing.WriteShareGroupStateRequest(group_id="refused"),
        deletion.DeleteShareGroupStateRequest(group_id="refused"),
        summary.ReadShareGroupStateSummaryRequest(group_id="refused"),
    ]
    _send(recorder, "no topics", without_topics)
    without_partitions: list[RequestMessage] = [
        initialization.InitializeShareGroupStateRequest(
            group_id="refused", topics=[initialization.InitializeStateData(topic_id=topic_id)]
        ),
        reading.ReadShareGroupStateRequest(group_id="refused", topics=[reading.ReadStateData(topic_id=topic_id)]),
        writing.WriteShareGroupStateRequest(group_id="refused", topics=[writing.WriteStateData(topic_id=topic_id)]),
        deletion.DeleteShareGroupStateRequest(group_id="refused", topics=[deletion.DeleteStateData(topic_id=topic_id)]),
        summary.ReadShareGroupStateSummaryRequest(
            group_id="refused", topics=[summary.ReadStateSummaryData(topic_id=topic_id)]
        ),
    ]
    _send(recorder, "no partitions", without_partitions)


def _several(recorder: Recorder, topic_id: bytes, other_id: bytes) -> None:
    """Several partitions of several topics, some of them wrong, and one twice."""

    def initializing(*topics: tuple[bytes, list[int]]) -> initialization.InitializeShareGroupStateRequest:
        entries = [
            initialization.InitializeStateData(
                topic_id=each,
                partitions=[
                    initialization.PartitionData(partition=index, state_epoch=1, start_offset=10 + index)
                    for index in indexes
                ],
            )
            for each, indexes in topics
        ]
        return initialization.InitializeShareGroupStateRequest(group_id="several", topics=entries)

    def reading_all(*topics: tuple[bytes, list[int]]) -> reading.ReadShareGroupStateRequest:
        entries = [
            reading.ReadStateData(
                topic_id=each, partitions=[reading.PartitionData(partition=index, leader_epoch=0) for index in indexes]
            )
            for each, indexes in topics
        ]
        return reading.ReadShareGroupStateRequest(group_id="several", topics=entries)

    wanted = ((topic_id, [2, 0, 1, 7]), (other_id, [0, -1]), (UNKNOWN_ID, [0]))
    recorder.case("several partitions", 0, initializing(*wanted))
    recorder.case("several partitions", 0, reading_all(*wanted))
    twice = ((topic_id, [1, 1]), (other_id, [0]), (topic_id, [0, 1]))
    recorder.case("a topic and a partition twice", 0, initializing(*twice))
    recorder.case("a topic and a partition twice", 0, reading_all(*twice))
    recorder.case("one topic without partitions", 0, initializing((other_id, []), (topic_id, [0])))
    recorder.case("one topic without partitions", 0, reading_all((topic_id, [0]), (other_id, [])))


def _epochs(recorder: Recorder, place: Place) -> None:
    def state(what: str) -> None:
        recorder.case(what, 1, place.summing())

    recorder.case("epochs: a state", 0, place.initializing(5, 100))
    state("epochs: after it")
    for state_epoch in (4, 5, 6, -1, -2, 5, 7):
        recorder.case(f"epochs: initialized again in {state_epoch}", 0, place.initializing(state_epoch, 200))
        state(f"epochs: after {state_epoch}")
    for leader_epoch in (0, 3, 2, 3, -1, -2, 4):
        recorder.case(f"epochs: read by leader {leader_epoch}", 0, place.reading(leader_epoch))
        state(f"epochs: after leader {leader_epoch}")
    for epochs in ((7, 4), (6, 4), (8, 4), (7, 3), (7, 5), (-1, -1), (-1, 3), (6, -1), (-2, -2), (7, 4)):
        request = place.writing(epochs, 300, (300, 309, ACKNOWLEDGED, 1), complete_count=10)
        recorder.case(f"epochs: written in {epochs}", 1, request)
        state(f"epochs: after {epochs}")
    recorder.case("epochs: initialized after it", 0, place.initializing(7, 400))
    state("epochs: at last")
    recorder.case("epochs: an earlier leader", 0, place.reading(1))
    for leader_epoch in (0, 9, -1):
        recorder.case(f"epochs: summary for leader {leader_epoch}", 1, place.summing(leader_epoch))
    recorder.case("epochs: deleted", 0, place.deleting())
    recorder.case("epochs: deleted again", 0, place.deleting())
    state("epochs: after the end")
    recorder.case("epochs: an earlier epoch after the end", 0, place.initializing(1, -1))
    state("epochs: in it")
    recorder.case("epochs: an earlier leader after the end", 0, place.reading(0))


def _batches(recorder: Recorder, place: Place) -> None:
    """Record writes of batches: overlapping, adjacent, in and before the start offset, in any state."""
    writes: dict[str, tuple[int, list[tuple[int, int, int, int]]]] = {
        "a batch": (-1, [(10, 19, AVAILABLE, 1)]),
        "the same again": (-1, [(10, 19, AVAILABLE, 1)]),
        "a later delivery within it": (-1, [(13, 15, AVAILABLE, 2)]),
        "an earlier delivery over all": (-1, [(8, 22, ARCHIVED, 1)]),
        "the same delivery in a lower state": (-1, [(8, 9, AVAILABLE, 1)]),
        "the same delivery in a higher state": (-1, [(11, 12, ACKNOWLEDGED, 2)]),
        "adjacent in the same state": (-1, [(23, 25, ARCHIVED, 1), (26, 30, ARCHIVED, 1)]),
        "adjacent in another state": (-1, [(31, 31, AVAILABLE, 1)]),
        "out of order": (-1, [(50, 59, AVAILABLE, 1), (40, 45, AVAILABLE, 1)]),
        "overlapping each other": (-1, [(60, 69, AVAILABLE, 1), (65, 75, ACKNOWLEDGED, 1), (62, 63, ARCHIVED, 3)]),
        "a later start offset": (14, []),
        "a start offset within a batch": (28, [(20, 29, ARCHIVED, 9)]),
        "an earlier start offset": (5, [(5, 9, AVAILABLE, 1)]),
        "before the start offset": (20, [(1, 8, AVAILABLE, 1)]),
        "acquired": (-1, [(80, 81, 1, 1)]),
        "delivered 0 times": (-1, [(90, 91, AVAILABLE, 0)]),
        "all of it in one state": (-1, [(0, 200, ACKNOWLEDGED, 20)]),
        "a start offset after all": (500, []),
        "a start offset of -5": (-5, []),
    }
    recorder.case("batches: a state", 0, place.initializing(0, 0))
    for what, (start_offset, batches) in writes.items():
        request = place.writing((0, 0), start_offset, *batches, complete_count=len(batches))
        recorder.case(f"batches: {what}", 1, request)
        recorder.case(f"batches: after {what}", 0, place.reading(0))
        recorder.case(f"batches: after {what}", 1, place.summing())
    recorder.case("batches: version 0", 0, place.writing((0, 0), 600, (600, 601, AVAILABLE, 1)))
    recorder.case("batches: after version 0", 1, place.summing())


def _snapshots(recorder: Recorder, place: Place) -> None:
    """More changes than are updates of one snapshot; each snapshot has the whole state."""
    recorder.case("snapshots: a state", 0, place.initializing(2, 0))
    for number in range(10):
        batch = (number * 10, number * 10 + 5, ARCHIVED if number % 2 else AVAILABLE, 1 + number % 3)
        start_offset = -1 if number % 4 else number * 5
        recorder.case(
            f"snapshots: change {number}", 1, place.writing((2, 0), start_offset, batch, complete_count=number)
        )
        recorder.case(f"snapshots: after change {number}", 0, place.reading(number // 4))
        recorder.case(f"snapshots: after change {number}", 1, place.summing())


def _drawn(recorder: Recorder, topic_id: bytes) -> None:
    """Requests drawn from a few groups, partitions, epochs and offsets."""
    random = Random(DRAWN_SEED)
    for number in range(DRAWN_COUNT):
        place = Place(random.choice(("drawn-1", "drawn-2")), topic_id, random.choice((0, 0, 1, 2, 3)))
        request = _drawn_request(random, place)
        version = random.choice(list(versions_of(request)))
        recorder.case(f"drawn {number}", version, request)


def _drawn_request(random: Random, place: Place) -> RequestMessage:
    epochs = (random.choice((-1, 0, 1, 1, 2, 3)), random.choice((-1, 0, 1, 1, 2, 3)))
    match random.choice("iwwwwwrrrsd"):
        case "i":
            return place.initializing(epochs[0], random.choice((-1, 0, 10, 25)))
        case "w":
            count = random.choice((0, 1, 1, 2, 3))
            batches = [_drawn_batch(random) for _ in range(count)]
            return place.writing(
                epochs, random.choice((-1, -1, 0, 5, 20)), *batches, complete_count=random.choice((-1, 0, 3, 7))
            )
        case "r":
            return place.reading(epochs[1])
        case "s":
            return place.summing(epochs[1])
        case _:
            return place.deleting()


def _drawn_batch(random: Random) -> tuple[int, int, int, int]:
    first_offset = random.randrange(40)
    last_offset = first_offset + random.choice((0, 1, 4, 9, 20))
    return first_offset, last_offset, random.choice((AVAILABLE, ACKNOWLEDGED, ARCHIVED)), random.randrange(1, 4)


def _consumed(recorder: Recorder, group_id: str) -> tuple[Story, Place]:
    """Return a group that has acquired ten records, of which three are done."""
    story = Story(recorder, group_id)
    story.produce(10)
    story.join()
    story.first_fetch()
    story.fetch("acquires all", 1)
    story.acknowledge("two are done and one is back", 2, (0, 1, [ACCEPT]), (2, 2, [RELEASE]))
    return story, Place(group_id, story.topic_id)


def _of_a_group(recorder: Recorder) -> None:
    """The state that a group has made by its fetches and acknowledgements."""
    story, place = _consumed(recorder, "group")
    recorder.case("group: its state", 0, place.reading(-1))
    recorder.case("group: its state for the leader", 0, place.reading(0))
    recorder.case("group: its summary", 1, place.summing())
    recorder.case("group: its state is written", 1, place.writing((-1, -1), 4, (4, 5, AVAILABLE, 2), complete_count=0))
    story.offsets("after the write", {story.topic: [0]})
    story.acknowledge("more is done", 3, (3, 6, [ACCEPT]))
    recorder.case("group: its state after both", 0, place.reading(0))
    story.offsets("after both", {story.topic: [0]})


def _fenced_group(recorder: Recorder, group_id: str, *, state_epoch: int = 0, leader_epoch: int = 0) -> None:
    """A later epoch fences the leader of the partition, which reads the state again."""
    story, place = _consumed(recorder, group_id)
    if state_epoch:
        recorder.case(f"{group_id}: a later state", 0, place.initializing(state_epoch, 5))
    else:
        recorder.case(f"{group_id}: a later leader", 0, place.reading(leader_epoch))
    recorder.case(f"{group_id}: its summary", 1, place.summing())
    story.acknowledge("is not done", 3, (3, 6, [ACCEPT]))
    recorder.case(f"{group_id}: its state", 1, place.summing())
    story.offsets("after it", {story.topic: [0]})


def _deleted_state(recorder: Recorder) -> None:
    """The leader of the partition writes to a state that was deleted."""
    story, place = _consumed(recorder, "deleted")
    recorder.case("deleted: its end", 0, place.deleting())
    story.acknowledge("is not done", 3, (3, 6, [ACCEPT]))
    recorder.case("deleted: its summary", 1, place.summing())
    story.offsets("after it", {story.topic: [0]})


if __name__ == "__main__":
    main(capture)
