"""One run of the fuzzer: a broker in its own process, connections with drawn frames, and the checks between rounds.

* The frames of a seed are the same in every run. How the connections take turns is not.
* A round ends when all of its frames are sent. Then the broker's log, the control topic and the pauses are checked.
* The frame at fault is found by sending the frames of the round again, one by one. A pause counts only if it repeats.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from fauxka.broker.runtime.event_loop import new_event_loop
from fauxka.client.broker_connection import BrokerConnection
from fauxka.client.errors import ConnectionFailed
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse

from ..broker.blocking_client import BlockingClient
from ..broker.server_process import ServerProcess, running_server
from .control_topic import ControlTopic
from .drawn_requests import TOPICS, World
from .frames import LONG_LIST_ELEMENTS, RELEASE, Frame, draw_frame
from .fuzzed_connection import FRAMES_OF_A_CONNECTION, FuzzedClient, Tally, WrongResponse
from .pause_probe import Pause, PauseProbe
from .resent_frames import Resender

ROUND_FRAMES = 1000
CONNECTIONS = 12
# A request may block the event loop for so long, and so all clients of the broker.
PAUSE_MS_MAX = 250.0
SETTINGS = (
    "group.initial.rebalance.delay.ms=0",
    "offsets.topic.num.partitions=3",
    "transaction.state.log.num.partitions=3",
    "share.coordinator.state.topic.num.partitions=3",
)
AS_VERSION = ("--as-version", ".".join(map(str, RELEASE)))
COMPACTED = "fuzz-compacted"
MEMBERS = 2
# The last version that needs no member id in the first request.
JOIN_VERSION = 3
JOIN_SECONDS_MAX = 10.0
# Of a broker that has closed a connection because it ends.
END_SECONDS_MAX = 0.5
# Of a frame in a report; the file has all of it.
HEX_BYTES_MAX = 2000


class FuzzFailure(Exception):
    """The broker failed a check; the message is the report."""


@dataclass(frozen=True, slots=True)
class FuzzOptions:
    """What to send. seconds: the run ends after so long, with fewer frames. is_on_disk: with a data folder."""

    seed: int
    frames: int
    seconds: float = float("inf")
    is_on_disk: bool = False
    long_list_elements: int = LONG_LIST_ELEMENTS
    pause_ms_max: float = PAUSE_MS_MAX


@dataclass(slots=True)
class FuzzReport:
    """What a run did.

    worst_ms: the longest pause. worst_frame: of the frames in flight then, the one with the longest pause when it was
    sent again alone, which is repeated_ms.
    """

    seed: int
    frames: int = 0
    seconds: float = 0.0
    tally: Tally = field(default_factory=Tally)
    control_records: int = 0
    worst_ms: float = 0.0
    repeated_ms: float = 0.0
    worst_frame: Frame | None = None
    start_mib: float = 0.0
    max_mib: float = 0.0
    end_mib: float = 0.0

    def lines(self) -> list[str]:
        """Return the report as lines."""
        rate = self.frames / self.seconds if self.seconds else 0.0
        counts = sorted(self.tally.counts.items())
        sent, answered, closed = (
            sum(each) for each in zip(*((c.sent, c.answered, c.closed) for _, c in counts), strict=True)
        )
        alone = "" if self.worst_frame is None else f"; alone, {self.worst_frame} takes {self.repeated_ms:.0f} ms"
        return [
            f"{'API':32} {'sent':>8} {'answered':>9} {'closed':>7}",
            *(f"{name:32} {each.sent:8} {each.answered:9} {each.closed:7}" for name, each in counts),
            f"{'all':32} {sent:8} {answered:9} {closed:7}",
            f"seed {self.seed}: {self.frames} frames in {self.seconds:.1f} s, {rate:,.0f} frames/s, "
            f"{self.tally.connections} connections",
            f"control topic: {self.control_records} records acknowledged, and fetched once and in order",
            f"worst pause: {self.worst_ms:.0f} ms{alone}",
            f"resident memory, MiB: {self.start_mib:.0f} at the start, {self.max_mib:.0f} at most, "
            f"{self.end_mib:.0f} at the end",
        ]


class FuzzRun:
    """A run against a broker that serves."""

    def __init__(self, server: ServerProcess, options: FuzzOptions, folder: Path) -> None:
        """folder: for the file of the pause probe."""
        self._server = server
        self._options = options
        self._folder = folder
        self._world = create_world(server.address)
        self._resender = Resender(server)
        self._round: list[Frame] = []
        self._flights_of_earlier_rounds = 0
        self.report = FuzzReport(options.seed)

    def run(self) -> FuzzReport:
        """Send all frames. Raises FuzzFailure."""
        try:
            return self._run()
        except (AssertionError, ConnectionFailed, OSError, RuntimeError, WrongResponse) as error:
            # Of the control topic, a connection or the probe.
            raise FuzzFailure(self._description(f"{error}")) from error

    def _run(self) -> FuzzReport:
        report, options = self.report, self._options
        report.start_mib = self._memory_mib()
        with (
            closing(self._resender),
            closing(ControlTopic(self._server.address)) as control,
            closing(PauseProbe(self._server.address, self._server.process.pid, self._folder)) as probe,
        ):
            started = time.monotonic()
            for first in range(0, options.frames, ROUND_FRAMES):
                if time.monotonic() - started > options.seconds:
                    break
                self._send_round(range(first, min(first + ROUND_FRAMES, options.frames)))
                self._check_round(control, probe)
                report.seconds = time.monotonic() - started
            report.control_records = control.end()
            # The probe reports a pause when it is over.
            self._check_round(control, probe)
        report.end_mib = self._memory_mib()
        return report

    def _memory_mib(self) -> float:
        memory = self._server.memory_mib()
        self.report.max_mib = max(self.report.max_mib, memory)
        return memory

    def _send_round(self, indexes: range) -> None:
        """Send the frames of a round on several connections at a time."""
        self._round = []
        # The probe may report a pause when the next round has begun.
        flights = self.report.tally.flights
        del flights[: self._flights_of_earlier_rounds]
        self._flights_of_earlier_rounds = len(flights)
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(self._send(indexes))
        self.report.frames += len(indexes)

    async def _send(self, indexes: range) -> None:
        random = Random(f"{self._options.seed}:{indexes.start}")
        parts: list[range] = []
        while indexes:
            size = random.choice(FRAMES_OF_A_CONNECTION)
            parts.append(indexes[:size])
            indexes = indexes[size:]
        waiting = iter(parts)

        async def send_parts() -> None:
            # Frames are drawn when their turn comes, so that the broker handles those of other connections meanwhile.
            for part in waiting:
                frames = [self._draw(index) for index in part]
                self._round += frames
                for frame in frames:
                    self.report.tally.of(frame).sent += 1
                client = FuzzedClient(
                    self._server.address, Random(f"{self._options.seed}:{part.start}"), self.report.tally
                )
                await client.run(frames)

        await asyncio.gather(*(send_parts() for _ in range(CONNECTIONS)))

    def _draw(self, index: int) -> Frame:
        return draw_frame(self._options.seed, index, self._world, self._options.long_list_elements)

    def _check_round(self, control: ControlTopic, probe: PauseProbe) -> None:
        """Raise FuzzFailure, or what run catches, if something went wrong since the last check."""
        self._memory_mib()
        pauses = probe.take()
        control.check()
        error = self._resender.next_error()
        if error is not None:
            raise FuzzFailure(self._description(f"the broker logged an error: {error}", self._frame_with_error()))
        worst = max(pauses, key=lambda pause: pause.ms, default=None)
        if worst is not None and worst.ms > min(self.report.worst_ms, self._options.pause_ms_max):
            self._report_pause(worst)

    def _frame_with_error(self) -> Frame | None:
        """Return the frame of the round that alone makes the broker log an error."""
        return next((frame for frame in self._round if self._resender.resend(frame.data).error is not None), None)

    def _report_pause(self, pause: Pause) -> None:
        """Find the frame that caused the pause. Raises FuzzFailure if it repeats and is too long."""
        report = self.report
        frames = [
            frame
            for flight in report.tally.flights
            if flight.sent <= pause.end and flight.ended >= pause.start
            for frame in flight.frames
        ]
        alone_ms, longest = 0.0, None
        for frame in frames:
            frame_ms = self._resender.resend(frame.data).pause_ms
            if frame_ms > alone_ms:
                alone_ms, longest = frame_ms, frame
            if frame_ms > self._options.pause_ms_max:
                break
        repeated_ms = 0.0 if longest is None else min(alone_ms, self._resender.resend(longest.data).pause_ms)
        if pause.ms > report.worst_ms:
            report.worst_ms, report.repeated_ms, report.worst_frame = pause.ms, repeated_ms, longest
        if repeated_ms > self._options.pause_ms_max:
            allowed = f"{self._options.pause_ms_max:.0f} ms is allowed"
            problem = f"a pause of {pause.ms:.0f} ms, and again of {repeated_ms:.0f} ms; {allowed}"
            raise FuzzFailure(self._description(problem, longest))

    def _description(self, problem: str, frame: Frame | None = None) -> str:
        """Return the report of a failure, and write the frames of the round to a file."""
        path = write_frames([frame] if frame is not None else self._round)
        lines = [problem, f"seed {self._options.seed}, {self.report.frames} frames in complete rounds"]
        if frame is not None:
            lines += [f"frame {frame}", frame.data[:HEX_BYTES_MAX].hex()]
        else:
            lines.append("no single frame is known to repeat it; the file has those of the round")
        lines.append(f"replay: python -m tests.fuzz --replay {path}")
        with suppress(subprocess.TimeoutExpired):
            lines.append(f"the broker ended with {self._server.process.wait(END_SECONDS_MAX)}")
        return "\n".join(lines)


def run_fuzzer(options: FuzzOptions, program: Sequence[str] | None = None) -> FuzzReport:
    """Start a broker and run. program: the command of fauxka. Raises FuzzFailure."""
    with fuzzed_broker(is_on_disk=options.is_on_disk, program=program) as (server, folder):
        return FuzzRun(server, options, folder).run()


@contextmanager
def fuzzed_broker(*, is_on_disk: bool, program: Sequence[str] | None = None) -> Generator[tuple[ServerProcess, Path]]:
    """Run a broker during the block, with files in a folder that is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="fauxka-fuzz-") as name:
        folder = Path(name)
        arguments = ("--data-dir", str(folder / "data")) if is_on_disk else ()
        options = (*arguments, *AS_VERSION)
        with running_server(folder, *SETTINGS, options=options, program=program) as server:
            yield server, folder


def create_world(address: str) -> World:
    """Create the topics and the members of a group that drawn requests name."""
    with BlockingClient(address) as client:
        for name, partitions in TOPICS.items():
            configs = {"cleanup.policy": "compact"} if name == COMPACTED else None
            assert client.create_topic(name, partitions, configs).error_code == 0
        topic_ids = client.topic_ids()
    return World([topic_ids[name] for name in TOPICS], [_join(address) for _ in range(MEMBERS)])


def _join(address: str) -> str:
    """Return the id of a new member; it leaves when the group rebalances without it."""
    host, _, port = address.rpartition(":")
    connection = BrokerConnection(host, int(port), timeout_seconds=JOIN_SECONDS_MAX, response_bytes_max=1 << 16)
    request = JoinGroupRequest(
        group_id="classic",
        session_timeout_ms=300_000,
        rebalance_timeout_ms=10,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    with closing(connection):
        return connection.send_request(ApiKey.JOIN_GROUP, JOIN_VERSION, request, JoinGroupResponse.read).member_id


def write_frames(frames: Sequence[Frame]) -> Path:
    """Write frames to a new file, one JSON object a line, and return its path."""
    with tempfile.NamedTemporaryFile("w", prefix="fauxka-fuzz-", suffix=".jsonl", delete=False) as file:
        for frame in frames:
            print(json.dumps({"frame": str(frame), "data": frame.data.hex()}), file=file)
    return Path(file.name)
