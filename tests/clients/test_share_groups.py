"""Share groups as the Java client and Kafka's tools use them."""

from collections.abc import Iterator

import pytest

from ..broker.running_cluster import RunningCluster
from .client import unique_name
from .console_tools import CONFIGS, STEP_MS_MAX, ConsoleTools
from .java_program import JavaProgram
from .records import PARTITION_COUNT

pytestmark = pytest.mark.java

SHARE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleShareConsumer"
SHARE_GROUPS = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
RECORDS = 60
LINES = [f"number:{number}\tkey-{number}\tvalue {number}" for number in range(RECORDS)]
VALUES = sorted(line.rpartition("\t")[2] for line in LINES)


@pytest.fixture
def topic(tools: ConsoleTools, tool_topic: str) -> str:
    tools.produce(tool_topic, LINES)
    return tool_topic


@pytest.fixture
def group(tools: ConsoleTools) -> str:
    """A group that begins with the first record there is."""
    name = unique_name("share")
    begin_at_the_earliest(tools, name)
    return name


@pytest.fixture
def three_nodes() -> Iterator[RunningCluster]:
    """Every node leads a partition of "orders" and has states; node 2 coordinates groups."""
    layouts = {
        "orders": [[1, 2], [2, 3], [3, 1]],
        "__consumer_offsets": [[2, 3]],
        "__share_group_state": [[1, 2], [2, 3], [3, 1]],
    }
    with RunningCluster() as running:
        create_topic = running.cluster.controller.create_topic
        running.call(lambda: [create_topic(name, len(each), assignments=each) for name, each in layouts.items()])
        yield running


def begin_at_the_earliest(tools: ConsoleTools, group: str) -> None:
    configs = ["--add-config", "share.auto.offset.reset=earliest"]
    tools.output_of(CONFIGS, "--alter", "--entity-type", "groups", "--entity-name", group, *configs)


def consume(tools: ConsoleTools, topic: str, group: str, *arguments: str) -> list[str]:
    """Return the values that the console share consumer prints, sorted."""
    limits = ["--max-messages", str(RECORDS), "--timeout-ms", STEP_MS_MAX]
    output = tools.output_of(SHARE_CONSUMER, "--topic", topic, "--group", group, *limits, *arguments)
    return sorted(output.splitlines())


def test_every_record_comes_once_and_the_group_is_done_with_it(tools: ConsoleTools, topic: str, group: str) -> None:
    assert consume(tools, topic, group) == VALUES

    lags = [row[-1] for row in rows(tools, group, "--offsets")]
    assert lags == ["0"] * PARTITION_COUNT


def test_every_record_of_three_leaders_comes_once(three_nodes: RunningCluster, program: JavaProgram) -> None:
    tools = ConsoleTools(program, three_nodes.address(1))
    tools.produce("orders", LINES)
    begin_at_the_earliest(tools, "workers")

    assert consume(tools, "orders", "workers") == VALUES

    assert [row[-1] for row in rows(tools, "workers", "--offsets")] == ["0"] * PARTITION_COUNT


def test_released_records_come_again(tools: ConsoleTools, topic: str, group: str) -> None:
    released = consume(tools, topic, group, "--release")

    # Kafka answers the first fetch of a group with the first partition that is ready. Its records may then come again
    # before those of the other partitions.
    assert len(released) == RECORDS
    assert set(released) <= set(VALUES)
    assert consume(tools, topic, group) == VALUES


def test_the_tool_lists_describes_resets_and_deletes(tools: ConsoleTools, topic: str, group: str) -> None:
    consume(tools, topic, group)

    assert group in tools.output_of(SHARE_GROUPS, "--list").split()
    assert [row[0] for row in rows(tools, group, "--state")] == [group]
    to = ["--reset-offsets", "--to-earliest", "--topic", topic, "--execute"]
    tools.output_of(SHARE_GROUPS, "--group", group, *to)
    assert consume(tools, topic, group) == VALUES
    tools.output_of(SHARE_GROUPS, "--delete", "--group", group)
    assert group not in tools.output_of(SHARE_GROUPS, "--list").split()


def rows(tools: ConsoleTools, group: str, what: str) -> list[list[str]]:
    """Return the words of the lines that the tool prints of the group."""
    output = tools.output_of(SHARE_GROUPS, "--describe", "--group", group, what)
    return [line.split() for line in output.splitlines() if line.startswith(group)]
