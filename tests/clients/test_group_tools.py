"""What Kafka's tools do to groups: kafka-consumer-groups and kafka-groups, as their scripts call them."""

import pytest

from .client import unique_name
from .console_tools import GROUPS, ConsoleTools
from .records import PARTITION_COUNT

pytestmark = pytest.mark.java

ALL_GROUPS = "org.apache.kafka.tools.GroupsCommand"
RECORDS = 30
LINES = [f"number:{number}\tkey-{number}\tvalue {number}" for number in range(RECORDS)]


@pytest.fixture
def topic(tools: ConsoleTools, tool_topic: str) -> str:
    tools.produce(tool_topic, LINES)
    return tool_topic


@pytest.fixture
def group(tools: ConsoleTools, topic: str) -> str:
    """A group that has read everything, and whose member has left."""
    name = unique_name("group")
    tools.consume(topic, RECORDS, "--group", name)
    return name


def rows_of(output: str, group: str) -> list[list[str]]:
    """Return the words of the lines about the group."""
    return [line.split() for line in output.splitlines() if line.startswith(group)]


def committed(tools: ConsoleTools, group: str) -> dict[int, str]:
    """Return the CURRENT-OFFSET of each partition."""
    described = tools.output_of(GROUPS, "--describe", "--group", group, "--offsets")
    return {int(row[2]): row[3] for row in rows_of(described, group)}


def test_a_group_is_listed_by_its_state_and_by_its_type(tools: ConsoleTools, group: str) -> None:
    by_state = tools.output_of(GROUPS, "--list", "--state", "empty")
    by_other_state = tools.output_of(GROUPS, "--list", "--state", "stable")
    by_type = tools.output_of(GROUPS, "--list", "--type", "classic")
    by_other_type = tools.output_of(GROUPS, "--list", "--type", "consumer")

    assert [group, "Empty"] in [row[:2] for row in rows_of(by_state, group)]
    assert rows_of(by_other_state, group) == []
    assert [group, "Classic"] in [row[:2] for row in rows_of(by_type, group)]
    assert rows_of(by_other_type, group) == []


def test_kafka_groups_lists_it_with_its_type_and_protocol(tools: ConsoleTools, group: str) -> None:
    listed = tools.output_of(ALL_GROUPS, "--list")
    of_consumers = tools.output_of(ALL_GROUPS, "--list", "--consumer")
    of_shares = tools.output_of(ALL_GROUPS, "--list", "--share")

    assert rows_of(listed, group) == [[group, "Classic", "consumer"]]
    assert rows_of(of_consumers, group) == [[group, "Classic", "consumer"]]
    assert rows_of(of_shares, group) == []


def test_its_state_and_its_members_are_described(tools: ConsoleTools, group: str) -> None:
    state = tools.output_of(GROUPS, "--describe", "--group", group, "--state")
    members = tools.run(GROUPS, "--describe", "--group", group, "--members")

    assert rows_of(state, group)[0][-2:] == ["Empty", "0"]
    assert "has no active members" in members.errors + members.output


def test_offsets_are_reset_and_read_again_from_there(tools: ConsoleTools, topic: str, group: str) -> None:
    before = committed(tools, group)

    tools.output_of(GROUPS, "--reset-offsets", "--group", group, "--topic", topic, "--shift-by", "-2", "--execute")
    after = committed(tools, group)
    read = tools.consume(topic, 2 * PARTITION_COUNT, "--group", group)

    assert sum(int(offset) for offset in before.values()) == RECORDS
    assert after == {partition: str(int(offset) - 2) for partition, offset in before.items()}
    assert len(read) == 2 * PARTITION_COUNT
    assert committed(tools, group) == before


def test_offsets_of_a_topic_are_deleted(tools: ConsoleTools, topic: str, group: str) -> None:
    tools.output_of(GROUPS, "--delete-offsets", "--group", group, "--topic", topic)

    assert set(committed(tools, group).values()) <= {"-"}


def test_a_group_is_deleted(tools: ConsoleTools, group: str) -> None:
    deleted = tools.output_of(GROUPS, "--delete", "--group", group)

    assert "was successful" in deleted
    assert group not in tools.output_of(GROUPS, "--list").split()
    assert "GroupIdNotFoundException" in tools.output_of(GROUPS, "--describe", "--group", group)
