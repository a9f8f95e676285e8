"""kcat, the command-line client of librdkafka, as Debian has it."""

import io
import re
import subprocess
import threading
from collections.abc import Iterator, Sequence
from typing import IO

from .client import HEARTBEAT_MS, PATIENCE_MS, REQUEST_BYTES_MAX, STEP_SECONDS_MAX
from .producer_process import ProducerProcess
from .record_queue import RecordQueue
from .records import Record, StoredRecord

# Partition, offset, timestamp, sizes of key and value (-1 for null), headers; then the bytes of key and value.
RECORD_FORMAT = r"%p %o %T %K %S %h\n%k%s\n"
KEY_DELIMITER = "\t"

REBALANCED = re.compile(r"rebalanced \(memberid [^)]*\): (assigned|revoked): (.*)")
PARTITION = re.compile(r"\[(\d+)\]")


class KcatError(Exception):
    """What kcat wrote before it gave up."""


class KcatClient:
    """Runs kcat once for each question. It administrates nothing: topics are made by other means."""

    def __init__(self, bootstrap: str) -> None:
        """bootstrap: "host:port", or several of them, joined by commas."""
        self._command = ["kcat", "-b", bootstrap]

    def close(self) -> None:
        """Close nothing: each process ends by itself or with its member."""

    def produce(
        self, topic: str, records: Sequence[Record], compression: str = "none", patience_ms: int = PATIENCE_MS
    ) -> None:
        """Send records of one partition with the headers of the first, which kcat gives to all."""
        headers = [f"{name}={(value or b'').decode()}" for name, value in records[0].headers]
        self._run(
            *_producer_arguments(topic, compression, patience_ms),
            *("-p", str(records[0].partition)),
            *(argument for header in headers for argument in ("-H", header)),
            input_lines=b"".join(_line_of(record) for record in records),
        )

    def start_producer(self, topic: str) -> "KcatProducer":
        """Return a producer of records without headers; it chooses the partitions by the keys."""
        return KcatProducer([*self._command, *_producer_arguments(topic, "none", PATIENCE_MS)])

    def consume(self, topic: str) -> list[StoredRecord]:
        """Read all partitions up to their ends."""
        output = self._run("-C", "-t", topic, "-o", "beginning", "-e", "-q", "-f", RECORD_FORMAT)
        return list(_stored_records(io.BytesIO(output)))

    def offset_for_timestamp(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        """Ask for one offset; kcat answers -1 where there is none."""
        output = self._run("-Q", "-t", f"{topic}:{partition}:{timestamp_ms}").decode()
        found = re.fullmatch(rf"{topic} \[{partition}\] offset (-?\d+)\s*", output)
        assert found is not None, output
        return None if int(found[1]) < 0 else int(found[1])

    def listing(self) -> str:
        """Return what kcat says of all topics."""
        return self._run("-L").decode()

    def join(self, group: str, topic: str) -> "KcatMember":
        """Start a member that runs until it is closed."""
        settings = ["-X", "auto.offset.reset=earliest", "-X", f"heartbeat.interval.ms={HEARTBEAT_MS}"]
        return KcatMember([*self._command, "-G", group, "-u", "-f", RECORD_FORMAT, *settings, topic])

    def _run(self, *arguments: str, input_lines: bytes = b"") -> bytes:
        finished = subprocess.run(
            [*self._command, *arguments], input=input_lines, capture_output=True, timeout=STEP_SECONDS_MAX
        )
        if finished.returncode != 0:
            raise KcatError(finished.stderr.decode())
        return finished.stdout


class KcatProducer:
    """A process for each call of send: kcat reads its input in blocks, and the last block ends with the input."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._processes: list[ProducerProcess] = []

    def send(self, records: Sequence[Record]) -> None:
        """Start a process that produces the records."""
        process = ProducerProcess(self._command)
        self._processes.append(process)
        process.write_lines(_line_of(record) for record in records)
        process.end_input()

    def wait(self) -> None:
        """Wait for all processes. kcat fails if a record is not acknowledged."""
        for process in self._processes:
            process.wait()

    def close(self) -> None:
        """Kill the processes that run."""
        for process in self._processes:
            process.kill()


class KcatMember:
    """A kcat that runs as one consumer of a group."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it."""
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._records = RecordQueue()
        self._assigned: set[int] = set()
        self._threads = [threading.Thread(target=target) for target in (self._read_records, self._read_messages)]
        for thread in self._threads:
            thread.start()

    def poll(self) -> list[StoredRecord]:
        """Return what came."""
        return self._records.poll()

    def assigned_partitions(self) -> set[int]:
        """Return the partitions of the last rebalance."""
        return self._assigned

    def commit(self) -> None:
        """Nothing to do: kcat commits what it wrote out, at the latest when it ends."""

    def close(self) -> list[StoredRecord]:
        """Leave the group, and wait for the process to end; return what it has written out since."""
        assert self._process.stdout is not None and self._process.stderr is not None
        self._process.terminate()
        self._process.wait(STEP_SECONDS_MAX)
        for thread in self._threads:
            thread.join(STEP_SECONDS_MAX)
        self._process.stdout.close()
        self._process.stderr.close()
        return self.poll()

    def _read_records(self) -> None:
        assert self._process.stdout is not None
        for stored in _stored_records(self._process.stdout):
            self._records.put(stored)

    def _read_messages(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            rebalance = REBALANCED.search(line.decode())
            if rebalance is not None:
                is_assigned = rebalance[1] == "assigned"
                self._assigned = {int(index) for index in PARTITION.findall(rebalance[2])} if is_assigned else set()


def _producer_arguments(topic: str, compression: str, patience_ms: int) -> list[str]:
    settings = [
        "enable.idempotence=true",
        f"message.max.bytes={REQUEST_BYTES_MAX}",
        f"topic.metadata.propagation.max.ms={patience_ms}",
    ]
    options = [argument for setting in settings for argument in ("-X", setting)]
    return ["-P", "-t", topic, "-z", compression, "-K", KEY_DELIMITER, "-Z", *options]


def _line_of(record: Record) -> bytes:
    key = b"" if record.key is None else record.key + KEY_DELIMITER.encode()
    return key + (record.value or b"") + b"\n"


def _stored_records(stream: IO[bytes]) -> Iterator[StoredRecord]:
    while line := stream.readline():
        partition, offset, timestamp_ms, key_size, value_size, headers = line.rstrip(b"\n").split(b" ", 5)
        key = _data_of(stream, int(key_size))
        value = _data_of(stream, int(value_size))
        assert stream.read(1) == b"\n"
        record = Record(int(partition), key, value, tuple(_headers_of(headers.decode())), int(timestamp_ms))
        yield StoredRecord(int(offset), record)


def _data_of(stream: IO[bytes], size: int) -> bytes | None:
    return None if size < 0 else stream.read(size)


def _headers_of(text: str) -> Iterator[tuple[str, bytes]]:
    for header in filter(None, text.split(",")):
        name, _, value = header.partition("=")
        yield name, value.encode()
