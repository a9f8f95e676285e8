"""The command-line tools of Kafka 4.3, as its own scripts call them."""

import re
import subprocess

import pytest

from ..reference.kafka_process import SCRIPT, reference_jars
from .client import STEP_SECONDS_MAX, eventually, unique_name
from .client_contract import batches_of
from .console_tools import CONFIGS, GROUPS, OFFSETS, PRODUCER, TOPICS, ConsoleTools, by_partition, number_of
from .records import KEY_COUNT, PARTITION_COUNT, RECORD_COUNT
from .stored_batches import COMPRESSIONS

pytestmark = pytest.mark.java

# Headers, key and value, as ConsoleProducer reads them.
LINES = [f"number:{number},tool:console\tkey-{number % KEY_COUNT}\tvalue {number}" for number in range(RECORD_COUNT)]


@pytest.fixture
def topic(tool_topic: str) -> str:
    return tool_topic


def test_a_tool_of_its_own_process_asks_for_the_versions_the_broker_speaks(bootstrap: str) -> None:
    tool = "org.apache.kafka.tools.BrokerApiVersionsCommand"
    # On a new machine, a download that may take longer than a step.
    reference_jars()

    finished = subprocess.run(
        [str(SCRIPT), "tool", tool, "--bootstrap-server", bootstrap],
        capture_output=True,
        text=True,
        timeout=STEP_SECONDS_MAX,
    )

    assert finished.returncode == 0, finished.stderr
    assert "(id: 1 rack: null isFenced: false) -> (" in finished.stdout
    assert re.search(r"^\tProduce\(0\): 0 to 13 \[usable: 13\]", finished.stdout, re.MULTILINE)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_thousand_typed_records_are_printed_once_and_in_order(
    tools: ConsoleTools, bootstrap: str, topic: str, compression: str
) -> None:
    tools.produce(topic, LINES, compression)
    printed = tools.consume(topic, RECORD_COUNT)

    assert sorted(each.line for each in printed) == sorted(LINES)
    partitions = by_partition(printed)
    offsets = [[each.offset for each in alike] for alike in partitions]
    assert offsets == [list(range(len(alike))) for alike in partitions]
    # Lines were typed by rising number, so each partition has to hold rising numbers.
    assert partitions == [sorted(alike, key=number_of) for alike in partitions]


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_the_batches_are_an_idempotent_producers_and_compressed_as_asked(
    tools: ConsoleTools, bootstrap: str, topic: str, compression: str
) -> None:
    tools.produce(topic, LINES, compression)

    batches = batches_of(bootstrap, topic)
    assert compression in {batch.compression for batch in batches} <= {compression, "none"}
    [producer_id] = {batch.producer_id for batch in batches}
    assert producer_id >= 0


def test_offsets_are_returned_for_the_ends_and_for_a_timestamp(tools: ConsoleTools, topic: str) -> None:
    tools.produce(topic, ["h:1\tsame key\tone", "h:2\tsame key\ttwo"])
    [first, second] = tools.consume(topic, 2)

    def offset(time: str) -> str:
        return tools.output_of(OFFSETS, "--topic-partitions", f"{topic}:{first.partition}", "--time", time).strip()

    assert offset("earliest") == f"{topic}:{first.partition}:0"
    assert offset("latest") == f"{topic}:{first.partition}:2"
    expected = 0 if first.timestamp_ms == second.timestamp_ms else 1
    assert offset(str(second.timestamp_ms)) == f"{topic}:{first.partition}:{expected}"
    assert offset("max-timestamp") == f"{topic}:{first.partition}:{expected}"


def test_a_group_is_described_with_its_lag_and_listed(tools: ConsoleTools, topic: str) -> None:
    group = unique_name("group")
    tools.produce(topic, LINES)
    tools.consume(topic, RECORD_COUNT, "--group", group)
    tools.produce(topic, LINES[:1])

    described = tools.output_of(GROUPS, "--describe", "--group", group, "--offsets")
    listed = tools.output_of(GROUPS, "--list")

    rows = [line.split() for line in described.splitlines() if line.startswith(group)]
    assert sum(int(row[3]) for row in rows) == RECORD_COUNT
    assert sum(int(row[4]) for row in rows) == RECORD_COUNT + 1
    assert sum(int(row[5]) for row in rows) == 1
    assert group in listed.split()


def test_a_topic_is_created_described_extended_and_deleted(tools: ConsoleTools) -> None:
    name = unique_name("managed")
    tools.output_of(TOPICS, "--create", "--topic", name, "--partitions", "2", "--config", "retention.ms=60000")
    described = eventually_described(tools, name, 2)
    tools.output_of(TOPICS, "--alter", "--topic", name, "--partitions", "4")
    extended = eventually_described(tools, name, 4)
    tools.output_of(TOPICS, "--delete", "--topic", name)

    assert re.search(rf"Topic: {name}\tTopicId: \S{{22}}\tPartitionCount: 2\tReplicationFactor: 1\t", described)
    assert "retention.ms=60000" in described
    assert re.search(r"Partition: 1\tLeader: 1\tReplicas: 1\tIsr: 1", described)
    assert "PartitionCount: 4" in extended
    assert not eventually(lambda: name in tools.output_of(TOPICS, "--list").split(), False)


def eventually_described(tools: ConsoleTools, topic: str, partition_count: int) -> str:
    """Wait until the topic has that many partitions, and describe it."""
    described: list[str] = []

    def is_known() -> bool:
        described.append(tools.run(TOPICS, "--describe", "--topic", topic).output)
        return f"PartitionCount: {partition_count}" in described[-1]

    eventually(is_known, True)
    return described[-1]


def test_a_topics_configuration_is_altered_and_described(tools: ConsoleTools, topic: str) -> None:
    entity = ["--entity-type", "topics", "--entity-name", topic]
    tools.output_of(CONFIGS, "--alter", *entity, "--add-config", "max.message.bytes=2000,segment.bytes=1048576")
    altered = eventually_configured(tools, entity, "max.message.bytes=2000")
    tools.output_of(CONFIGS, "--alter", *entity, "--delete-config", "max.message.bytes")

    assert "max.message.bytes=2000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:max.message.bytes=2000" in altered
    assert "segment.bytes=1048576" in altered
    assert not eventually(lambda: "max.message.bytes" in tools.output_of(CONFIGS, "--describe", *entity), False)


def eventually_configured(tools: ConsoleTools, entity: list[str], entry: str) -> str:
    """Wait until the broker has the entry, and describe what is configured."""
    eventually(lambda: entry in tools.output_of(CONFIGS, "--describe", *entity), True)
    return tools.output_of(CONFIGS, "--describe", *entity)


def test_an_unknown_topic_is_refused_by_producer_and_topic_tool(tools: ConsoleTools) -> None:
    missing = unique_name("missing")

    produced = tools.run(PRODUCER, "--topic", missing, "--max-block-ms", "2000", "--sync", lines=["value"])
    described = tools.run(TOPICS, "--describe", "--topic", missing)

    assert produced.exit == 1
    assert f"Topic {missing} not present in metadata after 2000 ms" in produced.errors
    assert described.exit == 1
    assert f"Topic '{missing}' does not exist as expected" in described.output + described.errors


def test_a_record_larger_than_the_topic_allows_is_refused(tools: ConsoleTools, topic: str) -> None:
    entity = ["--entity-type", "topics", "--entity-name", topic]
    tools.output_of(CONFIGS, "--alter", *entity, "--add-config", "max.message.bytes=1000")
    eventually_configured(tools, entity, "max.message.bytes=1000")

    produced = tools.run(PRODUCER, "--topic", topic, "--sync", lines=["x" * 5_000])

    assert "RecordTooLargeException" in produced.errors
    assert tools.output_of(OFFSETS, "--topic", topic, "--time", "latest").splitlines() == [
        f"{topic}:{index}:0" for index in range(PARTITION_COUNT)
    ]
