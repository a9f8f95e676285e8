"""A run against the listeners with SASL of a broker in its own process, by clients that never authenticate.

* The frames of a seed are the same in every run. How the connections take turns is not.
* After each round the broker's log, its memory, its open files and the pauses of its event loop are checked.
* In each round other clients authenticate on both listeners, and are served.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import tempfile
import time
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

from fauxka.broker.runtime.event_loop import new_event_loop
from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.errors.response_frames import decode_response_frame
from fauxka.protocol.frames import FrameError
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fauxka.protocol.messages.sasl_authenticate import SaslAuthenticateResponse
from fauxka.protocol.primitives import Reader

from ..broker.blocking_client import BlockingClient
from ..broker.server_process import ServerProcess, running_server
from ..protocol import framed_errors
from ..wire.message_client import MessageClient
from .drawn_conversations import (
    GROUP,
    HIDDEN,
    MECHANISMS,
    PASSWORD,
    TOPIC,
    USER,
    Conversation,
    Ending,
    ScramFinal,
    draw_conversation,
)
from .frames import HEADER, SIZE, Frame
from .fuzz_run import PAUSE_MS_MAX, FuzzFailure
from .fuzzed_connection import WrongResponse, problem_of
from .pause_probe import PauseProbe
from .resent_frames import Resender

ROUND_FRAMES = 1000
CONNECTIONS = 24
LISTENERS = ("PLAINTEXT", "SASL_PLAINTEXT", "SASL_SSL")
# Short, because two of three conversations end with it.
FAILED_DELAY_MS = 5
SETTINGS = (
    f"connection.failed.authentication.delay.ms={FAILED_DELAY_MS}",
    f"sasl.enabled.mechanisms={','.join(MECHANISMS)}",
)
# A response takes milliseconds; only a broker that has none, and closes no connection, takes as long.
RESPONSE_SECONDS_MAX = 20.0
# The broker may wait for the rest of a frame.
SILENCE_SECONDS_MAX = 0.05
# Each connection may own the buffer of a largest frame, twice while it grows, and its token.
MEMORY_MIB_MAX = 100.0
DESCRIPTORS_SLACK = 4
CLOSED_SECONDS_MAX = 20.0
POLL_SECONDS = 0.02
# A log line names what a client has sent, and not all of it.
LOG_LINE_CHARACTERS_MAX = 1000
# What a client gets before it has authenticated.
SERVED = frozenset({ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})
END = SIZE.pack(-1)
_DO_NOT_LINGER = struct.pack("ii", 1, 0)
# Its types are not complete.
confluent_admin = import_module("confluent_kafka.admin")


@dataclass(slots=True)
class UnauthenticatedReport:
    """What a run did. refused: conversations that the broker ended itself. worst_ms: the longest pause."""

    seed: int
    frames: int = 0
    conversations: int = 0
    refused: int = 0
    authenticated: int = 0
    worst_ms: float = 0.0
    start_mib: float = 0.0
    max_mib: float = 0.0
    files_max: int = 0
    seconds: float = 0.0

    def lines(self) -> list[str]:
        """Return the report as lines."""
        return [
            f"seed {self.seed}: {self.frames} frames in {self.conversations} conversations, of which the broker ended "
            f"{self.refused}, in {self.seconds:.1f} s",
            f"other clients authenticated {self.authenticated} times, and were served",
            f"worst pause: {self.worst_ms:.0f} ms",
            f"resident memory, MiB: {self.start_mib:.0f} at the start, {self.max_mib:.0f} at most; "
            f"open files: {self.files_max} at most",
        ]


class UnauthenticatedRun:
    """A run against a broker that serves."""

    def __init__(self, server: ServerProcess, addresses: dict[str, str], folder: Path, seed: int) -> None:
        """addresses: by listener. folder: with the certificates, and for the file of the pause probe."""
        self._server = server
        self._addresses = addresses
        self._folder = folder
        self._tls = ssl.create_default_context(cafile=str(folder / "tls" / "ca.pem"))
        # What was logged until now is not about the clients of the run.
        self._log_start = len(server.log())
        self._resender = Resender(server)
        self._round: list[Conversation] = []
        self._staying: list[asyncio.StreamWriter] = []
        self.report = UnauthenticatedReport(seed)

    def run(self, frames: int, seconds: float = float("inf")) -> UnauthenticatedReport:
        """Have the conversations until so many frames were sent, or so long. Raises FuzzFailure."""
        report = self.report
        report.start_mib = self._server.memory_mib()
        started = time.monotonic()
        indexes = iter(range(2**31))
        files = self._server.open_files()
        try:
            with (
                closing(self._resender),
                closing(PauseProbe(self._server.address, self._server.process.pid, self._folder)) as probe,
            ):
                while report.frames < frames and report.seconds < seconds:
                    with asyncio.Runner(loop_factory=new_event_loop) as runner:
                        runner.run(self._send_round(indexes))
                    self._check_round(probe, files)
                    report.seconds = time.monotonic() - started
        except (AssertionError, OSError, RuntimeError, WrongResponse) as error:
            raise FuzzFailure(self._description(str(error))) from error
        return report

    async def _send_round(self, indexes: Iterator[int]) -> None:
        """Have the conversations of a round, on several connections at a time."""
        self._round = []
        left = ROUND_FRAMES

        async def converse() -> None:
            nonlocal left
            while left > 0:
                conversation = draw_conversation(self.report.seed, next(indexes))
                left -= len(conversation.frames)
                self._round.append(conversation)
                await self._converse(conversation)

        serving = asyncio.to_thread(self._authenticate)
        await asyncio.gather(serving, *(converse() for _ in range(CONNECTIONS)))
        self._measure()
        for writer in self._staying:
            writer.transport.abort()
        self._staying.clear()
        self.report.conversations += len(self._round)
        self.report.frames += sum(len(each.frames) for each in self._round)

    async def _converse(self, conversation: Conversation) -> None:
        host, _, port = self._addresses[conversation.listener].rpartition(":")
        tls = self._tls if conversation.is_encrypted else None
        name = "localhost" if conversation.is_encrypted else None
        reader, writer = await asyncio.open_connection(host, int(port), ssl=tls, server_hostname=name)
        received = bytearray()
        try:
            sent = await self._send(conversation, reader, writer, received)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, RuntimeError):
            # The broker has closed the connection; uvloop raises RuntimeError then.
            sent = conversation.data()
            self.report.refused += 1
        try:
            check_responses(conversation, bytes(received))
        except WrongResponse as error:
            raise WrongResponse(f"{error} in {conversation}\nsent {sent.hex()[:4000]}") from error
        if conversation.ending is Ending.STAY:
            self._staying.append(writer)
            return
        if conversation.ending is Ending.RESET:
            sock = writer.get_extra_info("socket")
            if sock is not None:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DO_NOT_LINGER)
        writer.transport.abort()

    async def _send(
        self,
        conversation: Conversation,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        received: bytearray,
    ) -> bytes:
        """Send all frames, and add what arrives to received. Return the bytes that were sent."""
        sent = bytearray()
        last = b""
        for frame in conversation.frames:
            data = frame.data if isinstance(frame, Frame) else frame.data(last)
            sent += data
            writer.write(data)
            if conversation.is_pipelined or (isinstance(frame, Frame) and frame.mutations not in ((), ("bare",))):
                continue
            head = await _read(reader.readexactly(SIZE.size), SILENCE_SECONDS_MAX * 4)
            last = b"" if not head else await _read(reader.readexactly(*SIZE.unpack(head)), RESPONSE_SECONDS_MAX)
            received += head + last
        if conversation.ending is not Ending.READ:
            return bytes(sent)
        if not (conversation.is_whole and conversation.is_served):
            received += await _read(reader.read(1 << 20), SILENCE_SECONDS_MAX)
            return bytes(sent)
        writer.write(END)
        rest = await asyncio.wait_for(reader.read(), RESPONSE_SECONDS_MAX)
        received += rest
        self.report.refused += 1
        return bytes(sent)

    def _authenticate(self) -> None:
        """Log in on both listeners by each mechanism, and look up the topic."""
        for listener, mechanism in product(LISTENERS[1:], ("PLAIN", "SCRAM-SHA-512")):
            config: dict[str, Any] = {
                "bootstrap.servers": self._addresses[listener],
                "security.protocol": listener,
                "sasl.mechanism": mechanism,
                "sasl.username": USER,
                "sasl.password": PASSWORD,
                "ssl.ca.location": str(self._folder / "tls" / "ca.pem"),
            }
            topics = confluent_admin.AdminClient(config).list_topics(timeout=RESPONSE_SECONDS_MAX).topics
            assert TOPIC in topics, f"a client that authenticated got {sorted(topics)}"
            self.report.authenticated += 1

    def _measure(self) -> None:
        """Raise AssertionError if the broker has more memory or files than the connections may need."""
        report = self.report
        memory, files = self._server.memory_mib(), self._server.open_files()
        report.max_mib, report.files_max = max(report.max_mib, memory), max(report.files_max, files)
        grown = memory - report.start_mib
        assert grown <= MEMORY_MIB_MAX, f"the broker has {grown:.0f} MiB more than at the start"

    def _check_round(self, probe: PauseProbe, files: int) -> None:
        """Raise FuzzFailure, or what run catches, if something went wrong in the round."""
        pauses = probe.take()
        error = self._resender.next_error()
        assert error is None, f"the broker logged an error: {error}"
        log = self._server.log()[self._log_start :]
        assert HIDDEN not in log, f"the log has {log[max(0, log.find(HIDDEN) - 500) :][:1000]}"
        longest = max(log.splitlines(), key=len, default="")
        assert len(longest) <= LOG_LINE_CHARACTERS_MAX, f"a log line of {len(longest)} characters: {longest[:500]}"
        deadline = time.monotonic() + CLOSED_SECONDS_MAX
        while (opened := self._server.open_files()) > files + DESCRIPTORS_SLACK:
            assert time.monotonic() < deadline, f"{opened} open files, and {files} at the start"
            time.sleep(POLL_SECONDS)
        worst = max((pause.ms for pause in pauses), default=0.0)
        if worst > PAUSE_MS_MAX:
            self._check_pause(worst)
        self.report.worst_ms = max(self.report.worst_ms, worst)

    def _check_pause(self, pause_ms: float) -> None:
        """Raise AssertionError if one conversation alone causes such a pause."""
        for conversation in self._round:
            resent = self._resender.resend(conversation.data(), self._addresses["SASL_PLAINTEXT"])
            assert resent.pause_ms <= PAUSE_MS_MAX, (
                f"a pause of {pause_ms:.0f} ms, and again of {resent.pause_ms:.0f} ms by {conversation}: "
                f"{conversation.data()[:2000].hex()}"
            )

    def _description(self, problem: str) -> str:
        lines = [problem, f"seed {self.report.seed}, {self.report.frames} frames in complete rounds"]
        with suppress(Exception):
            lines.append(f"the broker ended with {self._server.process.wait(0.5)}")
        return "\n".join(lines)


async def _read(reading: Any, seconds: float) -> bytes:
    """Return what is read; b"" if nothing arrives for so long."""
    try:
        data: bytes = await asyncio.wait_for(reading, seconds)
    except TimeoutError:
        return b""
    return data


def check_responses(conversation: Conversation, received: bytes) -> None:
    """Raise WrongResponse if a response says what it must not, or is of a request that must not be served."""
    if HIDDEN.encode() in received:
        raise WrongResponse(f"a response has a hidden name: {received!r}")
    pending = deque(conversation.frames)
    position = 0
    while position + SIZE.size <= len(received) and conversation.is_served:
        (size,) = SIZE.unpack_from(received, position)
        response = received[position + SIZE.size : position + SIZE.size + size]
        position += SIZE.size + size
        if len(response) == size:
            _check_response(conversation, pending, response)


def _check_response(conversation: Conversation, pending: deque[Frame | ScramFinal], response: bytes) -> None:
    # The response to the bare token of a client that has authenticated by PLAIN would be empty.
    if conversation.is_bare and _is_first_answer(response):
        return
    (correlation_id,) = SIZE.unpack_from(response) if len(response) >= SIZE.size else (None,)
    while pending:
        frame = pending.popleft()
        if isinstance(frame, ScramFinal):
            if frame.correlation_id == correlation_id:
                _check_authenticate(response, 1)
                return
        elif frame.correlation_id == correlation_id:
            _check_request(frame, response)
            return
    if conversation.is_whole:
        raise WrongResponse(f"no request has the response {response[:200].hex()}")


def _check_request(frame: Frame, response: bytes) -> None:
    api_key, version, _ = HEADER.unpack_from(frame.data, SIZE.size)
    problem = problem_of(frame, response)
    if problem is not None:
        raise WrongResponse(f"{problem} in the response {response[:200].hex()} to {frame}")
    if api_key == ApiKey.SASL_AUTHENTICATE:
        _check_authenticate(response, version)
    elif api_key not in SERVED and SIZE.pack(len(response)) + response != _refusal_of(frame, version):
        raise WrongResponse(f"{frame} was served: {response[:200].hex()}")


def _refusal_of(frame: Frame, version: int) -> bytes:
    """Return the response ILLEGAL_SASL_STATE to a request."""
    api_key, _, correlation_id = HEADER.unpack_from(frame.data, SIZE.size)
    reader = Reader(frame.data, SIZE.size + HEADER.size)
    reader.nullable_string()
    if version >= APIS[api_key].versions.flexible_since:
        reader.skip_tagged_fields()
    body = memoryview(frame.data)[reader.position :]
    code = ErrorCode.ILLEGAL_SASL_STATE
    return bytes(framed_errors.error_response(APIS[api_key], version, correlation_id, body, code))


def _check_authenticate(response: bytes, version: int) -> None:
    """Raise WrongResponse for a token that ends an authentication well."""
    frame = SIZE.pack(len(response)) + response
    try:
        _, message = decode_response_frame(APIS[ApiKey.SASL_AUTHENTICATE], version, frame)
    except FrameError as error:
        raise WrongResponse(f"{error}: {response[:200].hex()}") from error
    assert isinstance(message, SaslAuthenticateResponse)
    if not message.error_code and not _is_first_answer(message.auth_bytes):
        raise WrongResponse(f"a client has authenticated: {response[:200].hex()}")


def _is_first_answer(token: bytes) -> bool:
    """Whether a token is the server's first message of SCRAM, or the reason of a failure of OAUTHBEARER."""
    return token.startswith((b"r=", b'{"status":'))


@contextmanager
def broker_with_sasl() -> Generator[tuple[ServerProcess, dict[str, str], Path]]:
    """Run a broker with a user, a topic and a group during the block. Yield it, the addresses and its folder."""
    listeners = [word for name in LISTENERS for word in ("--listener", f"{name}://127.0.0.1:0")]
    with tempfile.TemporaryDirectory(prefix="fauxka-fuzz-") as name:
        folder = Path(name)
        options = [*listeners, "--user", f"{USER}:{PASSWORD}", "--tls-dir", str(folder / "tls"), "--log-level", "debug"]
        with running_server(folder, *SETTINGS, options=options) as server:
            lines = [line.partition("://") for line in server.log().splitlines()]
            addresses = {name: address for name, _, address in lines if name in LISTENERS}
            _create_hidden(addresses["PLAINTEXT"])
            yield server, addresses, folder


def _create_hidden(address: str) -> None:
    with BlockingClient(address) as client:
        assert client.create_topic(TOPIC, 1).error_code == 0
    topics = [OffsetCommitRequestTopic(name=TOPIC, partitions=[OffsetCommitRequestPartition(committed_offset=0)])]
    with MessageClient(address) as connection:
        connection.call(OffsetCommitRequest(group_id=GROUP, generation_id_or_member_epoch=-1, topics=topics), 8)


def run_unauthenticated(seed: int, frames: int, seconds: float = float("inf")) -> UnauthenticatedReport:
    """Start a broker and run. Raises FuzzFailure."""
    with broker_with_sasl() as (server, addresses, folder):
        return UnauthenticatedRun(server, addresses, folder, seed).run(frames, seconds)
