"""A failed TLS handshake sends its alert before the connection closes."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import trustme
import uvloop

from fauxka.broker.security.tls import throw_away_ca
from fauxka.broker.security.tls.alerting_handshake import with_alert
from fauxka.broker.security.tls.tls_context import TlsSettings, new_context

MakeLoop = Callable[[], asyncio.AbstractEventLoop]
LOOPS = pytest.mark.parametrize("make_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
SECONDS_MAX = 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    throw_away_ca.ensure_files(folder, ["localhost"])
    foreign = trustme.CA().issue_cert("foreign")
    foreign.private_key_and_cert_chain_pem.write_to_path(folder / "foreign.pem")
    return folder


def connect(server: ssl.SSLContext, client: ssl.SSLContext, make_loop: MakeLoop) -> tuple[str, str]:
    """Return the reasons of the server's and of the client's error; "" for none."""
    accepted, connected = socket.socketpair()
    connected.settimeout(SECONDS_MAX)

    def read() -> str:
        try:
            with client.wrap_socket(connected, server_hostname="localhost") as secured:
                return secured.recv(1).decode()
        except ssl.SSLError as error:
            return str(error.reason)

    async def accept() -> str:
        loop = asyncio.get_running_loop()
        accepted.setblocking(False)
        try:
            transport, _ = await with_alert(loop.connect_accepted_socket(asyncio.Protocol, accepted, ssl=server))
        except ssl.SSLError as error:
            return str(error.reason)
        transport.close()
        return ""

    async def run() -> tuple[str, str]:
        reading = asyncio.get_running_loop().run_in_executor(None, read)
        return await asyncio.create_task(accept()), await reading

    with asyncio.Runner(loop_factory=make_loop) as runner:
        return runner.run(run())


def server_context(folder: Path) -> ssl.SSLContext:
    """Return the context of a listener that demands a certificate."""
    stores = (throw_away_ca.key_store_of(folder), throw_away_ca.trust_store_of(folder))
    return new_context(TlsSettings(*stores, client_auth="required"))


def client_context(folder: Path, version: ssl.TLSVersion, certificate: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=folder / throw_away_ca.CA_FILE)
    context.maximum_version = version
    if certificate is not None:
        context.load_cert_chain(folder / certificate)
    return context


class Handshake(NamedTuple):
    """A client's handshake. certificate: its file, None for none. server, client: the reasons of the errors."""

    version: ssl.TLSVersion
    certificate: str | None
    server: str
    client: str


MISSING, FOREIGN = "PEER_DID_NOT_RETURN_A_CERTIFICATE", "CERTIFICATE_VERIFY_FAILED"


@LOOPS
@pytest.mark.parametrize(
    "handshake",
    [
        Handshake(ssl.TLSVersion.TLSv1_3, None, MISSING, "TLSV13_ALERT_CERTIFICATE_REQUIRED"),
        Handshake(ssl.TLSVersion.TLSv1_2, None, MISSING, "SSLV3_ALERT_HANDSHAKE_FAILURE"),
        Handshake(ssl.TLSVersion.TLSv1_3, "foreign.pem", FOREIGN, "TLSV1_ALERT_UNKNOWN_CA"),
        Handshake(ssl.TLSVersion.TLSv1_2, "foreign.pem", FOREIGN, "TLSV1_ALERT_UNKNOWN_CA"),
        Handshake(ssl.TLSVersion.TLSv1_3, "client.pem", "", ""),
    ],
)
def test_client_gets_the_reason_of_a_failed_handshake(folder: Path, make_loop: MakeLoop, handshake: Handshake) -> None:
    client = client_context(folder, handshake.version, handshake.certificate)

    reasons = connect(server_context(folder), client, make_loop)

    assert reasons == (handshake.server, handshake.client)


@LOOPS
def test_task_that_is_cancelled_within_a_handshake_is_cancelled(folder: Path, make_loop: MakeLoop) -> None:
    accepted, connected = socket.socketpair()
    accepted.setblocking(False)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        connecting = loop.connect_accepted_socket(asyncio.Protocol, accepted, ssl=server_context(folder))
        task = asyncio.create_task(with_alert(connecting))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with connected, asyncio.Runner(loop_factory=make_loop) as runner:
        runner.run(run())
