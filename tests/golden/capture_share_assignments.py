"""What a broker assigns to members of share groups whose subscriptions and topics change.

python -m tests.golden.capture_share_assignments HOST:PORT asks a fresh broker with the CONFIG of capture_share_groups.
Each scene has a group and topics of its own, and is played outside the assignment interval and within it. Its last line
is what __consumer_offsets has of the group. Topics that two members share have one partition, because the order of
several ones depends on the random topic id.
"""

from collections.abc import Callable, Sequence

from fauxka.broker.coordinators.java_hash_tables import uuid_hash
from fauxka.broker.coordinators.java_strings import INT32_MASK
from fauxka.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from fauxka.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fauxka.protocol.messages.find_coordinator import FindCoordinatorRequest
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fauxka.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from fauxka.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

from .capture_recorder import Recorder, main
from .capture_share_groups import GROUP_RESOURCE, member_id, wait_for_group_coordinator
from .share_group_log import ShareGroupNormalForm, initialized_counts, write_stored_records

HEARTBEAT_VERSION = 1
# Of the hash tables of two partitions, and of two members.
BUCKET_MASKS = (7, 15)
# The greatest interval that Kafka allows by default: no scene lasts so long.
LONG_MS = 15_000
# An interval that a scene waits for.
SHORT_MS = 4_000


class Scene:
    """One group and its topics."""

    def __init__(self, recorder: Recorder, group_id: str, **partition_counts: int) -> None:
        """partition_counts: of the topics by their short names."""
        self.recorder = recorder
        self.group_id = group_id
        # The existing topics by name, each with its id and its partition count.
        self._topics: dict[str, tuple[bytes, int]] = {}
        self._subscribed: dict[int, Sequence[str]] = {}
        # How many partitions of each topic have a state, when it was last looked up.
        self._initialized: dict[bytes, int] = {}
        for name, count in partition_counts.items():
            self.create(name, count)
        self.set_interval(0)

    def topic(self, name: str) -> str:
        """Return the whole name of a topic."""
        return f"{self.group_id}-{name}"

    def set_interval(self, interval_ms: int) -> None:
        """Set the group's assignment interval."""
        entry = AlterableConfig(name="share.assignment.interval.ms", config_operation=0, value=str(interval_ms))
        resource = AlterConfigsResource(resource_type=GROUP_RESOURCE, resource_name=self.group_id, configs=[entry])
        self.recorder.call(IncrementalAlterConfigsRequest(resources=[resource]), 1)
        self.recorder.settle()

    def member(self, number: int, *topics: str) -> "Member":
        """Return a new member that has its partitions."""
        member = Member(self, number)
        member.beat("joins", *topics, epoch=0)
        member.beat("gets its partitions")
        return member

    def create_in_order(self, first: str, second: str) -> None:
        """Create two topics with one partition, of which the first stands before the second in Kafka's hash tables."""
        self.create(first, 1)
        self.create(second, 1)
        while not _is_before(self._topics[self.topic(first)][0], self._topics[self.topic(second)][0]):
            for name in (first, second):
                self.delete(name)
                self.create(name, 1)

    def create(self, name: str, count: int, called: str | None = None) -> None:
        """Create a topic. called: in the lines, where it is not the first one of its name."""
        topic_id = self.recorder.create_topic(self.topic(name), count)
        self._topics[self.topic(name)] = (topic_id, count)
        if called is not None:
            self.recorder.normal_form.name_topic_id(topic_id, called)

    def grow(self, name: str, count: int) -> None:
        """Give a topic more partitions."""
        topic = self.topic(name)
        more = CreatePartitionsTopic(name=topic, count=count, assignments=None)
        self.recorder.call(CreatePartitionsRequest(topics=[more], timeout_ms=30_000), 3)
        self.recorder.wait_for_topic(topic, count)
        self.recorder.settle()
        self._topics[topic] = (self._topics[topic][0], count)

    def subscribed(self, number: int, names: Sequence[str] | None) -> None:
        """Return when each partition of the members' topics has a state, which Kafka creates beside its requests.

        names: the new subscription of a member, None for the one that it has.
        """
        if names is not None:
            self._subscribed[number] = names
        topics = {name for of_member in self._subscribed.values() for name in of_member}
        wanted = {topic_id: count for name, (topic_id, count) in self._topics.items() if name in topics}

        def have_states() -> bool:
            self._initialized = initialized_counts(self.recorder, self.group_id)
            return wanted.items() <= self._initialized.items()

        if not wanted.items() <= self._initialized.items():
            self.recorder.wait(have_states, f"states of {topics}")

    def left(self, number: int) -> None:
        """A member has left."""
        del self._subscribed[number]

    def describe(self, what: str) -> None:
        """Record the group."""
        self.recorder.case(f"{self.group_id}: {what}", 1, ShareGroupDescribeRequest(group_ids=[self.group_id]))

    def delete(self, name: str) -> None:
        """Delete a topic."""
        state = DeleteTopicState(name=self.topic(name))
        self.recorder.call(DeleteTopicsRequest(topics=[state], timeout_ms=30_000), 6)
        self.recorder.settle()
        topic_id, _ = self._topics.pop(self.topic(name))
        self.recorder.wait(
            lambda: topic_id not in initialized_counts(self.recorder, self.group_id), f"no states of {name}"
        )

    def end(self) -> None:
        """Record the group and its stored records."""
        self.describe("described")
        write_stored_records(self.recorder, f"{self.group_id}: stored", self.group_id)


def _is_before(first: bytes, second: bytes) -> bool:
    """Whether the first partition of a topic comes before that of another one."""
    hashes = [31 * uuid_hash(each) & INT32_MASK for each in (first, second)]
    return all((hashes[0] ^ hashes[0] >> 16) & mask < (hashes[1] ^ hashes[1] >> 16) & mask for mask in BUCKET_MASKS)


class Member:
    """A member, which remembers its epoch."""

    def __init__(self, scene: Scene, number: int) -> None:
        self._scene = scene
        self._number = number
        self.epoch = 0

    def beat(
        self, what: str, *topics: str, epoch: int | None = None, rack_id: str | None = None, names: bool = True
    ) -> None:
        """Record a heartbeat. topics: the subscription by short names; without any it is left out.

        names: False for a subscription to nothing.
        """
        subscribed = [self._scene.topic(name) for name in topics] if topics or not names else None
        request = ShareGroupHeartbeatRequest(
            group_id=self._scene.group_id,
            member_id=member_id(self._number),
            member_epoch=self.epoch if epoch is None else epoch,
            rack_id=rack_id,
            subscribed_topic_names=subscribed,
        )
        case = f"{self._scene.group_id}: {self._number} {what}"
        response = self._scene.recorder.case(case, HEARTBEAT_VERSION, request)
        assert isinstance(response, ShareGroupHeartbeatResponse)
        if response.error_code == 0 and response.member_epoch > 0:
            self.epoch = response.member_epoch
            self._scene.subscribed(self._number, subscribed)

    def leave(self) -> None:
        """Record the last heartbeat."""
        self.beat("leaves", epoch=-1)
        self._scene.left(self._number)


def capture(recorder: Recorder) -> None:
    """Record every case."""
    recorder.normal_form = ShareGroupNormalForm(recorder.bootstrap)
    recorder.call(FindCoordinatorRequest(key_type=0, coordinator_keys=["any"]), 6)
    wait_for_group_coordinator(recorder)
    for interval_ms, name in ((0, "outside"), (LONG_MS, "inside")):
        for play in SCENES:
            play(recorder, f"{play.__name__.replace('_', '-')}-{name}", interval_ms)
    waits_for_the_interval(recorder)


def drops(recorder: Recorder, group_id: str, interval_ms: int) -> None:
    """One member of two topics keeps one, takes the other one back, and drops both."""
    scene = Scene(recorder, group_id, a=2, b=3)
    one = scene.member(1, "a", "b")
    scene.set_interval(interval_ms)
    one.beat("keeps b", "b")
    one.beat("beats")
    one.beat("keeps b again", "b")
    one.beat("takes a back", "a", "b")
    one.beat("beats again")
    one.beat("drops both", names=False)
    one.beat("beats without topics")
    one.beat("takes a", "a")
    scene.set_interval(0)
    one.beat("beats after the interval")
    one.beat("beats at last")
    scene.end()


def adds(recorder: Recorder, group_id: str, interval_ms: int) -> None:
    """One member adds a topic whose partitions have no state yet, and topics that do not exist."""
    scene = Scene(recorder, group_id, a=2, b=3)
    one = scene.member(1, "a")
    scene.set_interval(interval_ms)
    one.beat("adds b", "a", "b")
    one.beat("beats")
    one.beat("beats again")
    one.beat("adds what does not exist", "a", "b", "c")
    one.beat("keeps what does not exist", "c")
    one.beat("beats without partitions")
    scene.create("c", 1)
    recorder.settle()
    one.beat("beats when it exists")
    one.beat("beats once more")
    scene.set_interval(0)
    one.beat("beats after the interval")
    one.beat("beats at last")
    scene.end()


def swaps(recorder: Recorder, group_id: str, interval_ms: int) -> None:
    """One member changes from one topic to another one, and back."""
    scene = Scene(recorder, group_id, a=2, b=3)
    one = scene.member(1, "a")
    scene.set_interval(interval_ms)
    one.beat("swaps a for b", "b")
    one.beat("beats")
    one.beat("beats again")
    one.beat("swaps b for a", "a")
    scene.describe("in the interval")
    one.beat("swaps a for b again", "b")
    scene.set_interval(0)
    one.beat("beats after the interval")
    one.beat("beats at last")
    scene.end()


def joins_again(recorder: Recorder, group_id: str, interval_ms: int) -> None:
    """One member joins again with other topics, sends an earlier epoch, changes its rack, and leaves."""
    scene = Scene(recorder, group_id, a=2, b=3)
    one = scene.member(1, "a", "b")
    scene.set_interval(interval_ms)
    one.beat("joins again", "b", epoch=0)
    one.beat("sends the epoch before", epoch=one.epoch - 1)
    one.beat("sends an earlier epoch", epoch=1)
    one.beat("sends a later epoch", epoch=one.epoch + 1)
    one.beat("joins again with the other topic", "a", epoch=0)
    one.beat("comes from a rack", rack_id="r")
    one.beat("comes from another rack", rack_id="s")
    one.beat("comes from another rack with a topic", "a", rack_id="t")
    one.leave()
    one.beat("joins once more", "a", epoch=0)
    one.beat("beats")
    scene.end()


def two_members(recorder: Recorder, group_id: str, interval_ms: int) -> None:
    """Two members with different topics: each one drops, adds and swaps, and the other one beats."""
    scene = Scene(recorder, group_id, a=1, b=1, c=4)
    one, two = scene.member(1, "a", "b"), scene.member(2, "b", "c")
    one.beat("beats before")
    scene.set_interval(interval_ms)
    one.beat("keeps b", "b")
    two.beat("beats")
    one.beat("beats")
    two.beat("swaps b for a", "a", "c")
    one.beat("beats again")
    two.beat("beats again")
    one.beat("takes what is two's", "c")
    two.beat("is alone with a", "a")
    one.beat("beats once more")
    scene.describe("in the interval")
    scene.set_interval(0)
    two.beat("beats after the interval")
    one.beat("beats after the interval")
    two.beat("beats at last")
    one.beat("beats at last")
    scene.end()


def shares_topics(recorder: Recorder, group_id: str, interval_ms: int) -> None:
    """Three members have the same two topics, of which one loses a topic and drops the other one."""
    scene = Scene(recorder, group_id)
    scene.create_in_order("a", "b")
    one = scene.member(1, "a", "b")
    two = scene.member(2, "a", "b")
    scene.set_interval(interval_ms)
    one.beat("loses a topic")
    two.beat("beats")
    one.beat("keeps a", "a")
    one.beat("beats")
    three = Member(scene, 3)
    three.beat("joins", "a", "b", epoch=0)
    one.beat("takes b back", "a", "b")
    two.beat("beats again")
    three.beat("beats")
    scene.set_interval(0)
    for member in (one, two, three):
        member.beat("beats after the interval")
    scene.end()


def leaves_and_joins(recorder: Recorder, group_id: str, interval_ms: int) -> None:
    """A member leaves what another one subscribes to, and a third one joins."""
    scene = Scene(recorder, group_id, a=1, b=4)
    one, two = scene.member(1, "a"), scene.member(2, "a", "b")
    one.beat("beats before")
    scene.set_interval(interval_ms)
    two.leave()
    one.beat("takes b too", "a", "b")
    one.beat("beats")
    three = Member(scene, 3)
    three.beat("joins", "a", epoch=0)
    one.beat("beats again")
    three.beat("beats")
    one.leave()
    three.beat("takes b", "b")
    three.beat("beats again")
    scene.set_interval(0)
    three.beat("beats after the interval")
    three.beat("beats at last")
    scene.end()


def topics_change(recorder: Recorder, group_id: str, interval_ms: int) -> None:
    """A topic gets partitions, and is deleted and created again."""
    scene = Scene(recorder, group_id, a=1, b=2)
    one = scene.member(1, "a", "b")
    scene.set_interval(interval_ms)
    scene.grow("a", 2)
    one.beat("beats when a has grown")
    one.beat("beats again")
    scene.delete("b")
    one.beat("beats when b is deleted")
    one.beat("beats without b")
    scene.describe("without b")
    scene.create("b", 1, called="the second b")
    recorder.settle()
    one.beat("beats when b is there again")
    one.beat("beats with b")
    one.beat("beats with b again")
    scene.set_interval(0)
    one.beat("beats after the interval")
    one.beat("beats at last")
    scene.end()


def waits_for_the_interval(recorder: Recorder) -> None:
    """A member swaps its topics, and gets the new one when the interval is over."""
    scene = Scene(recorder, "waits", a=2, b=3)
    one = scene.member(1, "a", "b")
    one.beat("keeps a", "a")
    scene.set_interval(SHORT_MS)
    one.beat("swaps a for b", "b")
    one.beat("beats before the interval is over")
    recorder.pass_ms(SHORT_MS)
    one.beat("beats when the interval is over")
    one.beat("swaps b for a", "a")
    one.beat("beats before the next interval is over")
    recorder.pass_ms(SHORT_MS)
    one.beat("beats when the next interval is over")
    scene.end()


SCENES: tuple[Callable[[Recorder, str, int], None], ...] = (
    drops,
    adds,
    swaps,
    joins_again,
    two_members,
    shares_topics,
    leaves_and_joins,
    topics_change,
)


if __name__ == "__main__":
    main(capture)
