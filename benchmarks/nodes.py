"""Measures three nodes with three replicas of a topic, beside one node, kfake and a real Kafka.

The load has acks=all. kfake has three brokers and no replicas. Each round measures all targets, so that a slow minute
affects all.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from fauxka.client.broker_connection import BrokerConnection
from fauxka.client.errors import ConnectionFailed
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

from . import load_program, measurement, report
from .load_program import Case
from .measurement import LARGE_PIPELINED, MIDDLE_PIPELINED, SMALL_ALONE, SMALL_PIPELINED, Figures
from .process_tree import memory_mib
from .targets import (
    KAFKA,
    KAFKA_NAME,
    KFAKE_NAME,
    RunningTarget,
    Target,
    fauxka,
    kafka_missing,
    kfake,
    kfake_missing,
    running,
)

NODES = 3
CASES = (SMALL_ALONE, SMALL_PIPELINED, MIDDLE_PIPELINED, LARGE_PIPELINED)
CREATED = (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.NOT_CONTROLLER)
TOPIC_SECONDS_MAX = 60.0
ANSWER_BYTES_MAX = 1024 * 1024
TIMEOUT_SECONDS = 30.0
TIMEOUT_MS = 30_000
ONE_NODE, THREE_NODES = "fauxka, one node", f"fauxka, {NODES} nodes"


def three_kafkas(port: int, ready_file: Path) -> list[str]:
    """Return the command of a real Kafka of three brokers and a controller; it writes no ready file."""
    folder = ready_file.parent / "cluster"
    names = ["controller", *(f"node-{number}" for number in range(1, NODES + 1))]
    started = " & ".join(f"{KAFKA} start {folder} {name}" for name in names)
    return ["bash", "-c", f"{KAFKA} cluster {NODES} {port} {folder} && ({started} & wait)"]


def three_kfakes(port: int, ready_file: Path) -> list[str]:
    """Return the command of a kfake of three brokers; it writes no ready file."""
    return [*kfake(port, ready_file), str(NODES)]


def three_nodes(port: int, ready_file: Path) -> list[str]:
    """Return the command of a fauxka of three nodes."""
    return [*fauxka()(port, ready_file), "--nodes", str(NODES)]


# The real Kafka has the name by which the table finds what the others are compared with.
TARGETS = (
    Target(ONE_NODE, fauxka()),
    Target(THREE_NODES, three_nodes),
    Target(KFAKE_NAME, three_kfakes, kfake_missing(), writes_ready_file=False),
    Target(KAFKA_NAME, three_kafkas, kafka_missing(), writes_ready_file=False),
)


def main(round_count: int) -> dict[str, Figures]:
    """Measure the targets that can run here, print the table, and return the medians by target name."""
    targets = [target for target in TARGETS if target.missing is None]
    print(f"{report.machine()}; load before the run {os.getloadavg()[0]:.1f}")
    rounds: dict[str, list[Figures]] = {target.name: [] for target in targets}
    for _ in range(round_count):
        for target in targets:
            with running(target) as broker:
                rounds[target.name].append(_measure(broker, 1 if target.name == ONE_NODE else NODES))
    results = {name: measurement.medians(figures) for name, figures in rounds.items()}
    print(report.table(results))
    return results


def _measure(broker: RunningTarget, factor: int) -> Figures:
    figures: Figures = {measurement.COLD_START_MS: broker.cold_start_ms}
    stored_mb = _produce(broker, measurement.WARM_UP, factor, {})
    for case in CASES:
        stored_mb += _produce(broker, case, factor, figures)
    loaded_mib = memory_mib(broker.process_id)
    figures[measurement.ABOVE_STORED_MIB] = loaded_mib - stored_mb * 1e6 / 1024 / 1024
    return figures


def _produce(broker: RunningTarget, case: Case, factor: int, figures: Figures) -> float:
    """Produce a case to a topic of its own at its leader, and return the MB of its batches."""
    topic = measurement.topic_of(case)
    produced = load_program.produce(create_topic(broker.port, topic, factor), topic, case)
    figures[measurement.figure_name(case, measurement.REQUESTS_PER_S)] = produced.requests_per_s
    figures[measurement.figure_name(case, measurement.P50_US)] = produced.p50_us
    return produced.mb


def create_topic(port: int, name: str, factor: int) -> int:
    """Create a topic of one partition, and return the port of its leader."""
    deadline = time.monotonic() + TOPIC_SECONDS_MAX
    while True:
        try:
            connection = BrokerConnection(
                "127.0.0.1", port, timeout_seconds=TIMEOUT_SECONDS, response_bytes_max=ANSWER_BYTES_MAX
            )
            try:
                leader_port = _create(connection, name, factor)
            finally:
                connection.close()
            if leader_port is not None:
                return leader_port
        except ConnectionFailed:
            pass
        if time.monotonic() > deadline:
            raise RuntimeError(f"{name} has no leader after {TOPIC_SECONDS_MAX} s")
        time.sleep(0.1)


def _create(connection: BrokerConnection, name: str, factor: int) -> int | None:
    """Create the topic if it does not exist, and return the port of its leader, or None if there is none yet."""
    wanted = CreatableTopic(name=name, num_partitions=1, replication_factor=factor)
    request = CreateTopicsRequest(topics=[wanted], timeout_ms=TIMEOUT_MS)
    created = connection.send_request(ApiKey.CREATE_TOPICS, 5, request, CreateTopicsResponse.read)
    # The other brokers of a real Kafka are registered some time after the first one responds. kfake creates topics at
    # its controller only, or by the request for metadata.
    if created.topics[0].error_code not in CREATED:
        return None
    asked = MetadataRequest(topics=[MetadataRequestTopic(name=name)])
    metadata = connection.send_request(ApiKey.METADATA, 9, asked, MetadataResponse.read)
    ports = {broker.node_id: broker.port for broker in metadata.brokers}
    partitions = metadata.topics[0].partitions
    return ports.get(partitions[0].leader_id) if partitions else None
