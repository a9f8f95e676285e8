"""ConsoleProducer and ConsoleConsumer, each in its own process."""

import subprocess
import threading
from collections.abc import Sequence

from ..reference.kafka_process import SCRIPT
from .client import HEARTBEAT_MS, SESSION_MS, STEP_SECONDS_MAX
from .console_tools import CONSUMER, PRINTING, PRODUCER, parse_printed
from .producer_process import ProducerProcess
from .record_queue import RecordQueue
from .records import Record, StoredRecord


class ConsoleProcesses:
    """The two tools against one cluster."""

    def __init__(self, bootstrap: str) -> None:
        """bootstrap: "host:port", or several of them, joined by commas."""
        self._server = ["--bootstrap-server", bootstrap]

    def close(self) -> None:
        """Close nothing: each process ends with its producer or member."""

    def start_producer(self, topic: str) -> "ConsoleProducer":
        """Start a producer of records without headers; it chooses the partitions by the keys."""
        properties = ["--command-property", "enable.idempotence=true", "--reader-property", "parse.key=true"]
        return ConsoleProducer([str(SCRIPT), "tool", PRODUCER, *self._server, "--topic", topic, *properties])

    def join(self, group: str, topic: str) -> "ConsoleMember":
        """Start a member that reads from the beginning."""
        settings = [f"heartbeat.interval.ms={HEARTBEAT_MS}", f"session.timeout.ms={SESSION_MS}"]
        properties = [argument for setting in settings for argument in ("--command-property", setting)]
        arguments = ["--topic", topic, "--group", group, "--from-beginning", *PRINTING, *properties]
        return ConsoleMember([str(SCRIPT), "tool", CONSUMER, *self._server, *arguments])


class ConsoleProducer:
    """A ConsoleProducer."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it."""
        self._process = ProducerProcess(command)

    def send(self, records: Sequence[Record]) -> None:
        """Write a line for each record."""
        self._process.write_lines(b"%s\t%s\n" % (record.key or b"", record.value or b"") for record in records)

    def wait(self) -> None:
        """End the input. The tool logs the exception of a record that is not acknowledged."""
        errors = self._process.wait()
        assert "Exception" not in errors, errors

    def close(self) -> None:
        """Kill the process if it runs."""
        self._process.kill()


class ConsoleMember:
    """A ConsoleConsumer."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it."""
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
        )
        self._records = RecordQueue()
        self._reader = threading.Thread(target=self._read_records)
        self._reader.start()

    def poll(self) -> list[StoredRecord]:
        """Return what came."""
        return self._records.poll()

    def close(self) -> list[StoredRecord]:
        """Leave the group, wait for the process, and return what it has printed since the last poll."""
        assert self._process.stdout is not None
        self._process.terminate()
        self._process.wait(STEP_SECONDS_MAX)
        self._reader.join(STEP_SECONDS_MAX)
        self._process.stdout.close()
        return self.poll()

    def _read_records(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            printed = parse_printed(line.rstrip("\n"))
            value = printed.line.rpartition("\t")[2].encode()
            self._records.put(StoredRecord(printed.offset, Record(printed.partition, None, value, (), 0)))
