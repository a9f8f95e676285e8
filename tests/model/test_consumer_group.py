"""Whatever consumers do, no partition is anybody's twice at a time; when they are done, every one is somebody's."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse

from ..broker.coordinators.consumer_groups.consumer_play import SESSION_TIMEOUT_MS, ConsumerPlay, Told
from ..run_counts import examples
from .consumer_group_model import (
    ConsumerModel,
    Partition,
    check_everything_is_owned,
    check_nothing_is_owned_twice,
)

TOPICS = {"s": 1, "t": 5, "u": 4}
CONSUMERS = ("a", "b", "c", "d")
# A group that nothing happens to any more is stable after a few heartbeats of each; more would hide a lost partition.
ROUNDS_TO_SETTLE = 12
# Nobody is let go for giving up too late.
REBALANCE_TIMEOUT_MS = 1_000_000_000
REFUSALS = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.GROUP_ID_NOT_FOUND}

subscriptions = st.sampled_from([("t",), ("u",), ("t", "u"), ("s", "t", "u"), ("s",), ()])
# What happens, to whom, and a number or topics where that needs some.
steps = st.lists(
    st.one_of(
        st.tuples(st.just("join"), st.sampled_from(CONSUMERS), subscriptions),
        st.tuples(st.just("subscribe"), st.sampled_from(CONSUMERS), subscriptions),
        st.tuples(st.just("beat"), st.sampled_from(CONSUMERS), st.just(())),
        st.tuples(st.just("beat"), st.sampled_from(CONSUMERS), st.just(())),
        st.tuples(st.just("give up"), st.sampled_from(CONSUMERS), st.just(())),
        st.tuples(st.just("lose an answer"), st.sampled_from(CONSUMERS), st.just(())),
        st.tuples(st.just("leave"), st.sampled_from(CONSUMERS), st.just(())),
        st.tuples(st.just("crash"), st.just(""), st.just(())),
        st.tuples(st.just("wait"), st.just(""), st.just(())),
        st.tuples(st.just("grow"), st.just(""), st.just(())),
    ),
    max_size=40,
)


class Run:
    """One group, and the model of its consumers."""

    def __init__(self, assignor: str) -> None:
        self.counts = dict(TOPICS)
        self.play = ConsumerPlay(**self.counts)
        self.consumers = {name: ConsumerModel(frozenset()) for name in CONSUMERS}
        self._assignor = assignor

    def do(self, step: tuple[str, str, tuple[str, ...]]) -> None:
        """Have a step happen, where it can."""
        what, name, topics = step
        if what == "crash":
            self.play.crash()
        elif what == "wait":
            self._wait()
        elif what == "grow":
            self._grow()
        elif what == "join":
            self._join(name, topics)
        elif self.consumers[name].epoch is not None:
            self._do_as_member(what, name, topics)

    def _do_as_member(self, what: str, name: str, topics: tuple[str, ...]) -> None:
        consumer = self.consumers[name]
        if what == "subscribe":
            consumer.topics = frozenset(topics)
            self._send(name, names=list(topics))
        elif what == "give up":
            consumer.give_up()
        elif what == "leave":
            assert consumer.epoch is not None
            self.play.beat(name, -1)
            consumer.leave()
        else:
            self._send(name, is_answer_lost=what == "lose an answer")

    def _join(self, name: str, topics: tuple[str, ...]) -> None:
        consumer = self.consumers[name]
        consumer.leave()
        consumer.topics = frozenset(topics)
        answer = self.play.beat(
            name,
            0,
            {},
            subscribed_topic_names=list(topics),
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            server_assignor=self._assignor,
        )
        self._take(consumer, answer)

    def _send(self, name: str, names: list[str] | None = None, *, is_answer_lost: bool = False) -> None:
        """Send a heartbeat that tells what the consumer has."""
        consumer = self.consumers[name]
        assert consumer.epoch is not None
        owned: dict[str, set[int]] = {}
        for topic, index in consumer.owned:
            owned.setdefault(topic, set()).add(index)
        told: Told = {"subscribed_topic_names": names}
        if consumer.tells_all:
            told = {"subscribed_topic_names": sorted(consumer.topics), "rebalance_timeout_ms": REBALANCE_TIMEOUT_MS}
        try:
            answer = self.play.beat(name, consumer.epoch, owned, **told)
        except KafkaError as error:
            assert error.code in REFUSALS, error
            # As clients do.
            self._join(name, tuple(consumer.topics))
            return
        if is_answer_lost:
            consumer.tells_all = True
        else:
            self._take(consumer, answer)

    def _take(self, consumer: ConsumerModel, answer: ConsumerGroupHeartbeatResponse) -> None:
        assigned: set[Partition] | None = None
        if answer.assignment is not None:
            assigned = {(name, index) for name, owned in self.play.assigned(answer).items() for index in owned}
        consumer.be_told(answer.member_epoch, assigned)

    def _wait(self) -> None:
        """Let half a session pass, in which everybody but the first consumer is heard of."""
        for consumer in self.consumers.values():
            consumer.give_up()
        self.play.clock.advance(SESSION_TIMEOUT_MS // 2)
        for name in CONSUMERS[1:]:
            if self.consumers[name].epoch is not None:
                self._send(name)
        members = {member.member_id for member in self.play.described().members}
        if CONSUMERS[0] not in members:
            self.consumers[CONSUMERS[0]].leave()

    def _grow(self) -> None:
        topic = self.play.cluster.image.find_topic("t")
        assert topic is not None
        self.counts["t"] += 1
        self.play.cluster.controller.create_partitions(topic, self.counts["t"])

    def settle(self) -> None:
        """Have everybody who is a member do as it is told, until nothing changes any more."""
        for _ in range(ROUNDS_TO_SETTLE):
            for name, consumer in self.consumers.items():
                if consumer.epoch is not None:
                    consumer.give_up()
                    self._send(name)
                    check_nothing_is_owned_twice(self.consumers)
        for consumer in self.consumers.values():
            consumer.give_up()


@settings(max_examples=examples(100), deadline=None)
@given(happens=steps, assignor=st.sampled_from(["uniform", "range"]))
def test_a_partition_is_one_members_at_a_time_and_somebodys_in_the_end(
    happens: list[tuple[str, str, tuple[str, ...]]], assignor: str
) -> None:
    run = Run(assignor)

    for step in happens:
        run.do(step)
        check_nothing_is_owned_twice(run.consumers)
    run.settle()

    members = {name: consumer for name, consumer in run.consumers.items() if consumer.epoch is not None}
    check_everything_is_owned(members, run.counts)
    if members:
        assert run.play.described().group_state == "Stable"
