"""Measures Produce by TLS and without, beside a real Kafka with the same certificate, version of TLS and cipher.

The client is the same for both: one connection with prepared requests, some of them in flight. Each round measures all
targets, so that a slow minute affects all.
"""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from fauxka.broker.security.tls import throw_away_ca
from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.client_requests import read_response, request_frame
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData

from . import measurement, report
from .batch_content import batch_without_producer
from .measurement import MIDDLE_PIPELINED, Figures
from .nodes import create_topic
from .process_tree import cpu_seconds
from .targets import KAFKA_NAME, RunningTarget, Target, fauxka, kafka, kafka_missing, running

HOST = "127.0.0.1"
VERSION = 9
# Enough for the just-in-time compiler of a real Kafka.
WARM_UP_REQUESTS = 10_000
REQUESTS = 6_000
IN_FLIGHT = 5
TIMEOUT_SECONDS = 60.0
TIMEOUT_MS = 30_000
PASSWORD = "changeit"
# Kafka's controller has the port behind that of the plain listener.
TLS_PORT_OFFSET = 2
CIPHER = "TLS_AES_256_GCM_SHA384"
CONTENT = MIDDLE_PIPELINED.content
TOPIC = "tls"


def main(round_count: int) -> dict[str, Figures]:
    """Measure the targets that can run here, print the table, and return the medians by target name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        targets = [target for target in _targets(folder) if target.missing is None]
        context = ssl.create_default_context(cafile=folder / throw_away_ca.CA_FILE)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        print(f"{report.machine()}; load before the run {os.getloadavg()[0]:.1f}; TLS 1.3, {CIPHER}")
        rounds: dict[str, list[Figures]] = {target.name: [] for target in targets}
        for _ in range(round_count):
            for target in targets:
                with running(target) as broker:
                    rounds[target.name].append(_measure(broker, context))
    results = {name: measurement.medians(figures) for name, figures in rounds.items()}
    print(report.table(results))
    return results


def _targets(folder: Path) -> list[Target]:
    """Return the brokers, which share the key store that is written to folder."""
    throw_away_ca.ensure_files(folder, ["localhost", HOST])
    store = folder / "server.p12"
    pem = folder / throw_away_ca.SERVER_FILE
    words = ["openssl", "pkcs12", "-export", "-in", str(pem), "-out", str(store), "-passout", f"pass:{PASSWORD}"]
    subprocess.run(words, check=True)
    keys = (
        f"ssl.keystore.location={store}",
        "ssl.keystore.type=PKCS12",
        f"ssl.keystore.password={PASSWORD}",
        "ssl.enabled.protocols=TLSv1.3",
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SSL:SSL",
    )
    return [
        Target("fauxka", _with_listeners(fauxka(*keys), "-c")),
        Target(KAFKA_NAME, _with_listeners(kafka(*keys)), kafka_missing(), writes_ready_file=False),
    ]


def _with_listeners(command: Callable[[int, Path], list[str]], *option: str) -> Callable[[int, Path], list[str]]:
    """Return a command with a plain listener and one with TLS. option: what is before a key."""

    def with_listeners(port: int, ready_file: Path) -> list[str]:
        advertised = f"PLAINTEXT://{HOST}:{port},SSL://{HOST}:{port + TLS_PORT_OFFSET}"
        if option:
            words = [word for word in command(port, ready_file) if word not in ("--port", str(port))]
            return [*words, *option, f"listeners={advertised}"]
        controller = f"CONTROLLER://{HOST}:{port + 1}"
        listeners = (f"listeners={advertised},{controller}", f"advertised.listeners={advertised}")
        return [*command(port, ready_file), *listeners]

    return with_listeners


def _measure(broker: RunningTarget, context: ssl.SSLContext) -> Figures:
    create_topic(broker.port, TOPIC, 1)
    figures: Figures = {}
    for name, port, tls in (
        ("plaintext", broker.port, None),
        ("TLS", broker.port + TLS_PORT_OFFSET, context),
    ):
        with _connected(port, tls) as connection:
            _produce(connection, WARM_UP_REQUESTS)
            cpu_before, before = cpu_seconds(broker.process_id), time.perf_counter()
            mb = _produce(connection, REQUESTS)
            seconds = time.perf_counter() - before
        figures[f"{name}, 16 KB, pipelined ({IN_FLIGHT}): {measurement.MB_PER_S}"] = mb / seconds
        cpu = cpu_seconds(broker.process_id) - cpu_before
        figures[f"{name}, 16 KB, pipelined ({IN_FLIGHT}): {measurement.CPU_US}"] = cpu / REQUESTS * 1e6
    return figures


def _connected(port: int, tls: ssl.SSLContext | None) -> socket.socket:
    plain = socket.create_connection((HOST, port), TIMEOUT_SECONDS)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if tls is None:
        return plain
    secured = tls.wrap_socket(plain, server_hostname=HOST)
    cipher = secured.cipher()
    assert cipher is not None and cipher[0] == CIPHER, f"the comparison is for {CIPHER}, and the broker chose {cipher}"
    return secured


def _produce(connection: socket.socket, count: int) -> float:
    """Send a prepared request count times, with IN_FLIGHT at a time, and return the MB of its batches."""
    batch = batch_without_producer(CONTENT)
    partition = PartitionProduceData(records=batch)
    request = ProduceRequest(
        acks=1, timeout_ms=TIMEOUT_MS, topic_data=[TopicProduceData(name=TOPIC, partition_data=[partition])]
    )
    frame = request_frame(APIS[ApiKey.PRODUCE], VERSION, 1, request)
    pending: deque[None] = deque()
    for _ in range(count):
        if len(pending) == IN_FLIGHT:
            _check_response(connection)
            pending.popleft()
        connection.sendall(frame)
        pending.append(None)
    for _ in pending:
        _check_response(connection)
    return len(batch) * count / 1e6


def _check_response(connection: socket.socket) -> None:
    size = int.from_bytes(_received(connection, 4))
    response = read_response(APIS[ApiKey.PRODUCE], VERSION, 1, _received(connection, size), ProduceResponse.read)
    error = response.responses[0].partition_responses[0].error_code
    assert error == 0, f"the broker refused a batch with error {error}"


def _received(connection: socket.socket, size: int) -> bytes:
    content = b""
    while len(content) < size:
        more = connection.recv(size - len(content))
        assert more, "the broker closed the connection"
        content += more
    return content
