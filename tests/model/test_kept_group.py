"""A classic group agrees with its model under random requests and crashes: nothing written is lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.broker.coordinators.group.group_settings import GroupSettings
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.storage.cleaning.log_cleaner import LogCleaner

from ..broker.coordinators.group_harness import GROUP, SESSION_TIMEOUT_MS, SUBSCRIPTION, GroupHarness, topic_id
from ..run_counts import examples
from ..storage.cleaned_logs import roll
from .kept_group_model import KeptGroupModel, Seen

TOPICS = ("t", "u")
CLEANINGS_MAX = 100
GENERATIONS_MAX = 200
REFUSED = (ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID)
KINDS = """
    join/join/join static/sync/sync/rejoin/change/leave/heartbeat/wait/commit/commit as member/commit pending/end/
    delete offset/delete topic/delete group/fail/clean/crash/crash
"""


@dataclass(frozen=True)
class Step:
    """One step. who: the number of the member, producer or topic, modulo their count."""

    kind: str
    who: int = 0
    number: int = 0


steps = st.builds(
    Step,
    kind=st.sampled_from([kind.strip() for kind in KINDS.split("/")]),
    who=st.integers(0, 3),
    number=st.integers(0, 1000),
)


class Run:
    """One group and its model."""

    def __init__(self) -> None:
        self.harness = GroupHarness(
            GroupSettings(initial_rebalance_delay_ms=0),
            config={"offsets.topic.num.partitions": "1"},
        )
        self.model = KeptGroupModel()
        self.cleaned = 0

    def seen(self) -> Seen:
        described = self.harness.coordinator.describe(GROUP)
        members = tuple(sorted((member.member_id, member.member_assignment) for member in described.members))
        return Seen(described.group_state, described.protocol_data, members)

    def offsets(self) -> dict[str, int]:
        return {
            topic: partitions[0].offset
            for topic, partitions in self.harness.coordinator.offsets.of_group(GROUP).items()
        }

    def pending(self) -> set[str]:
        return {topic for topic in TOPICS if self.harness.coordinator.offsets.is_pending(GROUP, topic, 0)}

    def member(self, who: int) -> str:
        members = self.harness.member_ids
        return members[who % len(members)] if members else "nobody"

    @property
    def generation_id(self) -> int:
        """The generation in which a member's heartbeat is accepted."""
        member = self.member(0)
        generations = (g for g in range(GENERATIONS_MAX) if self.harness.heartbeat(member, g) not in REFUSED)
        return next(generations, -1)

    def do(self, step: Step) -> None:
        """Do the step, whether it is allowed or not, and update the model with the result."""
        harness, topic = self.harness, TOPICS[step.who % len(TOPICS)]
        match step.kind:
            case "join":
                harness.start_join(f"c{step.who}")
            case "join static":
                harness.start_join("static", instance=f"i{step.who}")
            case "rejoin":
                self._rejoin(step.who, SUBSCRIPTION)
            case "change":
                self._rejoin(step.who, SUBSCRIPTION + b"%d" % step.number)
            case "sync":
                self._try(partial(self._sync_all, step.number))
            case "leave":
                self._try(partial(harness.leave, self.member(step.who)))
            case "heartbeat":
                harness.heartbeat(self.member(step.who), self.generation_id)
            case "wait":
                harness.clock.advance(SESSION_TIMEOUT_MS // 2 if step.number % 2 else SESSION_TIMEOUT_MS)
            case "clean":
                self._clean()
            case "crash":
                self._crash()
            case _:
                self._change_offsets(step, topic)

    def _change_offsets(self, step: Step, topic: str) -> None:
        harness, model = self.harness, self.model
        match step.kind:
            case "commit":
                if self._try(partial(harness.commit, step.number, topic=topic)):
                    model.commit(topic, step.number)
            case "commit as member":
                member, generation_id = self.member(step.who), self.generation_id
                commit = partial(
                    harness.commit, step.number, topic=topic, member_id=member, generation_id=generation_id
                )
                if self._try(commit):
                    model.commit(topic, step.number)
            case "commit pending":
                if self._try(partial(harness.commit_pending, step.number, step.who, topic=topic)):
                    model.commit_pending(step.who, topic, step.number)
            case "end":
                harness.end_transaction(step.who, is_commit=step.number % 2 == 0)
                model.end_transaction(step.who, is_commit=step.number % 2 == 0)
            case "delete offset":
                if self._try(partial(self._delete_offset, topic)):
                    model.forget(topic)
            case "delete topic":
                harness.coordinator.offsets.remove_topics([(topic, topic_id(topic))])
                model.forget(topic)
            case "delete group":
                if self._try(partial(harness.coordinator.delete_group, GROUP)):
                    model.forget_all()
            case _:
                self._fail_to_commit(topic, step.number)

    def _try(self, do: Callable[[], None]) -> bool:
        try:
            do()
        except KafkaError:
            return False
        return True

    def _rejoin(self, who: int, metadata: bytes) -> None:
        if self.harness.state != "Dead":
            self.harness.rejoin(self.member(who), metadata)

    def _sync_all(self, number: int) -> None:
        members = self.harness.member_ids
        assignments = {member: b"%s has %d" % (member.encode(), number) for member in members}
        for member in members:
            self.harness.start_sync(member, self.generation_id, assignments)

    def _delete_offset(self, topic: str) -> None:
        offsets = self.harness.coordinator.offsets
        if offsets.delete(offsets.deletable_group_of(GROUP), [(topic, 0)]) != [ErrorCode.NONE]:
            raise KafkaError(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, topic)

    def _fail_to_commit(self, topic: str, number: int) -> None:
        self.harness.log.broken_by = ErrorCode.NOT_COORDINATOR
        with pytest.raises(KafkaError):
            self.harness.commit(number, topic=topic)
        self.harness.log.broken_by = None

    def _clean(self) -> None:
        topic = self.harness.cluster.image.find_topic("__consumer_offsets")
        if topic is None:
            return
        # The newest segment is never cleaned.
        roll(self.harness.cluster.node.replicas.partitions_of(topic)[0].log)
        replicas = self.harness.cluster.node.replicas
        cleaner = LogCleaner(replicas.file_system, replicas.logs)
        for _ in range(CLEANINGS_MAX):
            cleaning = cleaner.begin(self.harness.clock.now_ms())
            if cleaning is None:
                return
            self.cleaned += 1
            cleaning.run()
            while cleaner.advance(cleaning):
                cleaning.run()
            assert cleaning.error is None

    def _crash(self) -> None:
        self.harness.crash()
        assert self.model.is_restored_as(self.seen()), (self.seen(), self.model)

    def check(self) -> None:
        self.model.see(self.seen())
        assert self.offsets() == self.model.offsets
        assert self.pending() == {topic for offsets in self.model.pending.values() for topic in offsets}


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(steps, max_size=60))
def test_a_group_is_restored_after_any_number_of_crashes(drawn: list[Step]) -> None:
    run = Run()

    for step in [*drawn, Step("crash")]:
        run.do(step)
        run.check()
