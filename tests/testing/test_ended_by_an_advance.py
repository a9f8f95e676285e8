"""What an advance of the clock says that it ended.

Members and offsets: tests/clients/test_kept_members.py. Tokens: tests/broker/security/test_delegation_tokens.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import get_args

import pytest
from msgspec.structs import fields

from fauxka.admin.operations.clock_operations import Ended, EndedKind
from fauxka.broker.runtime.expirations import Kind
from fauxka.protocol.messages.share_fetch import FetchPartition, FetchTopic, ShareFetchRequest, ShareFetchResponse
from fauxka.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from fauxka.testing import Broker

from ..broker.blocking_client import batch
from ..broker.transactional_client import TransactionalClient
from ..wire.message_client import MessageClient

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
GROUP, MEMBER, TOPIC = "tills", "AQEBAQEBAQEBAQEBAQEBAQ", "events"
NOTHING = EndedKind()


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        broker.topics.create(TOPIC)
        yield broker


def ended_by(broker: Broker, ms: int) -> dict[str, object]:
    """Advance the clock, and return the kinds of which something ended."""
    ended = broker.clock.advance(ms).ended
    by_kind: dict[str, EndedKind] = {kind: getattr(ended, kind) for kind in get_args(Kind)}
    return {kind: {"count": each.count, "names": each.names} for kind, each in by_kind.items() if each != NOTHING}


def one(name: str) -> dict[str, object]:
    return {"count": 1, "names": [name]}


def test_the_response_has_every_kind() -> None:
    assert tuple(each.name for each in fields(Ended)) == get_args(Kind)


def test_an_advance_that_ends_nothing_says_so(broker: Broker) -> None:
    assert ended_by(broker, 1000) == {}


def test_deleted_segments_are_reported(broker: Broker) -> None:
    broker.topics.seed(TOPIC, ["1", "2"])

    assert ended_by(broker, 8 * DAY_MS) == {"segments": one("events-0")}


def test_an_idle_producer_is_reported(broker: Broker) -> None:
    with TransactionalClient(broker.bootstrap_servers) as client:
        client.produce(TOPIC, batch(b"1", producer_id=5, sequence=0))

    assert ended_by(broker, 2 * DAY_MS) == {"producers": one("events-0")}


def test_a_transaction_and_later_its_id_are_reported(broker: Broker) -> None:
    with TransactionalClient(broker.bootstrap_servers) as client:
        client.find_coordinator()
        client.begin()

        aborted = ended_by(broker, HOUR_MS)
        later = ended_by(broker, 8 * DAY_MS)

    assert aborted == {"transactions": one("tx")}
    assert later["transactional_ids"] == one("tx")


class ShareMember:
    """A member of a share group with its own connection."""

    def __init__(self, broker: Broker) -> None:
        self._connection = MessageClient(broker.bootstrap_servers)
        topic = broker.cluster.image.find_topic(TOPIC)
        assert topic is not None
        self._topic = FetchTopic(topic_id=topic.topic_id, partitions=[FetchPartition(partition_index=0)])

    def close(self) -> None:
        self._connection.close()

    def beat(self, epoch: int) -> int:
        """Send a heartbeat, and return the next epoch."""
        names = [TOPIC] if epoch == 0 else None
        request = ShareGroupHeartbeatRequest(
            group_id=GROUP, member_id=MEMBER, member_epoch=epoch, subscribed_topic_names=names
        )
        response = self._connection.call(request, 1, ShareGroupHeartbeatResponse)
        assert response.error_code == 0, response
        return response.member_epoch

    def fetch(self, epoch: int) -> int:
        """Return how many records were acquired."""
        request = ShareFetchRequest(
            group_id=GROUP,
            member_id=MEMBER,
            share_session_epoch=epoch,
            max_wait_ms=500,
            max_bytes=1 << 20,
            max_records=500,
            batch_size=500,
            topics=[self._topic] if epoch == 0 else [],
        )
        response = self._connection.call(request, 2, ShareFetchResponse)
        acquired = [each for topic in response.responses for each in topic.partitions[0].acquired_records]
        return sum(each.last_offset - each.first_offset + 1 for each in acquired)


@pytest.fixture
def share_member(broker: Broker) -> Iterator[ShareMember]:
    with closing(ShareMember(broker)) as member:
        yield member


def test_ended_locks_of_a_connected_share_member_are_reported_and_the_member_stays(
    broker: Broker, share_member: ShareMember
) -> None:
    epoch = share_member.beat(0)
    share_member.fetch(0)
    broker.topics.seed(TOPIC, ["1", "2", "3"])
    acquired = share_member.fetch(1)

    ended = ended_by(broker, DAY_MS)

    assert (acquired, ended) == (3, {"share_locks": {"count": 3, "names": ["events-0 of tills"]}})
    assert share_member.beat(epoch) >= epoch
    assert share_member.fetch(2) == 3


def test_a_share_member_whose_connection_is_closed_ends(broker: Broker, share_member: ShareMember) -> None:
    share_member.beat(0)
    share_member.close()
    broker.groups.wait_stable(GROUP)

    assert ended_by(broker, DAY_MS) == {"members": one(f"{MEMBER} of {GROUP}")}
