"""Situations of share groups, with the share consumer of confluent-kafka."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import confluent_kafka
import pytest

from fauxka.testing import Broker

from ..client import eventually
from ..group_readers import TOPIC
from .situation import GROUP, append, assert_clean, verdict_of

pytestmark = pytest.mark.clients

# Longer than share.record.lock.duration.ms.
LOCK_PASSED_MS = 31_000
POLL_SECONDS = 0.2


class ShareReader:
    """A member of the share group, which acknowledges each record with a type. messages: of the last read."""

    def __init__(self, broker: Broker) -> None:
        config: dict[str, Any] = {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": GROUP,
            "share.acknowledgement.mode": "explicit",
            "log_level": 0,
        }
        self._consumer: Any = confluent_kafka.ShareConsumer(config)
        self._consumer.subscribe([TOPIC])
        self.messages: list[Any] = []

    def read(self, count: int) -> list[Any]:
        """Return the next records, so many or more."""
        self.messages = []

        def poll() -> bool:
            self.messages += self._consumer.poll(POLL_SECONDS)
            return len(self.messages) >= count

        assert eventually(poll, expected=True), self.messages
        return self.messages

    def accept(self, messages: list[Any]) -> None:
        """Accept records."""
        self._acknowledge(messages, confluent_kafka.AcknowledgeType.ACCEPT)

    def release(self, messages: list[Any]) -> None:
        """Release records, so that they come again."""
        self._acknowledge(messages, confluent_kafka.AcknowledgeType.RELEASE)

    def _acknowledge(self, messages: list[Any], how: Any) -> None:
        for message in messages:
            self._consumer.acknowledge(message, how)
        self._consumer.commit_sync(5)

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()


@pytest.fixture
def members(share_broker: Broker) -> Iterator[tuple[ShareReader, ShareReader]]:
    """Two members, of which the first one has read all ten records and the second one nothing."""
    with closing(ShareReader(share_broker)) as first:
        first.read(10)
        with closing(ShareReader(share_broker)) as second:
            yield first, second


def found_in(broker: Broker) -> list[tuple[str, str, list[int]]]:
    return [(each.kind, each.cause, each.offsets) for each in verdict_of(broker).findings]


# Reported: a member is stopped during its processing, and another one gets its records.
def test_member_that_leaves_during_its_processing(broker: Broker, members: tuple[ShareReader, ShareReader]) -> None:
    first, second = members
    first.close()
    second.accept(second.read(10))

    twice, *others = verdict_of(broker).findings

    assert (twice.kind, twice.cause, twice.offsets, others) == ("delivered_twice", "member_left", [0, 9], [])
    assert "was gone before it acknowledged them" in twice.why


# Reported: processing takes longer than the lock, so that two members process the same records.
def test_processing_for_longer_than_the_lock(broker: Broker, members: tuple[ShareReader, ShareReader]) -> None:
    _, second = members
    broker.clock.advance(LOCK_PASSED_MS)
    second.accept(second.read(10))

    assert found_in(broker) == [("lock_ended", "lock_ended", [0, 9]), ("delivered_twice", "lock_ended", [0, 9])]
    with pytest.raises(AssertionError, match="ended before it acknowledged them"):
        verdict_of(broker).assert_delivered_once()


# Reported: a record that cannot be processed is released, and comes again and again.
def test_records_that_are_released_come_again(broker: Broker, members: tuple[ShareReader, ShareReader]) -> None:
    first, second = members
    first.release(first.messages)
    second.accept(second.read(10))

    twice, *others = verdict_of(broker).findings

    assert (twice.kind, twice.cause, twice.offsets, others) == ("delivered_twice", "released", [0, 9], [])
    assert "released them" in twice.why


def test_records_that_are_accepted_are_clean(broker: Broker, members: tuple[ShareReader, ShareReader]) -> None:
    first, second = members
    first.accept(first.messages)
    first.close()
    broker.clock.advance(LOCK_PASSED_MS)
    append(broker, 1)
    second.accept(second.read(1))

    assert_clean(verdict_of(broker))
