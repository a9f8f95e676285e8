"""A member of a streams group, step by step: it remembers its epoch and its tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict, Unpack

from fauxka.protocol.messages.streams_group_heartbeat import (
    CopartitionGroup,
    Endpoint,
    KeyValue,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    Topology,
)

from ..messages import replaced
from .streams_group_recorder import StreamsGroupRecorder

REBALANCE_TIMEOUT_MS = 60_000


class JoinFields(TypedDict, total=False):
    """What a member sends when it joins, besides what each member does."""

    rack_id: str | None
    user_endpoint: Endpoint | None
    client_tags: list[KeyValue] | None
    process_id: str | None
    instance_id: str | None


class HeartbeatChanges(JoinFields, total=False):
    """Fields of a heartbeat that differ from what the client would send."""

    group_id: str
    member_id: str
    member_epoch: int
    endpoint_information_epoch: int
    rebalance_timeout_ms: int
    topology: Topology | None
    active_tasks: list[TaskIds] | None
    standby_tasks: list[TaskIds] | None
    warmup_tasks: list[TaskIds] | None
    task_offsets: list[TaskOffset] | None
    task_end_offsets: list[TaskOffset] | None
    shutdown_application: bool


def topic(name: str, partitions: int = 0, factor: int = 0, **configs: str) -> TopicInfo:
    """Return an internal topic. Underscores in config names stand for dots."""
    entries = [KeyValue(key=key.replace("_", "."), value=value) for key, value in configs.items()]
    return TopicInfo(name=name, partitions=partitions, replication_factor=factor, topic_configs=entries)


def subtopology(
    name: str,
    *sources: str,
    changelogs: Sequence[TopicInfo] = (),
    sinks: Sequence[str] = (),
    repartition: Sequence[TopicInfo] = (),
    joined: Sequence[tuple[Sequence[int], Sequence[int]]] = (),
) -> Subtopology:
    """Return a subtopology. joined: indexes of the sources and of the repartition topics of each copartition group."""
    return Subtopology(
        subtopology_id=name,
        source_topics=list(sources),
        state_changelog_topics=list(changelogs),
        repartition_sink_topics=list(sinks),
        repartition_source_topics=list(repartition),
        copartition_groups=[
            CopartitionGroup(source_topics=list(indexes), repartition_source_topics=list(internal))
            for indexes, internal in joined
        ],
    )


def topology(*subtopologies: Subtopology, epoch: int = 0) -> Topology:
    """Return a topology."""
    return Topology(epoch=epoch, subtopologies=list(subtopologies))


def tasks(partitions: Mapping[str, Sequence[int]]) -> list[TaskIds]:
    """Return tasks by subtopology."""
    return [TaskIds(subtopology_id=name, partitions=list(indexes)) for name, indexes in partitions.items()]


class StreamsMember:
    """One member; every method records a case."""

    def __init__(
        self,
        recorder: StreamsGroupRecorder,
        group_id: str,
        name: str,
        sent: Topology,
        **always: Unpack[JoinFields],
    ) -> None:
        """Be the member called name, in a process of its own unless one is named. always: fields of each join."""
        self.name = name
        self.group_id = group_id
        self.recorder = recorder
        self.topology = sent
        self.always = always
        self.instance_id = always.get("instance_id")
        self.member_epoch = 0
        self.endpoint_epoch = 0
        self.owned: tuple[list[TaskIds], list[TaskIds], list[TaskIds]] = ([], [], [])

    def join(self, case: str = "joins", **changes: Unpack[HeartbeatChanges]) -> StreamsGroupHeartbeatResponse:
        """Join, with everything that a client sends then."""
        request = StreamsGroupHeartbeatRequest(
            group_id=self.group_id,
            member_id=self.name,
            member_epoch=0,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            topology=self.topology,
            active_tasks=[],
            standby_tasks=[],
            warmup_tasks=[],
            process_id=f"process-{self.name}",
            endpoint_information_epoch=self.endpoint_epoch,
        )
        return self._send(case, replaced(replaced(request, **self.always), **changes))

    def beat(self, case: str = "is alive", **changes: Unpack[HeartbeatChanges]) -> StreamsGroupHeartbeatResponse:
        """Send a heartbeat without news."""
        request = StreamsGroupHeartbeatRequest(
            group_id=self.group_id,
            member_id=self.name,
            member_epoch=self.member_epoch,
            instance_id=self.instance_id,
            endpoint_information_epoch=self.endpoint_epoch,
        )
        return self._send(case, replaced(request, **changes))

    def own(self, case: str = "has its tasks") -> StreamsGroupHeartbeatResponse:
        """Send a heartbeat that reports exactly the assigned tasks."""
        active, standby, warmup = self.owned
        return self.beat(case, active_tasks=active, standby_tasks=standby, warmup_tasks=warmup)

    def leave(self, case: str = "leaves", **changes: Unpack[HeartbeatChanges]) -> None:
        """Leave for good, or for a while by the epoch -2."""
        changes.setdefault("member_epoch", -1)
        self.beat(case, **changes)

    def _send(self, case: str, request: StreamsGroupHeartbeatRequest) -> StreamsGroupHeartbeatResponse:
        response = self.recorder.case(f"{self.name} {case}", self.recorder.version, request)
        assert isinstance(response, StreamsGroupHeartbeatResponse), response
        if response.error_code == 0 and response.member_epoch > 0:
            self.member_epoch = response.member_epoch
            self.endpoint_epoch = response.endpoint_information_epoch
            if response.active_tasks is not None:
                self.owned = response.active_tasks, response.standby_tasks or [], response.warmup_tasks or []
        return response


def settle(*members: StreamsMember, rounds: int = 3) -> None:
    """Let the members exchange their tasks."""
    for number in range(1, rounds + 1):
        for member in members:
            member.own(f"has its tasks, round {number}")
