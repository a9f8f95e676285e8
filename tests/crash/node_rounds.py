"""Rounds of kills of three nodes on disk, single ones and the whole process, and checks of the logs of every node."""

import contextlib
import json
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypedDict, cast

from fauxka.admin.client.admin_client import AdminClient, JsonObject, parse_address

from ..reference.log_client import batches_in, last_offset_of, log_client
from .group_reader import GroupReader
from .killed_broker import KilledBroker
from .reporting_producer import PARTITION_COUNT, TOPIC, ReportingProducer
from .round_folders import TOPIC_CONFIGS, Counts, in_new_folder, run_folders
from .stored_logs import StoredLog, base_offset_of, check_reported, names_in

NODES = (1, 2, 3)
# How long clients work between two steps.
LIFE_SECONDS = (0.02, 0.3)
# The whole process is killed in some rounds; some nodes are killed, the others are shut down.
PROCESS_KILLED, NODE_KILLED, NODE_NOTICED, STARTED_AT_ONCE = 0.25, 0.7, 0.7, 0.5
FIRST_REPORT_SECONDS_MAX = 20.0
IN_SYNC_SECONDS_MAX = 60.0
POLL_SECONDS = 0.02
SETTINGS = (
    "log.flush.offset.checkpoint.interval.ms=50",
    "replica.high.watermark.checkpoint.interval.ms=50",
    "broker.session.timeout.ms=200",
    "offsets.topic.num.partitions=3",
    "group.initial.rebalance.delay.ms=0",
)


class Partition(TypedDict):
    """The fields of /v1/partitions that are compared."""

    topic: str
    isr: list[int]
    high_watermark: int
    replica_states: list[dict[str, int]]


@dataclass(slots=True)
class NodeTally(Counts):
    """The counts of the rounds."""

    process_kills: int = 0
    node_kills: int = 0
    node_stops: int = 0
    reported_records: int = 0
    read_records: int = 0
    fatal_errors: int = 0


def run_node_rounds(rounds: int, seed: int) -> NodeTally:
    """Run rounds in several folders. Raises AssertionError with the seed of the folder that failed, which is kept."""
    return run_folders(NodeTally(), rounds, seed, _run_folder)


def _run_folder(rounds: int, seed: int) -> NodeTally:
    return in_new_folder("nodes", rounds, seed, lambda folder: _Scene(folder, seed).play(rounds))


class _Scene:
    def __init__(self, folder: Path, seed: int) -> None:
        self._random = Random(seed)
        self._data = folder / "data"
        # With 1 the last replica in sync acknowledges alone, and is the only one that may lead after its return.
        in_sync = self._random.choice((1, 2))
        settings = [word for each in (*SETTINGS, f"min.insync.replicas={in_sync}") for word in ("-c", each)]
        options = ["--nodes", str(len(NODES)), "--admin-port", "0", *settings]
        self._broker = KilledBroker(folder, options, len(NODES))
        self._producer = ReportingProducer(self._broker.address, Random(seed + 1))
        self._reader = GroupReader(self._broker.address, TOPIC)
        self._down: set[int] = set()
        self._tally = NodeTally()

    def play(self, rounds: int) -> NodeTally:
        with contextlib.closing(self._broker):
            self._broker.start()
            self._broker.wait_until_ready()
            with log_client(f"127.0.0.1:{self._broker.port}") as client:
                client.create_topic(TOPIC, PARTITION_COUNT, TOPIC_CONFIGS, len(NODES))
            with self._clients():
                assert self._producer.is_reporting.wait(FIRST_REPORT_SECONDS_MAX), "no record is reported"
                for _ in range(rounds):
                    time.sleep(self._random.uniform(*LIFE_SECONDS))
                    self._round()
                self._start_nodes(self._down)
                self._producer.stop()
                ends = self._wait_until_in_sync()
                self._reader.wait_until_read(
                    (record.partition, record.offset)
                    for record in self._producer.records.values()
                    if record.offset is not None and record.offset >= 0
                )
                self._reader.stop()
            self._broker.stop_cleanly()
            self._check(ends)
        self._tally.reported_records = sum(each.offset is not None for each in self._producer.records.values())
        self._tally.read_records = len(self._reader.offsets)
        self._tally.fatal_errors = len(self._producer.fatal_errors)
        return self._tally

    @contextlib.contextmanager
    def _clients(self) -> Generator[None, None, None]:
        self._producer.start()
        self._reader.start()
        try:
            yield
        except BaseException:
            self._producer.abandon()
            with contextlib.suppress(BaseException):
                self._reader.stop()
            raise

    def _round(self) -> None:
        """Kill the process and start it with all nodes, or stop and start some nodes."""
        if self._random.random() < PROCESS_KILLED:
            self._broker.kill_after(0)
            self._tally.process_kills += 1
            self._down.clear()
            self._broker.start()
            self._broker.wait_until_ready()
            return
        running = [node for node in NODES if node not in self._down]
        for node in self._random.sample(running, self._random.randint(0, len(running))):
            self._stop_node(node)
        if self._random.random() < STARTED_AT_ONCE:
            time.sleep(self._random.uniform(*LIFE_SECONDS))
        self._start_nodes({node for node in self._down if self._random.random() < STARTED_AT_ONCE})

    def _stop_node(self, node: int) -> None:
        is_killed = self._random.random() < NODE_KILLED
        is_noticed = is_killed and self._random.random() < NODE_NOTICED
        self._call("POST", f"/v1/nodes/{node}/stop", {"controlled": not is_killed, "noticed": is_noticed})
        self._down.add(node)
        if is_killed:
            self._tally.node_kills += 1
        else:
            self._tally.node_stops += 1

    def _start_nodes(self, nodes: set[int]) -> None:
        for node in self._random.sample(sorted(nodes), len(nodes)):
            self._call("POST", f"/v1/nodes/{node}/start")
        self._down -= nodes

    def _wait_until_in_sync(self) -> list[int]:
        """Wait until every node has every record, and return the high watermarks."""
        deadline = time.monotonic() + IN_SYNC_SECONDS_MAX
        while True:
            partitions = cast(list[Partition], self._call("GET", f"/v1/partitions?topic={TOPIC}")["items"])
            if all(map(_is_in_sync, partitions)):
                return [each["high_watermark"] for each in partitions]
            assert time.monotonic() < deadline, f"not in sync: {partitions}"
            time.sleep(POLL_SECONDS)

    def _check(self, ends: list[int]) -> None:
        for partition, end in enumerate(ends):
            name = f"{TOPIC}-{partition}"
            logs = [self._log_of(node, name) for node in NODES]
            assert logs[1:] == logs[:-1], f"{name}: the logs of the nodes differ"
            stored = _parse_log(name, logs[0])
            assert stored.log_end_offset == end, f"{name} ends at {stored.log_end_offset}, its high watermark was {end}"
            records = {key: each for key, each in self._producer.records.items() if each.partition == partition}
            check_reported(stored, records)
            named = {(partition, offset): record for record, offset in names_in(stored)}
            read = {place: record for place, record in self._reader.offsets.items() if place[0] == partition}
            assert read.items() <= named.items(), f"{name}: a record that was read is not in the log"

    def _log_of(self, node: int, name: str) -> bytes:
        return b"".join(file.read_bytes() for file in sorted((self._data / f"node-{node}" / name).glob("*.log")))

    def _call(self, method: str, path: str, body: dict[str, bool] | None = None) -> JsonObject:
        assert self._broker.admin is not None
        admin = AdminClient(parse_address(self._broker.admin))
        return admin.call(method, path, None if body is None else json.dumps(body).encode())


def _is_in_sync(partition: Partition) -> bool:
    ends = {each["log_end_offset"] for each in partition["replica_states"]}
    return sorted(partition["isr"]) == list(NODES) and ends == {partition["high_watermark"]}


def _parse_log(name: str, data: bytes) -> StoredLog:
    """Return the log of the bytes of its segments; its batches must be consecutive from offset 0."""
    batches = tuple(batches_in(data))
    assert sum(map(len, batches)) == len(data), f"{name}: the last batch is not whole"
    next_offset = 0
    for batch in batches:
        assert base_offset_of(batch) == next_offset, f"{name}: {base_offset_of(batch)} where {next_offset} comes next"
        next_offset = last_offset_of(batch) + 1
    return StoredLog(name, 0, next_offset, batches)
