"""Measures Produce by TLS and without, beside a real Kafka with the same certificate, version of TLS and cipher.

The client is the same for both: one connection with prepared requests, some of them in flight. Each round measures all
targets, so that a slow minute affects all.
"""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
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
from .targets import FAUXKA, KAFKA_NAME, RunningTarget, Target, kafka, kafka_missing, running

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
        Target(FAUXKA, _fauxka_command(keys)),
        Target(KAFKA_NAME, _kafka_command(keys), kafka_missing(), writes_ready_file=False),
    ]


def _fauxka_command(keys: Sequence[str]) -> Callable[[int, Path], list[str]]:
    return lambda port, ready_file: [
        sys.executable, "-m", "fauxka", "serve", "--admin-port", "0", "--ready-file", str(ready_file),
        *(word for key in keys for word in ("-c", key)),
        *(word for listener in _listeners(port) for word in ("--listener", listener)),
    ]  # fmt: skip


def _kafka_command(keys: Sequence[str]) -> Callable[[int, Path], list[str]]:
    def command(port: int, ready_file: Path) -> list[str]:
        advertised = ",".join(_listeners(port))
        listeners = f"listeners={advertised},CONTROLLER://{HOST}:{port + 1}"
        return kafka(*keys, listeners, f"advertised.listeners={advertised}")(port, ready_file)

    return command


def _listeners(port: int) -> tuple[str, str]:
    """Return the addresses of a plain listener and one with TLS."""
    return f"PLAINTEXT://{HOST}:{port}", f"SSL://{HOST}:{port + TLS_PORT_OFFSET}"


def _measure(broker: RunningTarget, context: ssl.SSLContext) -> Figures:
    create_topic(broker.port, TOPIC, 1)
    batch = batch_without_producer(CONTENT)
    partition = PartitionProduceData(records=batch)
    request = ProduceRequest(
        acks=1, timeout_ms=TIMEOUT_MS, topic_data=[TopicProduceData(name=TOPIC, partition_data=[partition])]
    )
    frame = request_frame(APIS[ApiKey.PRODUCE], VERSION, 1, request)
    figures: Figures = {}
    for name, port, tls in (
        ("plaintext", broker.port, None),
        ("TLS", broker.port + TLS_PORT_OFFSET, context),
    ):
        with _connected(port, tls) as connection:
            _produce(connection, frame, WARM_UP_REQUESTS)
            cpu_before, before = cpu_seconds(broker.process_id), time.perf_counter()
            _produce(connection, frame, REQUESTS)
            seconds = time.perf_counter() - before
        mb = len(batch) * REQUESTS / 1e6
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


def _produce(connection: socket.socket, frame: bytes, count: int) -> None:
    """Send the frame of a Produce count times, with IN_FLIGHT at a time."""
    for number in range(count):
        if number >= IN_FLIGHT:
            _check_response(connection)
        connection.sendall(frame)
    for _ in range(min(count, IN_FLIGHT)):
        _check_response(connection)


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
