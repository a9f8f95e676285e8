"""Consumer groups against a model: a partition has at most one owner at a time, and one owner in the end."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse

from ..broker.coordinators.consumer_groups.consumer_group_harness import (
    SESSION_TIMEOUT_MS,
    ConsumerGroupHarness,
    HeartbeatFields,
)
from ..run_counts import examples
from .consumer_group_model import (
    ConsumerModel,
    Partition,
    check_every_partition_has_an_owner,
    check_no_partition_has_two_owners,
)

TOPICS = {"s": 1, "t": 5, "u": 4}
CONSUMERS = ("a", "b", "c", "d")
# Without further steps, a group is stable after a few heartbeats of each member. More would hide a lost partition.
ROUNDS_TO_SETTLE = 12
# Long enough that no member is removed because of a late revocation.
REBALANCE_TIMEOUT_MS = 1_000_000_000
REFUSALS = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.GROUP_ID_NOT_FOUND}

subscriptions = st.sampled_from([("t",), ("u",), ("t", "u"), ("s", "t", "u"), ("s",), ()])
# The kind of step, the consumer, and the topics of a subscription.
steps = st.lists(
    st.one_of(
        st.tuples(st.just("join"), st.sampled_from(CONSUMERS), subscriptions),
        st.tuples(st.just("subscribe"), st.sampled_from(CONSUMERS), subscriptions),
        st.tuples(st.just("heartbeat"), st.sampled_from(CONSUMERS), st.just(())),
        st.tuples(st.just("heartbeat"), st.sampled_from(CONSUMERS), st.just(())),
        st.tuples(st.just("revoke"), st.sampled_from(CONSUMERS), st.just(())),
        st.tuples(st.just("lose a response"), st.sampled_from(CONSUMERS), st.just(())),
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
        self.harness = ConsumerGroupHarness(**self.counts)
        self.consumers = {name: ConsumerModel(frozenset()) for name in CONSUMERS}
        self._assignor = assignor

    def do(self, step: tuple[str, str, tuple[str, ...]]) -> None:
        """Run a step, if the consumer can do it."""
        what, name, topics = step
        if what == "crash":
            self.harness.crash()
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
        elif what == "revoke":
            consumer.revoke()
        elif what == "leave":
            assert consumer.epoch is not None
            self.harness.heartbeat(name, -1)
            consumer.leave()
        else:
            self._send(name, is_response_lost=what == "lose a response")

    def _join(self, name: str, topics: tuple[str, ...]) -> None:
        consumer = self.consumers[name]
        consumer.leave()
        consumer.topics = frozenset(topics)
        response = self.harness.heartbeat(
            name,
            0,
            {},
            subscribed_topic_names=list(topics),
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            server_assignor=self._assignor,
        )
        self._apply(consumer, response)

    def _send(self, name: str, names: list[str] | None = None, *, is_response_lost: bool = False) -> None:
        """Send a heartbeat with the partitions of the consumer."""
        consumer = self.consumers[name]
        assert consumer.epoch is not None
        owned: dict[str, set[int]] = {}
        for topic, index in consumer.owned:
            owned.setdefault(topic, set()).add(index)
        fields: HeartbeatFields = {"subscribed_topic_names": names}
        if consumer.sends_all_fields:
            fields = {"subscribed_topic_names": sorted(consumer.topics), "rebalance_timeout_ms": REBALANCE_TIMEOUT_MS}
        try:
            response = self.harness.heartbeat(name, consumer.epoch, owned, **fields)
        except KafkaError as error:
            assert error.code in REFUSALS, error
            # Clients rejoin too.
            self._join(name, tuple(consumer.topics))
            return
        if is_response_lost:
            consumer.sends_all_fields = True
        else:
            self._apply(consumer, response)

    def _apply(self, consumer: ConsumerModel, response: ConsumerGroupHeartbeatResponse) -> None:
        assigned: set[Partition] | None = None
        if response.assignment is not None:
            assigned = {(name, index) for name, owned in self.harness.assigned(response).items() for index in owned}
        consumer.apply_response(response.member_epoch, assigned)

    def _wait(self) -> None:
        """Advance the clock by half a session, after which all but the first consumer send a heartbeat."""
        for consumer in self.consumers.values():
            consumer.revoke()
        self.harness.clock.advance(SESSION_TIMEOUT_MS // 2)
        for name in CONSUMERS[1:]:
            if self.consumers[name].epoch is not None:
                self._send(name)
        members = {member.member_id for member in self.harness.describe().members}
        if CONSUMERS[0] not in members:
            self.consumers[CONSUMERS[0]].leave()

    def _grow(self) -> None:
        topic = self.harness.cluster.image.find_topic("t")
        assert topic is not None
        self.counts["t"] += 1
        self.harness.cluster.controller.create_partitions(topic, self.counts["t"])

    def settle(self) -> None:
        """Send heartbeats of all members, which follow their assignments, until the group is stable."""
        for _ in range(ROUNDS_TO_SETTLE):
            for name, consumer in self.consumers.items():
                if consumer.epoch is not None:
                    consumer.revoke()
                    self._send(name)
                    check_no_partition_has_two_owners(self.consumers)
        for consumer in self.consumers.values():
            consumer.revoke()


@settings(max_examples=examples(100), deadline=None)
@given(happens=steps, assignor=st.sampled_from(["uniform", "range"]))
def test_a_partition_has_at_most_one_owner_at_a_time_and_one_in_the_end(
    happens: list[tuple[str, str, tuple[str, ...]]], assignor: str
) -> None:
    run = Run(assignor)

    for step in happens:
        run.do(step)
        check_no_partition_has_two_owners(run.consumers)
    run.settle()

    members = {name: consumer for name, consumer in run.consumers.items() if consumer.epoch is not None}
    check_every_partition_has_an_owner(members, run.counts)
    if members:
        assert run.harness.describe().group_state == "Stable"
