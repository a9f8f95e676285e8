"""Streams groups in the data folder of either broker, and what clients see of them afterwards."""

from __future__ import annotations

import io

from fauxka.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup

from ..clients.console_tools import STREAMS_GROUPS, ConsoleTools
from ..clients.java_program import JavaProgram
from ..golden.streams_group_client import StreamsMember, tasks
from ..golden.streams_group_recorder import StreamsGroupNormalForm, StreamsGroupRecorder
from ..golden.streams_tools.groups import CONFIG, SOURCES, counts, group_maker
from ..golden.streams_tools.tool_recorder import ToolRecorder
from .log_client import log_client

GROUPS = (WITH_MEMBERS, EMPTY, DELETED) = ("app", "empty", "gone")
MEMBERS = ("b", "a")
VIEWS = ("--offsets", "--members", "--state")
# Of fauxka, so that its only node has the number of Kafka's.
OPTIONS = [word for key, value in {**CONFIG, "node.id": "1"}.items() for word in ("-c", f"{key}={value}")]


def make_groups(bootstrap: str) -> None:
    """Make a group with two members, one whose member has left, and one that is deleted."""
    with group_maker(bootstrap) as maker:
        _, a = maker.with_tasks(WITH_MEMBERS, *MEMBERS)
        maker.commit(WITH_MEMBERS, a)
        for group_id in (EMPTY, DELETED):
            (member,) = maker.with_tasks(group_id, "c")
            maker.commit(group_id, member)
            member.leave()
        maker.delete(DELETED)


def seen_by_clients(bootstrap: str, program: JavaProgram) -> list[str]:
    """Return what tools and members get, a line each. The last lines change the groups. program: a ToolRunner."""
    output = io.StringIO()
    recorder = StreamsGroupRecorder(bootstrap, output, normal_form=StreamsGroupNormalForm(bootstrap))
    with log_client(bootstrap) as client:
        for name in SOURCES:
            client.wait_until_led(name)
    recorder.expect_coordinator(0, "group")
    recorder.expect_loaded()
    tools = ToolRecorder(ConsoleTools(program, bootstrap), bootstrap, output)
    tools.run(STREAMS_GROUPS, "--list --state")
    for group_id in GROUPS:
        tools.run(STREAMS_GROUPS, *(f"--describe --group {group_id} {view} --verbose" for view in VIEWS))
    recorder.scene = "stored"
    for group_id in GROUPS:
        # One a request: the order of several is that in which partitions of the log are read.
        recorder.describe_streams(group_id, group_id)
    offsets = [OffsetFetchRequestGroup(group_id=group_id, topics=None) for group_id in GROUPS]
    recorder.case("offsets", 9, OffsetFetchRequest(groups=offsets))
    b, a = (_resumed(recorder, name) for name in MEMBERS)
    a.own()
    a.leave()
    b.own("gets the other tasks")
    b.own()
    recorder.describe_streams("with one member", WITH_MEMBERS)
    recorder.connection.close()
    return output.getvalue().splitlines()


def _resumed(recorder: StreamsGroupRecorder, name: str) -> StreamsMember:
    """Return a member that has the epoch and the tasks of its description."""
    member = StreamsMember(recorder, WITH_MEMBERS, name, counts(WITH_MEMBERS))
    members = recorder.described_streams(WITH_MEMBERS).members
    (described,) = (each for each in members if each.member_id == name)
    active = {each.subtopology_id: each.partitions for each in described.assignment.active_tasks}
    member.member_epoch, member.owned = described.member_epoch, (tasks(active), [], [])
    return member
