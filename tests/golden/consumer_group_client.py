"""A member of a group of the consumer protocol, step by step: it remembers its epoch and its partitions."""

from typing import TypedDict, Unpack

from fauxka.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

from ..messages import replaced
from .consumer_group_recorder import ConsumerGroupRecorder

HEARTBEAT_LATEST = 1
REBALANCE_TIMEOUT_MS = 60_000


class HeartbeatChanges(TypedDict, total=False):
    """Fields of a heartbeat that differ from what the client would send."""

    group_id: str
    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    subscribed_topic_names: list[str] | None
    subscribed_topic_regex: str | None
    server_assignor: str | None
    topic_partitions: list[TopicPartitions] | None


class ConsumerMember:
    """One member; every method records a case."""

    def __init__(
        self,
        recorder: ConsumerGroupRecorder,
        group_id: str,
        name: str,
        *topics: str,
        instance_id: str | None = None,
        member_id: str | None = None,
    ) -> None:
        """Be the member called name, which subscribes to topics. Its id is its name, unless another one is given."""
        self.name = name
        self.group_id = group_id
        self.recorder = recorder
        self.topics = list(topics)
        self.instance_id = instance_id
        self.member_id = name if member_id is None else member_id
        self.member_epoch = 0
        self.owned: list[TopicPartitions] = []

    def join(
        self, case: str = "joins", version: int = HEARTBEAT_LATEST, **changes: Unpack[HeartbeatChanges]
    ) -> ConsumerGroupHeartbeatResponse:
        """Join, with everything that a client tells then."""
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group_id,
            member_id=self.member_id,
            member_epoch=0,
            instance_id=self.instance_id,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            subscribed_topic_names=self.topics,
            topic_partitions=[],
        )
        return self._send(case, version, replaced(request, **changes))

    def beat(
        self, case: str = "is alive", version: int = HEARTBEAT_LATEST, **changes: Unpack[HeartbeatChanges]
    ) -> ConsumerGroupHeartbeatResponse:
        """Send a heartbeat without news."""
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group_id,
            member_id=self.member_id,
            member_epoch=self.member_epoch,
            instance_id=self.instance_id,
        )
        return self._send(case, version, replaced(request, **changes))

    def own(self, case: str = "has what it is to have") -> ConsumerGroupHeartbeatResponse:
        """Send a heartbeat that reports exactly the assigned partitions."""
        return self.beat(case, topic_partitions=self.owned)

    def leave(self, case: str = "leaves", epoch: int = -1) -> None:
        """Leave for good, or for a while by epoch -2."""
        self.beat(case, member_epoch=epoch)

    def _send(self, case: str, version: int, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
        response = self.recorder.case(f"{self.name} {case}", version, request)
        assert isinstance(response, ConsumerGroupHeartbeatResponse), response
        if response.error_code == 0 and response.member_epoch > 0:
            self.member_epoch = response.member_epoch
            self.member_id = response.member_id or ""
            if response.assignment is not None:
                self.owned = response.assignment.topic_partitions
        return response


def pair(recorder: ConsumerGroupRecorder, group_id: str, *topics: str) -> tuple[ConsumerMember, ConsumerMember]:
    """Return two members "a" and "b" of a stable group."""
    a, b = ConsumerMember(recorder, group_id, "a", *topics), ConsumerMember(recorder, group_id, "b", *topics)
    a.join()
    b.join()
    a.beat("is told to give up")
    a.own("has given up")
    b.beat("gets its partitions")
    b.own()
    return a, b
