"""Members of a group over the wire: JoinGroup and SyncGroup, or ConsumerGroupHeartbeat, one connection a consumer."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from fauxka.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from fauxka.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from fauxka.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from fauxka.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from fauxka.protocol.primitives import Writer
from fauxka.testing import Broker

from ..clients.client import eventually
from ..wire.message_client import MessageClient
from .group_broker import GROUP, TOPIC, Consumer
from .recorded_broker import assignment_of

JOIN_VERSION, SYNC_VERSION, LEAVE_VERSION, HEARTBEAT_VERSION = 9, 5, 3, 1
SESSION_MS = 300_000
# Rounds of heartbeats after which a group that still changes is an error.
ROUNDS_MAX = 50
# Of a member that leaves, and of a static member that comes back.
LEAVES, LEAVES_FOR_NOW = -1, -2
PREPARING = "PreparingRebalance"


class Connections:
    """The connections of consumers, by their number."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._clients: dict[int, MessageClient] = {}

    def of(self, consumer: Consumer) -> MessageClient:
        """Return the connection of a consumer, which is opened if it is new."""
        client = self._clients.get(consumer.connection)
        if client is None:
            client = self._clients[consumer.connection] = MessageClient(self.address, consumer.client_id)
        return client

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            client.close()


class NoMembers:
    """Consumers without a group."""

    def assign(
        self, consumers: Sequence[Consumer], owners: Mapping[int, Consumer], *, is_new_generation: bool
    ) -> dict[int, Consumer]:
        """Return the owners."""
        del consumers, is_new_generation
        return dict(owners)

    def epoch_of(self, consumer: Consumer) -> int:
        """Return the generation of no group."""
        del consumer
        return -1


class ClassicMembers:
    """Members of a classic group. The leader assigns what the model says."""

    def __init__(self, connections: Connections, broker: Broker) -> None:
        self._connections = connections
        self._broker = broker
        self._present: list[Consumer] = []
        self._generation = -1
        # In the subscription, so that each new one makes a rebalance.
        self._changes = 0

    def epoch_of(self, consumer: Consumer) -> int:
        """Return the present generation."""
        del consumer
        return self._generation

    def assign(
        self, consumers: Sequence[Consumer], owners: Mapping[int, Consumer], *, is_new_generation: bool
    ) -> dict[int, Consumer]:
        """Have members leave and join, and the leader assign the partitions."""
        new = [each for each in consumers if each not in self._present]
        if is_new_generation:
            self._changes += 1
            for gone in [each for each in self._present if each not in consumers]:
                self._leave(gone)
            self._join([*new, *(each for each in consumers if each not in new)], owners)
        else:
            self._join(new, {})
        self._present = list(consumers)
        return dict(owners)

    def _state(self) -> str:
        return self._broker.groups.get(GROUP).state

    def _leave(self, consumer: Consumer) -> None:
        identity = MemberIdentity(member_id=consumer.name, group_instance_id=consumer.instance)
        request = LeaveGroupRequest(group_id=GROUP, members=[identity])
        response = self._connections.of(consumer).call(request, LEAVE_VERSION, LeaveGroupResponse)
        assert response.error_code == ErrorCode.NONE == response.members[0].error_code, response

    def _join(self, consumers: Sequence[Consumer], owners: Mapping[int, Consumer]) -> None:
        for each in consumers:
            if not each.name and each.instance is None:
                response = self._connections.of(each).call(self._join_request(each), JOIN_VERSION, JoinGroupResponse)
                assert response.error_code == ErrorCode.MEMBER_ID_REQUIRED, response
                each.name = response.member_id
        for each in consumers:
            is_new_instance = not each.name and len(consumers) > 1
            self._connections.of(each).send(self._join_request(each), JOIN_VERSION)
            if is_new_instance:
                # Members that join again before it is there would make a generation without it.
                assert eventually(self._state, PREPARING) == PREPARING
        leader = ""
        for each in consumers:
            joined = self._connections.of(each).receive(JoinGroupResponse)
            assert joined.error_code == ErrorCode.NONE, joined
            each.name, self._generation, leader = joined.member_id, joined.generation_id, joined.leader
        by_name = {each.name: each for each in consumers}
        assignments = [
            SyncGroupRequestAssignment(
                member_id=name,
                assignment=assignment_of([index for index, owner in owners.items() if owner is each]),
            )
            for name, each in by_name.items()
        ]
        for each in consumers:
            request = SyncGroupRequest(
                group_id=GROUP,
                generation_id=self._generation,
                member_id=each.name,
                group_instance_id=each.instance,
                protocol_type="consumer",
                protocol_name="range",
                assignments=assignments if each.name == leader and owners else [],
            )
            self._connections.of(each).send(request, SYNC_VERSION)
        for each in consumers:
            synced = self._connections.of(each).receive(SyncGroupResponse)
            assert synced.error_code == ErrorCode.NONE, synced

    def _join_request(self, consumer: Consumer) -> JoinGroupRequest:
        writer = Writer()
        writer.int16(0)
        user_data = self._changes.to_bytes(4, "big")
        ConsumerProtocolSubscription(topics=[TOPIC], user_data=user_data).write(writer, 0)
        return JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=SESSION_MS,
            member_id=consumer.name,
            group_instance_id=consumer.instance,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=writer.getvalue())],
        )


@dataclass
class _Member:
    """What a member of the consumer protocol has. is_reported: whether the coordinator knows it."""

    epoch: int = 0
    partitions: list[TopicPartitions] = field(default_factory=list[TopicPartitions])
    is_reported: bool = False


class ConsumerMembers:
    """Members of a group of the consumer protocol. The coordinator assigns, and they take it at once."""

    def __init__(self, connections: Connections, broker: Broker) -> None:
        self._connections = connections
        self._broker = broker
        self._members: dict[Consumer, _Member] = {}

    def epoch_of(self, consumer: Consumer) -> int:
        """Return the epoch of a member."""
        return self._members[consumer].epoch if consumer in self._members else 1

    def assign(
        self, consumers: Sequence[Consumer], owners: Mapping[int, Consumer], *, is_new_generation: bool
    ) -> dict[int, Consumer]:
        """Have members leave and join, send heartbeats until nothing changes, and return who has which partition."""
        del owners
        instances = {each.instance for each in consumers}
        for gone in [each for each in self._members if each not in consumers]:
            is_back = not is_new_generation and gone.instance in instances
            self._members.pop(gone)
            self._send(gone, _Member(LEAVES_FOR_NOW if is_back else LEAVES))
        for each in consumers:
            if each not in self._members:
                each.name = each.name or f"member-{each.connection}-{each.joined}"
                self._members[each] = _Member()
        rounds = quiet = 0
        while self._members and quiet < 2:
            rounds, quiet = rounds + 1, 0 if self._heartbeats() else quiet + 1
            assert rounds < ROUNDS_MAX, "the group has no stable assignment"
        topic_id = base64.urlsafe_b64decode(self._broker.topics.get(TOPIC).topic_id + "==")
        return {
            index: consumer
            for consumer, member in self._members.items()
            for each in member.partitions
            if each.topic_id == topic_id
            for index in each.partitions
        }

    def _heartbeats(self) -> bool:
        """Send a heartbeat of each member. Return whether something has changed."""
        changes = [self._heartbeat(consumer, member) for consumer, member in self._members.items()]
        return any(changes)

    def _heartbeat(self, consumer: Consumer, member: _Member) -> bool:
        response = self._send(consumer, member)
        has_changed = response.member_epoch != member.epoch or response.assignment is not None
        member.epoch, member.is_reported = response.member_epoch, True
        if response.assignment is not None:
            member.is_reported = False
            member.partitions = [
                TopicPartitions(topic_id=each.topic_id, partitions=each.partitions)
                for each in response.assignment.topic_partitions
            ]
        return has_changed

    def _send(self, consumer: Consumer, member: _Member) -> ConsumerGroupHeartbeatResponse:
        is_joining = member.epoch == 0
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=consumer.name,
            member_epoch=member.epoch,
            instance_id=consumer.instance,
            rebalance_timeout_ms=SESSION_MS if is_joining else -1,
            subscribed_topic_names=[TOPIC] if is_joining else None,
            topic_partitions=None if member.is_reported else member.partitions,
        )
        response = self._connections.of(consumer).call(request, HEARTBEAT_VERSION, ConsumerGroupHeartbeatResponse)
        assert response.error_code == ErrorCode.NONE, response
        return response
