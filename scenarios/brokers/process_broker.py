"""A broker in its own process with a data folder, which can be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ...admin.methods.broker import BrokerMethods
from ...protocol.batches.records import BatchOptions, Record, build_batch
from ...testing import RemoteBroker
from ..report.journal_requests import JournalRequest
from .reserved_port import ReservedPort
from .scenario_broker import BrokerFailed
from .steered_broker import SteeredBroker

# A start takes a tenth of a second, on a busy machine a hundred times that.
START_SECONDS_MAX = 20.0
STOP_SECONDS_MAX = 20.0
POLL_SECONDS = 0.01
LOG_TAIL_CHARACTERS = 300
# The producer of the torn batch, which no scenario uses.
_TORN_PRODUCER_ID = 1_000_000
_TORN_RECORDS = 100


class ProcessBroker(SteeredBroker):
    """A ScenarioBroker in its own process, controlled by the admin API; keeps the journal from before a kill."""

    def __init__(self, as_version: str) -> None:
        """Start a broker with the producer rules of a Kafka version. Raises BrokerFailed."""
        self._folder = tempfile.TemporaryDirectory(prefix="fauxka-scenario-")
        self._path = Path(self._folder.name)
        self._port = ReservedPort()
        self._as_version = as_version
        self._before: list[JournalRequest] = []
        self._starts = 0
        try:
            self._process = self._start()
        except BaseException:
            self._clean_up()
            raise

    @property
    def bootstrap_servers(self) -> str:
        """The address, "host:port"."""
        return f"127.0.0.1:{self._port.number}"

    @property
    def methods(self) -> BrokerMethods:
        """The admin interface of the broker."""
        return self._methods

    def journal(self) -> list[JournalRequest]:
        """Return the requests in the journal, oldest first; ids continue after a restart."""
        offset = self._before[-1].id if self._before else 0
        requests = super().journal()
        for request in requests:
            request.id += offset
        return [*self._before, *requests]

    def kill(self, topic: str, torn_bytes: int) -> None:
        """Kill the broker, append torn_bytes of a batch to the log of partition 0, and restart."""
        self._before = self.journal()
        self._process.kill()
        self._process.wait(STOP_SECONDS_MAX)
        self._tear(topic, torn_bytes)
        self._process = self._start()

    def close(self) -> None:
        """Stop the broker and delete its files."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(STOP_SECONDS_MAX)
        self._clean_up()

    def _clean_up(self) -> None:
        self._port.close()
        self._folder.cleanup()

    def _tear(self, topic: str, torn_bytes: int) -> None:
        """Append the start of a batch to the log, as a process does that dies during a write."""
        record = Record(b"never acknowledged", timestamp=time.time_ns() // 1_000_000)
        options = BatchOptions(producer_id=_TORN_PRODUCER_ID, producer_epoch=0, base_sequence=0)
        batch = build_batch([record] * _TORN_RECORDS, options)
        assert torn_bytes < len(batch), f"torn_bytes is {torn_bytes}; it must be less than {len(batch)}"
        segments = sorted((self._path / "data").glob(f"**/{topic}-0/*.log"))
        if not segments:
            raise BrokerFailed(f"the data folder has no log of {topic}-0")
        with segments[-1].open("ab") as segment:
            segment.write(batch[:torn_bytes])

    def _start(self) -> subprocess.Popen[bytes]:
        self._starts += 1
        # A killed process leaves its ready file behind, so each start uses another name.
        ready_file = self._path / f"ready-{self._starts}.json"
        options = ["--port", str(self._port.number), "--admin-port", "0", "--as-version", self._as_version]
        options += ["--data-dir", str(self._path / "data"), "--ready-file", str(ready_file)]
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("KAFKA_", "FAUXKA_", "CLUSTER_"))
        }
        with (self._path / "broker.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "fauxka", "serve", *options],
                env=kept,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            self._wait_for(ready_file, process)
        except BaseException:
            # A signal to the scenario comes as an exception, and the broker must not outlive it.
            process.kill()
            process.wait()
            raise
        self._methods = RemoteBroker(f"http://{json.loads(ready_file.read_text())['admin']}")
        return process

    def _wait_for(self, ready_file: Path, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS_MAX
        while not ready_file.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise BrokerFailed(f"the broker did not start: {self._log_tail()}")
            time.sleep(POLL_SECONDS)

    def _log_tail(self) -> str:
        text = (self._path / "broker.log").read_text(errors="replace")
        return " ".join(text[-LOG_TAIL_CHARACTERS:].split())
