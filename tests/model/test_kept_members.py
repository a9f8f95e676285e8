"""Drawn joins, heartbeats, disconnections and advances: the members that stay are those of a plain model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.coordinators.consumer.heartbeats import Client
from fauxka.broker.coordinators.group.group_coordinator import GroupCoordinator
from fauxka.broker.coordinators.group.group_join import JoinAttempt
from fauxka.broker.runtime.deferred import Deferred
from fauxka.broker.runtime.expirations import Expired
from fauxka.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fauxka.protocol.messages.heartbeat import HeartbeatRequest
from fauxka.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fauxka.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from fauxka.protocol.messages.sync_group import SyncGroupRequest

from ..broker.coordinators.group_harness import GROUP, Connection, join_response
from ..manual_clock import manual_clock
from ..run_counts import examples

SECOND_MS, DAY_MS = 1000, 24 * 3_600_000
CLIENTS = range(3)
SESSION_MS = 45 * SECOND_MS


@dataclass
class ModelMember:
    """A member. due_ms: when its session ends without another heartbeat."""

    due_ms: int
    is_connected: bool = True


@dataclass
class Model:
    """The members by client: an advance ends those whose session is over, unless it keeps the connected ones."""

    now_ms: int = 0
    members: dict[int, ModelMember] = field(default_factory=dict[int, ModelMember])

    def heard(self, client: int) -> None:
        self.members[client] = ModelMember(self.now_ms + SESSION_MS)

    def advance(self, by_ms: int, *, keeps: bool) -> int:
        """Return how many members end."""
        self.now_ms += by_ms
        kept = {client for client, member in self.members.items() if keeps and member.is_connected}
        ended = [
            client for client, member in self.members.items() if client not in kept and member.due_ms <= self.now_ms
        ]
        for client in kept:
            self.members[client].due_ms = self.now_ms + SESSION_MS
        for client in ended:
            del self.members[client]
        return len(ended)


class Members(Protocol):
    """The members of one type of group."""

    def join(self, client: int, connection: Connection) -> None:
        """Join as a new member."""
        ...

    def heartbeat(self, client: int, connection: Connection) -> None:
        """Send a heartbeat of a member."""
        ...

    def is_member(self, client: int) -> bool:
        """Whether the client's member is in its group."""
        ...


class ClassicMembers:
    """Members of classic groups, each alone in its group, so that no rebalance waits for another one."""

    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator
        self._ids: dict[int, tuple[str, int]] = {}

    def join(self, client: int, connection: Connection) -> None:
        group_id = f"group-{client}"
        request = JoinGroupRequest(
            group_id=group_id,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=SESSION_MS,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        )
        attempt = JoinAttempt(
            request=request,
            client_id="client",
            connection=connection,
            requires_known_member_id=False,
            can_skip_assignment=False,
            deferred=Deferred(),
        )
        self._coordinator.join(attempt)
        joined = join_response(attempt.deferred)
        self._ids[client] = joined.member_id, joined.generation_id
        sync = SyncGroupRequest(group_id=group_id, generation_id=joined.generation_id, member_id=joined.member_id)
        self._coordinator.sync(sync, Deferred())

    def heartbeat(self, client: int, connection: Connection) -> None:
        group_id, (member_id, generation_id) = f"group-{client}", self._ids[client]
        self._coordinator.clients.heard(group_id, member_id, connection)
        request = HeartbeatRequest(group_id=group_id, member_id=member_id, generation_id=generation_id)
        self._coordinator.heartbeat(request, allows_early=True)

    def is_member(self, client: int) -> bool:
        return bool(self._coordinator.describe(f"group-{client}").members)


class ConsumerMembers:
    """Members of one group of the consumer protocol, without partitions that one of them had to revoke."""

    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator
        self._epochs: dict[int, int] = {}

    def join(self, client: int, connection: Connection) -> None:
        self._epochs[client] = 0
        self.heartbeat(client, connection)

    def heartbeat(self, client: int, connection: Connection) -> None:
        epoch = self._epochs[client]
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=f"member-{client}",
            member_epoch=epoch,
            rebalance_timeout_ms=SESSION_MS,
            subscribed_topic_names=["orders"],
            topic_partitions=[] if epoch == 0 else None,
        )
        response = self._coordinator.consumer_groups.heartbeat(request, Client("client", "/127.0.0.1"), api_version=1)
        self._coordinator.clients.heard(GROUP, f"member-{client}", connection)
        self._epochs[client] = response.member_epoch

    def is_member(self, client: int) -> bool:
        members = self._coordinator.consumer_groups.describe(GROUP).members
        return f"member-{client}" in [member.member_id for member in members]


class ShareMembers:
    """Members of one share group."""

    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator
        self._epochs: dict[int, int] = {}

    def join(self, client: int, connection: Connection) -> None:
        self._epochs[client] = 0
        self.heartbeat(client, connection)

    def heartbeat(self, client: int, connection: Connection) -> None:
        request = ShareGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=f"member-{client}",
            member_epoch=self._epochs[client],
            subscribed_topic_names=["orders"],
        )
        response = self._coordinator.share_groups.heartbeat(request, Client("client", "/127.0.0.1"))
        self._coordinator.clients.heard(GROUP, f"member-{client}", connection)
        self._epochs[client] = response.member_epoch

    def is_member(self, client: int) -> bool:
        members = self._coordinator.share_groups.describe(GROUP).members
        return f"member-{client}" in [member.member_id for member in members]


class Run:
    """A coordinator with the members of one type, and their model."""

    def __init__(self, make: Callable[[GroupCoordinator], Members]) -> None:
        self.clock = manual_clock()
        cluster = Cluster(BrokerConfig.from_entries({"group.initial.rebalance.delay.ms": "0"}), clock=self.clock)
        self.members = make(cluster.node.coordinators.groups)
        self.model = Model()
        self.connections = {client: Connection() for client in CLIENTS}

    def play(self, kind: str, client: int, by_ms: int) -> None:
        model, member = self.model, self.model.members.get(client)
        if kind in ("keep", "expire"):
            ended = self.clock.advance(by_ms, spares=kind == "keep").by_kind.get("members", Expired())
            assert ended.count == model.advance(by_ms, keeps=kind == "keep")
        elif kind == "disconnect":
            self.connections[client].is_closed = True
            if member is not None:
                member.is_connected = False
        else:
            # A client connects again for its next request.
            if self.connections[client].is_closed:
                self.connections[client] = Connection()
            request = self.members.join if member is None else self.members.heartbeat
            request(client, self.connections[client])
            model.heard(client)
        assert {each for each in CLIENTS if self.members.is_member(each)} == set(model.members)


durations = st.sampled_from(
    [0, 1, SESSION_MS - 1, SESSION_MS, SESSION_MS + 1, SESSION_MS // 2, 10 * SESSION_MS, DAY_MS]
)
kinds = st.sampled_from(["heartbeat", "heartbeat", "disconnect", "keep", "expire"])


@pytest.mark.parametrize("make", [ClassicMembers, ConsumerMembers, ShareMembers])
def test_an_advance_ends_the_members_that_the_model_ends(make: Callable[[GroupCoordinator], Members]) -> None:
    @settings(max_examples=examples(200))
    @given(st.lists(st.tuples(kinds, st.sampled_from(CLIENTS), durations), max_size=20))
    def play_all(steps: list[tuple[str, int, int]]) -> None:
        run = Run(make)
        for step in steps:
            run.play(*step)

    play_all()
