"""`fauxka kafka-topics` beside Kafka's own TopicCommand: the same commands, the same output."""

import re
import subprocess
from pathlib import Path

import pytest

from fauxka.testing import Broker

from ..serving_process import COMMAND, run, serving
from .client import STEP_SECONDS_MAX, unique_name
from .console_tools import TOPICS, ConsoleTools, Ended

pytestmark = pytest.mark.processes

TOPIC_ID = re.compile(r"TopicId: \S{22}")
CONFIGS = re.compile(r"(?<=Configs: )\S+")
# Each with NAME for a topic of its own; together they make, change and delete it. None describes several topics, which
# Kafka's command lists in any order.
COMMANDS = [
    "--create --topic NAME --partitions 3 --replication-factor 1 --config retention.ms=1000 --config segment.ms=99",
    "--create --topic NAME",
    "--create --topic NAME --if-not-exists",
    "--create --topic NAME.with_both",
    "--create --topic NAME-bad --config nonsense=1",
    "--create --topic NAME-bad --replication-factor 3",
    "--create --topic NAME-bad --partitions 0",
    "--list --topic NAME.*",
    "--list --topic NAME,NAME.with_both",
    "--list --topic NAME --exclude-internal",
    "--describe --topic NAME|nothing",
    "--describe --topic NAME-none",
    "--describe --topic NAME-none --if-exists",
    "--alter --topic NAME --partitions 4",
    "--alter --topic NAME --partitions 2",
    "--describe --topic NAME",
    "--delete --topic NAME-none",
    "--delete --topic NAME-none --if-exists",
    "--delete --topic NAME.*",
    "--list --topic NAME.*",
]


def comparable(exit_code: int, output: str, name: str) -> tuple[int, str]:
    """Return exit code and output without what differs between two topics.

    Kafka's command lists configs in an order that differs from run to run.
    """
    sorted_configs = CONFIGS.sub(lambda found: ",".join(sorted(found.group().split(","))), output)
    return exit_code, TOPIC_ID.sub("TopicId: ID", sorted_configs).replace(name, "NAME").rstrip("\n")


def by_kafka(tools: ConsoleTools, command: str, name: str) -> tuple[int, str]:
    ended: Ended = tools.run(TOPICS, *command.replace("NAME", name).split())
    return comparable(ended.exit, ended.output, name)


def by_fauxka(bootstrap: str, command: str, name: str) -> tuple[int, str]:
    ended = run("kafka-topics", "--bootstrap-server", bootstrap, *command.replace("NAME", name).split())
    # Kafka's command writes its errors to standard output.
    return comparable(ended.exit_code, ended.output + ended.log, name)


@pytest.mark.java
def test_the_output_is_that_of_kafkas_command(tools: ConsoleTools, bootstrap: str) -> None:
    theirs, ours = unique_name("theirs"), unique_name("ours")

    seen = [(command, by_kafka(tools, command, theirs), by_fauxka(bootstrap, command, ours)) for command in COMMANDS]

    assert [(command, ours) for command, _, ours in seen] == [(command, theirs) for command, theirs, _ in seen]


def test_it_waits_for_a_broker_that_starts_later(tmp_path: Path) -> None:
    with serving(tmp_path) as broker:
        port = str(broker.port)
    command = [*COMMAND, "kafka-topics", "--bootstrap-server", f"127.0.0.1:{port}", "--create", "--topic", "orders"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    with serving(tmp_path, "--port", port):
        output, _ = process.communicate(timeout=STEP_SECONDS_MAX)

    assert (process.returncode, output) == (0, "Created topic orders.\n")


def test_topic_of_more_partitions_than_a_response_holds_is_described_whole() -> None:
    with Broker({"max.request.partition.size.limit": 100}) as broker:
        broker.topics.create("orders", partitions=250)
        command = ("kafka-topics", "--bootstrap-server", broker.bootstrap_servers, "--describe", "--topic", "orders")

        described = run(*command).output

    assert "PartitionCount: 250" in described
    assert re.findall(r"Partition: (\d+)", described) == [str(number) for number in range(250)]


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        ("--list", 2, "fauxka: Missing option '--bootstrap-server'."),
        ("--bootstrap-server localhost:many --list", 1, "--bootstrap-server: expected HOST:PORT, got 'localhost:many'"),
        ("--bootstrap-server , --list", 1, "--bootstrap-server: expected HOST:PORT, got nothing"),
        ("--bootstrap-server localhost:1", 2, "fauxka: Command must include exactly one action: --list, --describe, "),
        ("--bootstrap-server localhost:1 --list --create", 2, "fauxka: Command must include exactly one action: "),
        (
            "--bootstrap-server localhost:1 --create --topic a --config nonsense",
            2,
            "expected key=value, got 'nonsense'",
        ),
    ],
)
def test_wrong_options_are_one_line(arguments: str, exit_code: int, message: str) -> None:
    ended = run("kafka-topics", *arguments.split())

    assert (ended.exit_code, ended.output) == (exit_code, "")
    assert message in ended.log
    assert ended.log.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--create", 'Missing required argument "[topic]"'),
        ("--delete", 'Missing required argument "[topic]"'),
        ("--alter --topic orders", 'Missing required argument "[partitions]"'),
        ("--list --topic [", "[ is an invalid regex: "),
    ],
)
def test_action_without_its_arguments_is_one_line(fauxka: Broker, arguments: str, message: str) -> None:
    ended = run("kafka-topics", "--bootstrap-server", fauxka.bootstrap_servers, *arguments.split())

    assert (ended.exit_code, ended.output) == (1, "")
    assert message in ended.log
    assert ended.log.count("\n") == 1
