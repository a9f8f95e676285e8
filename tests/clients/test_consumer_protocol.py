"""Groups of the consumer protocol (group.protocol=consumer), as confluent-kafka and the Java client have them."""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from confluent_kafka import Consumer

from fauxka.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)
from fauxka.testing import Broker

from ..wire.message_client import MessageClient
from .client import Client, GroupMember, eventually, unique_name
from .confluent_client import ConfluentClient, ConfluentMember
from .console_tools import GROUPS, ConsoleTools
from .group_churn import CHURN_PARTITIONS, GroupChurn, churn_seconds
from .java_client import JavaClient, JavaMember
from .java_program import JavaProgram
from .records import PARTITION_COUNT, thousand_records
from .topics import create_topic

# Often enough that a change of the group is over within a second or two.
CONFIG = {
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.heartbeat.interval.ms": "100",
}

Join = Callable[[str, str], GroupMember]


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    with Broker(CONFIG) as broker:
        yield broker.bootstrap_servers


class ConfluentConsumers(ConfluentClient):
    """confluent-kafka, whose members speak the consumer protocol."""

    def join(self, group: str, topic: str) -> GroupMember:
        return ConfluentMember({**self._common, "group.id": group, "group.protocol": "consumer"}, topic)

    def join_as_instance(self, group: str, topic: str, instance: str) -> GroupMember:
        static = {"group.instance.id": instance}
        return ConfluentMember({**self._common, **static, "group.id": group, "group.protocol": "consumer"}, topic)


class JavaConsumers(JavaClient):
    """The Java client, whose members speak the consumer protocol."""

    def join(self, group: str, topic: str) -> GroupMember:
        return JavaMember(self, self.call("join", group=group, topic=topic, protocol="consumer"))

    def join_as_instance(self, group: str, topic: str, instance: str) -> GroupMember:
        number = self.call("join", group=group, topic=topic, protocol="consumer", instance=instance)
        return JavaMember(self, number)

    def join_by_pattern(self, group: str, pattern: str) -> GroupMember:
        return JavaMember(self, self.call("join", group=group, pattern=pattern, protocol="consumer"))


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(ConfluentConsumers, marks=pytest.mark.clients, id="confluent-kafka"),
        pytest.param(JavaConsumers, marks=pytest.mark.java, id="java"),
    ],
)
def client(bootstrap: str, request: pytest.FixtureRequest) -> Iterator[ConfluentConsumers | JavaConsumers]:
    make: type[ConfluentConsumers] | type[JavaConsumers] = request.param
    with closing(make(bootstrap)) as driver:
        yield driver


def described(bootstrap: str, group: str) -> DescribedGroup:
    """Return the group as the broker describes it."""
    with MessageClient(bootstrap) as connection:
        response = connection.call(ConsumerGroupDescribeRequest(group_ids=[group]), 1)
    assert isinstance(response, ConsumerGroupDescribeResponse)
    return response.groups[0]


def partitions_told(bootstrap: str, group: str) -> dict[str, set[int]]:
    """Return what each member of a stable group has, by its instance id or its own."""
    answer = described(bootstrap, group)
    return {
        member.instance_id or member.member_id: {
            index for topic in member.assignment.topic_partitions for index in topic.partitions
        }
        for member in answer.members
    }


class ConsumerGroupChurn(GroupChurn):
    """Members that come and go, of a group whose partitions the broker assigns."""

    def watch(self, bootstrap: str) -> None:
        """Ask that broker what the group has."""
        self._bootstrap = bootstrap

    def _check_group(self) -> None:
        group = described(self._bootstrap, self._group)
        owned = [
            index
            for member in group.members
            for topic in member.assignment.topic_partitions
            for index in topic.partitions
        ]
        assert len(owned) == len(set(owned)), group
        if group.group_state == "Stable":
            assert sorted(owned) == list(range(CHURN_PARTITIONS)), group


def test_one_to_eight_members_come_and_go(client: Client, bootstrap: str) -> None:
    topic = create_topic(client, bootstrap, "churn", CHURN_PARTITIONS)
    churn = ConsumerGroupChurn(client, bootstrap, topic, unique_name("group"))
    churn.watch(bootstrap)
    try:
        churn.go_on_for(churn_seconds())
        churn.come_to_rest()
    finally:
        churn.close()
    client.delete_topic(topic)


def test_a_static_member_that_rejoins_keeps_its_assignment(
    client: ConfluentConsumers | JavaConsumers, bootstrap: str
) -> None:
    topic = create_topic(client, bootstrap, "static", PARTITION_COUNT)
    group = unique_name("group")
    first = client.join_as_instance(group, topic, "one")
    other = client.join_as_instance(group, topic, "two")

    def shares() -> list[int]:
        first.poll()
        other.poll()
        return sorted(len(owned) for owned in partitions_told(bootstrap, group).values())

    assert eventually(shares, [1, 2]) == [1, 2]
    before, epoch = partitions_told(bootstrap, group), described(bootstrap, group).group_epoch
    first.close()
    away = partitions_told(bootstrap, group)
    first = client.join_as_instance(group, topic, "one")

    def is_back() -> bool:
        first.poll()
        return first.assigned_partitions() == before["one"]

    assert eventually(is_back, True)
    assert away == before
    assert partitions_told(bootstrap, group) == before
    assert described(bootstrap, group).group_epoch == epoch
    first.close()
    other.close()


def test_a_member_goes_on_where_the_last_one_has_committed(client: Client, bootstrap: str) -> None:
    topic = create_topic(client, bootstrap, "continued", PARTITION_COUNT)
    group = unique_name("group")
    records = thousand_records()
    client.produce(topic, records)
    first = client.join(group, topic)
    read: list[int] = []

    def count_read() -> int:
        read.extend(stored.offset for stored in first.poll())
        return len(read)

    assert eventually(count_read, len(records)) == len(records)
    first.commit()
    first.close()
    client.produce(topic, records[:3])
    second = client.join(group, topic)
    seen: list[int] = []

    def count_seen() -> int:
        seen.extend(stored.offset for stored in second.poll())
        return len(seen)

    assert eventually(count_seen, 3) == 3
    second.close()


@pytest.mark.java
def test_a_java_member_subscribes_by_a_regular_expression(bootstrap: str) -> None:
    with closing(JavaConsumers(bootstrap)) as client:
        prefix = unique_name("matched")
        client.create_topic(f"{prefix}-a", 2, {})
        client.create_topic(f"{prefix}-b", 1, {})
        client.create_topic(f"{prefix}.b", 1, {})
        group = unique_name("group")
        member = client.join_by_pattern(group, f"{prefix}-[a-z]")

        def told() -> set[tuple[str, int]]:
            member.poll()
            return {
                (topic.topic_name, index)
                for each in described(bootstrap, group).members
                for topic in each.assignment.topic_partitions
                for index in topic.partitions
            }

        expected = {(f"{prefix}-a", 0), (f"{prefix}-a", 1), (f"{prefix}-b", 0)}
        assert eventually(told, expected) == expected
        member.close()


@pytest.mark.clients
def test_a_classic_and_a_consumer_member_share_a_topic(bootstrap: str) -> None:
    with closing(ConfluentConsumers(bootstrap)) as client:
        topic = create_topic(client, bootstrap, "mixed", CHURN_PARTITIONS)
        group = unique_name("group")
        common = {"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False}
        classic = Consumer({**common, "heartbeat.interval.ms": 300, "session.timeout.ms": 6_000})
        classic.subscribe([topic])

        def classic_count() -> int:
            classic.poll(0.1)
            return len(classic.assignment())

        assert eventually(classic_count, CHURN_PARTITIONS) == CHURN_PARTITIONS
        modern = client.join(group, topic)

        def counts() -> tuple[int, int]:
            modern.poll()
            return classic_count(), len(modern.assigned_partitions())

        half = CHURN_PARTITIONS // 2
        assert eventually(counts, (half, half)) == (half, half)
        assert sorted(member.member_type for member in described(bootstrap, group).members) == [0, 1]
        modern.close()
        assert eventually(classic_count, CHURN_PARTITIONS) == CHURN_PARTITIONS
        assert described(bootstrap, group).error_code
        classic.close()


@pytest.mark.java
def test_kafka_consumer_groups_describes_state_and_members(bootstrap: str) -> None:
    with closing(JavaProgram("ToolRunner")) as program, closing(ConfluentConsumers(bootstrap)) as client:
        tools = ConsoleTools(program, bootstrap)
        topic = create_topic(client, bootstrap, "described", PARTITION_COUNT)
        group = unique_name("group")
        member = client.join(group, topic)

        def owned() -> int:
            member.poll()
            return len(member.assigned_partitions())

        assert eventually(owned, PARTITION_COUNT) == PARTITION_COUNT
        state = tools.output_of(GROUPS, "--describe", "--group", group, "--state", "--verbose")
        members = tools.output_of(GROUPS, "--describe", "--group", group, "--members", "--verbose")
        listed = tools.output_of(GROUPS, "--list", "--state", "--type")
        member.close()
        deleted = tools.output_of(GROUPS, "--delete", "--group", group)

        assert "uniform" in state
        assert "Stable" in state
        assert f"{topic}:0,1,2" in members
        assert [line.split()[1:] for line in listed.splitlines() if line.startswith(group)] == [["Consumer", "Stable"]]
        assert "successful" in deleted
