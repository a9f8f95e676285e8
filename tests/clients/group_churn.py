"""A group whose members come and go, and what must be true of it all the while.

No partition is two members' at a time, in what the broker tells of the group nor in what the members say; none is
forgotten: in a stable group every partition is somebody's; and what is committed never goes back. In the end all that
was sent has been read, and committed.
FAUXKA_TEST_CHURN_SECONDS: how long it goes on; five seconds by default, two in a slice, and sixty are a proof.
"""

import itertools
import os
import random
import time
from collections import Counter
from contextlib import suppress

from fauxka.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from fauxka.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchResponse
from fauxka.protocol.primitives import Reader

from ..run_counts import count
from ..wire.message_client import MessageClient
from .client import STEP_SECONDS_MAX, Client, ClientError, GroupMember
from .records import FIRST_TIMESTAMP_MS, Record, StoredRecord

SECONDS_VARIABLE = "FAUXKA_TEST_CHURN_SECONDS"
SECONDS, SECONDS_IN_SLICE = 5, 2
CHURN_PARTITIONS = 6
MEMBERS_MAX = 8
RECORDS_A_STEP = 12
# A member comes or goes about every third round of polls, so that some generations become stable.
CHANGE_PROBABILITY = 0.35
SEED = 20260101
DESCRIBE_VERSION, OFFSET_FETCH_VERSION = 5, 9


def churn_seconds() -> float:
    """Return how long members come and go."""
    return float(os.environ.get(SECONDS_VARIABLE, count(SECONDS, in_slice=SECONDS_IN_SLICE)))


class GroupChurn:
    """One group of one client library, from its first member to its last."""

    def __init__(self, client: Client, bootstrap: str, topic: str, group: str) -> None:
        self._client = client
        self._topic = topic
        self._group = group
        self._connection = MessageClient(bootstrap)
        self._random = random.Random(SEED)
        self._members: list[GroupMember] = []
        self._sent = Counter[int]()
        self._read: dict[int, set[int]] = {partition: set() for partition in range(CHURN_PARTITIONS)}
        self._committed = dict.fromkeys(range(CHURN_PARTITIONS), -1)
        self._numbers = itertools.count()

    def close(self) -> None:
        """Have all members leave."""
        for member in self._members:
            member.close()
        self._connection.close()

    def go_on_for(self, seconds: float) -> None:
        """Have members come and go, read and commit."""
        deadline = time.monotonic() + seconds
        self._come()
        while time.monotonic() < deadline:
            if self._random.random() < CHANGE_PROBABILITY:
                self._come_or_go()
            self._send()
            self._step()

    def come_to_rest(self) -> None:
        """Check that the remaining members are assigned every partition."""
        deadline = time.monotonic() + STEP_SECONDS_MAX
        while not self._is_done():
            assert time.monotonic() < deadline, (self._committed, self._unread(), self._owned())
            self._step()

    # -- what happens

    def _come(self) -> None:
        self._members.append(self._client.join(self._group, self._topic))

    def _come_or_go(self) -> None:
        count = len(self._members)
        if count < MEMBERS_MAX and (count == 1 or self._random.random() < 0.5):
            self._come()
        elif count > 1:
            self._note(self._members.pop(self._random.randrange(count)).close())

    def _send(self) -> None:
        numbers = [next(self._numbers) for _ in range(RECORDS_A_STEP)]
        records = [
            Record(number % CHURN_PARTITIONS, None, str(number).encode(), (), FIRST_TIMESTAMP_MS) for number in numbers
        ]
        self._client.produce(self._topic, records)
        self._sent.update(record.partition for record in records)

    def _step(self) -> None:
        for member in self._members:
            self._note(member.poll())
            # A rebalance may have overtaken it. The Java consumer waits for the end of one before it says so, and all
            # members are in one thread here: who has no partitions has nothing to commit.
            if member.assigned_partitions():
                with suppress(ClientError):
                    member.commit()
        self._check_members()
        self._check_group()
        self._check_committed()

    def _note(self, read: list[StoredRecord]) -> None:
        for stored in read:
            self._read[stored.record.partition].add(stored.offset)

    def _is_done(self) -> bool:
        is_committed = all(self._committed[partition] == count for partition, count in self._sent.items())
        is_owned = sorted(self._owned().elements()) == list(range(CHURN_PARTITIONS))
        return is_committed and is_owned and not any(self._unread().values())

    def _unread(self) -> dict[int, set[int]]:
        return {partition: set(range(count)) - self._read[partition] for partition, count in self._sent.items()}

    def _owned(self) -> Counter[int]:
        return Counter(partition for member in self._members for partition in member.assigned_partitions())

    # -- what must be true

    def _check_members(self) -> None:
        """Members are asked one after the other, so whose partition is also another's is asked once more."""
        before = [member.assigned_partitions() for member in self._members]
        after = [member.assigned_partitions() for member in reversed(self._members)][::-1]
        held = Counter(partition for own, still in zip(before, after, strict=True) for partition in own & still)
        twice = [partition for partition, count in held.items() if count > 1]
        assert not twice, f"{twice} are two members': {before}, then {after}"

    def _check_group(self) -> None:
        response = self._connection.call(
            DescribeGroupsRequest(groups=[self._group]), DESCRIBE_VERSION, DescribeGroupsResponse
        )
        group = response.groups[0]
        if group.group_state == "Stable":
            assigned = sorted(p for member in group.members for p in _partitions_of(member.member_assignment))
            assert assigned == list(range(CHURN_PARTITIONS)), f"{len(group.members)} members have {assigned}"

    def _check_committed(self) -> None:
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=self._group, topics=None)])
        response = self._connection.call(request, OFFSET_FETCH_VERSION, OffsetFetchResponse)
        for topic in response.groups[0].topics:
            for entry in topic.partitions:
                before = self._committed[entry.partition_index]
                assert entry.committed_offset >= before, f"{entry} was {before}"
                self._committed[entry.partition_index] = entry.committed_offset


def _partitions_of(assignment: bytes) -> list[int]:
    """Return the partitions of a ConsumerProtocolAssignment for one topic."""
    if not assignment:
        return []
    reader = Reader(assignment)
    reader.int16()
    partitions: list[int] = []
    for _ in range(reader.array_length(2)):
        reader.string()
        partitions += [reader.int32() for _ in range(reader.array_length(4))]
    return partitions
