"""The command-line tools of Kafka, run by ToolRunner.java in one virtual machine."""

from dataclasses import dataclass

from .client import STEP_SECONDS_MAX
from .java_program import JavaProgram

TOPICS = "org.apache.kafka.tools.TopicCommand"
PRODUCER = "org.apache.kafka.tools.ConsoleProducer"
CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
STREAMS_GROUPS = "org.apache.kafka.tools.streams.StreamsGroupCommand"
CONFIGS = "kafka.admin.ConfigCommand"
FEATURES = "org.apache.kafka.tools.FeatureCommand"

STEP_MS_MAX = str(int(STEP_SECONDS_MAX * 1000))
PRINTED = ("timestamp", "partition", "offset", "headers", "key")
PRINTING = [argument for name in PRINTED for argument in ("--formatter-property", f"print.{name}=true")]


@dataclass(frozen=True, slots=True)
class Ended:
    """What a tool left behind."""

    exit: int
    output: str
    errors: str


@dataclass(frozen=True, slots=True)
class Printed:
    """What ConsoleConsumer printed of a record; line: headers, key and value, as they were typed."""

    timestamp_ms: int
    partition: int
    offset: int
    line: str


def parse_printed(line: str) -> Printed:
    """Return a line that ConsoleConsumer printed with PRINTING."""
    timestamp, partition, offset, typed = line.split("\t", 3)
    return Printed(
        int(timestamp.removeprefix("CreateTime:")),
        int(partition.removeprefix("Partition:")),
        int(offset.removeprefix("Offset:")),
        typed,
    )


def by_partition(printed: list[Printed]) -> list[list[Printed]]:
    """Return what was printed of each partition that has records."""
    partitions = sorted({each.partition for each in printed})
    return [[each for each in printed if each.partition == partition] for partition in partitions]


def number_of(printed: Printed) -> int:
    """Return the number that the value of the record ends in."""
    return int(printed.line.rpartition(" ")[2])


class ConsoleTools:
    """The tools against one broker."""

    def __init__(self, program: JavaProgram, bootstrap: str) -> None:
        self._program = program
        self._bootstrap = bootstrap

    def run(self, tool: str, *arguments: str, lines: list[str] | None = None) -> Ended:
        """Run a tool, whatever comes of it."""
        typed = "".join(f"{line}\n" for line in lines or [])
        asked = ["--bootstrap-server", self._bootstrap, *arguments]
        return Ended(**self._program.ask({"tool": tool, "arguments": asked, "input": typed}))

    def output_of(self, tool: str, *arguments: str, lines: list[str] | None = None) -> str:
        """Run a tool that must not fail, and return what it wrote."""
        ended = self.run(tool, *arguments, lines=lines)
        assert ended.exit == 0, ended
        return ended.output

    def produce(self, topic: str, lines: list[str], compression: str = "none") -> None:
        """Type lines into ConsoleProducer."""
        producing = ["--command-property", "enable.idempotence=true", "--compression-codec", compression]
        reading = ["--reader-property", "parse.key=true", "--reader-property", "parse.headers=true"]
        self.output_of(PRODUCER, "--topic", topic, *producing, *reading, lines=lines)

    def consume(self, topic: str, count: int, *arguments: str) -> list[Printed]:
        """Return what ConsoleConsumer prints of each record."""
        limits = ["--max-messages", str(count), "--timeout-ms", STEP_MS_MAX]
        output = self.output_of(CONSUMER, "--topic", topic, "--from-beginning", *PRINTING, *limits, *arguments)
        return [parse_printed(line) for line in output.splitlines()]
