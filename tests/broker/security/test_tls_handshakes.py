"""Handshakes that hang, fail or are none: they cost little, end, and no other client notices them."""

import os
import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fauxka.broker.network.socket_server import TLS_HANDSHAKE_SECONDS_MAX

from ...serving_process import Serving, serving, stop
from ..running_node import wait_until

pytestmark = pytest.mark.processes

CONNECTIONS = 1000
SECONDS_MAX = 60
# ApiVersions version 0, correlation id 7, client id null, behind the four bytes of its size.
REQUEST = struct.pack(">ihhih", 10, 18, 0, 7, -1)
# A thousand connections in a handshake took 45 MB before the broker waited for the first bytes of each client.
GROWTH_KB_MAX = 16 * 1024


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Serving]:
    listeners = ("--listener", "SECURE://127.0.0.1:0", "--listener", "PLAIN://127.0.0.1:0")
    keys = ("-c", "listener.security.protocol.map=SECURE:SSL,PLAIN:PLAINTEXT", "-c", "socket.listen.backlog.size=1024")
    with serving(tmp_path, *listeners, *keys, "--tls-dir", str(tmp_path / "tls")) as started:
        yield started


@pytest.fixture
def context(broker: Serving, tmp_path: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=tmp_path / "tls" / "ca.pem")


def connected(broker: Serving) -> socket.socket:
    return socket.create_connection(("127.0.0.1", broker.port), SECONDS_MAX)


def secured(broker: Serving, context: ssl.SSLContext) -> ssl.SSLSocket:
    return context.wrap_socket(connected(broker), server_hostname="127.0.0.1")


def ask(client: socket.socket) -> None:
    """Send a request, and wait for its response."""
    client.sendall(REQUEST)
    assert client.recv(65_536)


def kilobytes_of(broker: Serving) -> int:
    status = Path(f"/proc/{broker.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def descriptors_of(broker: Serving) -> int:
    return len(os.listdir(f"/proc/{broker.process.pid}/fd"))


def fail_by_silence(broker: Serving) -> None:
    silent = [connected(broker) for _ in range(CONNECTIONS)]
    for client in silent:
        # The broker closes it after the time of a handshake.
        assert client.recv(1) == b""
        client.close()


def fail_by_plaintext(broker: Serving) -> None:
    for _ in range(CONNECTIONS):
        with connected(broker) as client:
            client.sendall(REQUEST)
            assert client.recv(1) == b""


def fail_by_distrust(broker: Serving) -> None:
    distrusting = ssl.create_default_context()
    for _ in range(CONNECTIONS):
        with pytest.raises(ssl.SSLCertVerificationError):
            secured(broker, distrusting)


def fail_by_a_wrong_hello(broker: Serving) -> None:
    for _ in range(CONNECTIONS):
        with connected(broker) as client:
            client.sendall(b"\x16\x03\x01\x00\x10" + bytes(16))
            # An alert, and the end.
            while client.recv(1000):
                pass


@pytest.mark.parametrize("fail", [fail_by_silence, fail_by_plaintext, fail_by_distrust, fail_by_a_wrong_hello])
def test_thousand_failed_handshakes_leave_nothing_and_disturb_no_client(
    broker: Serving, context: ssl.SSLContext, fail: Callable[[Serving], None]
) -> None:
    with secured(broker, context) as other:
        ask(other)
        kilobytes, descriptors = kilobytes_of(broker), descriptors_of(broker)

        fail(broker)

        ask(other)
        with secured(broker, context) as new:
            ask(new)
        wait_until(lambda: descriptors_of(broker) <= descriptors)
        assert kilobytes_of(broker) - kilobytes < GROWTH_KB_MAX


def test_clients_are_served_while_a_thousand_hang(broker: Serving, context: ssl.SSLContext) -> None:
    silent = [connected(broker) for _ in range(CONNECTIONS)]
    begun = [connected(broker) for _ in range(100)]
    for client in begun:
        client.sendall(b"\x16\x03\x01")

    with secured(broker, context) as other:
        ask(other)

    for client in (*silent, *begun):
        client.close()


def test_handshake_that_begins_and_hangs_ends(broker: Serving) -> None:
    before = time.monotonic()
    with connected(broker) as client:
        client.sendall(b"\x16\x03\x01")
        assert client.recv(1) == b""

    assert time.monotonic() - before >= TLS_HANDSHAKE_SECONDS_MAX - 1


def test_log_says_that_a_client_has_no_tls(broker: Serving) -> None:
    with connected(broker) as client:
        client.sendall(REQUEST)
        assert client.recv(1) == b""

    assert "of 127.0.0.1 closed: the client does not use TLS, and the listener does" in stop(broker, 15).log


def test_log_says_that_a_client_may_have_tls_on_a_plain_listener(broker: Serving, context: ssl.SSLContext) -> None:
    output = broker.process.stdout
    assert output is not None
    port = next(line for line in output if line.startswith("PLAIN://")).strip().rpartition(":")[2]
    plain = socket.create_connection(("127.0.0.1", int(port)), SECONDS_MAX)
    with pytest.raises((ssl.SSLError, ConnectionError)):
        context.wrap_socket(plain, server_hostname="127.0.0.1")

    assert "the client may use TLS, and the listener does not" in stop(broker, 15).log


def test_broker_stops_while_handshakes_wait(broker: Serving) -> None:
    silent = [connected(broker) for _ in range(10)]
    time.sleep(0.2)

    assert stop(broker, 15).exit_code == 0

    for client in silent:
        client.close()
