"""Assignments of tasks, and the steps of members towards them, compared with Kafka's classes (StreamsOracle.java)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from functools import partial

import pytest

from fauxka.broker.coordinators.streams.member import MemberState, StreamsMember
from fauxka.broker.coordinators.streams.reconciliation import Reconciliation
from fauxka.broker.coordinators.streams.sticky_assignor import (
    GroupSpec,
    MemberSpec,
    SubtopologySpec,
    assign,
)
from fauxka.protocol.error_codes import KafkaError
from fauxka.protocol.stored_records.streams_group_records import (
    CurrentTasks,
    StreamsMemberMetadata,
    TargetTasks,
    Task,
)

from ....each_case import check_each
from ....golden.capture_streams_oracle import VERSIONS, golden_of

# These know no offsets of tasks, and revoke a task that becomes active first.
EARLY = {"4.3.0"}
# The words of a question behind its kind, and its answer.
Question = tuple[list[str], str]


def results_of(version: str, kind: str) -> list[tuple[str, Question]]:
    """Return the questions of one kind and the answers of a release, each with a name."""
    lines: list[Question] = [tuple(json.loads(line)) for line in golden_of(version).read_text().splitlines()]
    found = [(arguments[1:], answer) for arguments, answer in lines if arguments[0] == kind]
    return [(f"{kind} {number}", each) for number, each in enumerate(found)]


def task_of(text: str) -> Task:
    subtopology_id, partition = text.split("_")
    return Task(subtopology_id, int(partition))


def numbered(text: str) -> dict[Task, int]:
    """Return the tasks of SUB_P@N+SUB_P@N with their numbers."""
    parts = [part.split("@") for part in text.split("+") if part]
    return {task_of(task): int(number) for task, number in parts}


def tasks_of(text: str) -> frozenset[Task]:
    return frozenset(task_of(part) for part in text.split("+") if part)


def listed(tasks: Iterable[Task]) -> str:
    return "+".join(f"{task.subtopology_id}_{task.partition}" for task in sorted(tasks))


def current(fields: list[str]) -> CurrentTasks:
    return CurrentTasks(numbered(fields[0]), tasks_of(fields[1]), tasks_of(fields[2]))


def target(text: str) -> TargetTasks:
    return TargetTasks(*map(tasks_of, text.split("/")))


def check_assignment(question: Question, *, is_early: bool) -> None:
    (replicas, described, entries), answer = question
    parts = {name: counted.split(":") for name, counted in (each.split("=") for each in described.split(","))}
    subtopologies = {name: SubtopologySpec(int(parts[name][0]), parts[name][1] == "1") for name in sorted(parts)}
    members: dict[str, MemberSpec] = {}
    for entry in entries.split(","):
        member_id, process_id, active, standby, offsets = entry.split("/")
        had = CurrentTasks(dict.fromkeys(tasks_of(active), 0), tasks_of(standby))
        members[member_id] = MemberSpec(process_id, had, {} if is_early else numbered(offsets))

    assigned = assign(GroupSpec(members, subtopologies, int(replicas), is_of_4_3=is_early))

    ours = [f"{name}/{listed(tasks.active)}/{listed(tasks.standby)}" for name, tasks in sorted(assigned.items())]
    assert ",".join(ours) == answer


class Owners:
    """The owners of tasks, as a question has them."""

    def __init__(self, text: str) -> None:
        self._active, self._standby, self._warmup = (
            {task_of(task): owners.split(";") for task, owners in (part.split("=") for part in each.split("+") if part)}
            for each in text.split("/")
        )

    def active_process(self, task: Task) -> str | None:
        return self._active[task][0] if task in self._active else None

    def standby_processes(self, task: Task) -> Collection[str]:
        return self._standby.get(task, ())

    def warmup_processes(self, task: Task) -> Collection[str]:
        return self._warmup.get(task, ())


def check_step(question: Question, *, is_early: bool) -> None:
    (epoch, wanted, owned, owners, described), answer = question
    member_epoch, previous, state, process_id, *tasks = described.split("/")
    member = StreamsMember(
        member_id="m",
        metadata=StreamsMemberMetadata(process_id=process_id),
        member_epoch=int(member_epoch),
        previous_member_epoch=int(previous),
        state=MemberState.of(int(state)),
        assigned=current(tasks[:3]),
        pending_revocation=current(tasks[3:]),
    )
    step = Reconciliation(
        target_epoch=int(epoch),
        target=target(wanted),
        owners=Owners(owners),
        owned=None if owned == "-" else target(owned),
        keeps_promoted=not is_early,
    )

    assert moved(step, member) == answer


def moved(step: Reconciliation, member: StreamsMember) -> str:
    """Return the member after the step, or its error, as StreamsOracle prints it."""
    try:
        after = step.step(member)
    except KafkaError as error:
        return {"FENCED_MEMBER_EPOCH": "FencedMemberEpochException"}[error.code.name]
    lists = (
        "/".join((_with_epochs(tasks), listed(tasks.standby), listed(tasks.warmup)))
        for tasks in (after.assigned, after.pending_revocation)
    )
    return "/".join((str(after.member_epoch), str(after.previous_member_epoch), str(int(after.state)), *lists))


def _with_epochs(tasks: CurrentTasks) -> str:
    parts = [f"{task.subtopology_id}_{task.partition}@{epoch}" for task, epoch in sorted(tasks.active.items())]
    return "+".join(parts)


@pytest.mark.parametrize("version", VERSIONS)
def test_tasks_are_assigned_as_by_kafkas_sticky_assignor(version: str) -> None:
    check_each(results_of(version, "assign"), partial(check_assignment, is_early=version in EARLY))


@pytest.mark.parametrize("version", VERSIONS)
def test_members_move_to_their_target_as_with_kafka(version: str) -> None:
    check_each(results_of(version, "step"), partial(check_step, is_early=version in EARLY))
