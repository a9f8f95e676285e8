"""A broker in its own process with a data folder, which can be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from ...broker.security.tls.listener_tls import CertificateKind
from ...protocol.batches.records import BatchOptions, Record, build_batch
from ..report.cached_batches import CachedSequences
from ..report.journal_requests import JournalRequest, cached_sequences_of, journal_requests
from .reserved_port import ReservedPort
from .scenario_broker import AWAIT_MS_MAX, EVENT_ID, BrokerFailed

# A start takes a tenth of a second, on a busy machine a hundred times that.
START_SECONDS_MAX = 20.0
STOP_SECONDS_MAX = 20.0
HTTP_SECONDS_MAX = 2 * AWAIT_MS_MAX / 1000
POLL_SECONDS = 0.01
LOG_TAIL_CHARACTERS = 300
# The maximum of the admin API.
PAGE_ITEMS = 1000
# The producer of the torn batch, which no scenario uses.
_TORN_PRODUCER_ID = 1_000_000
_TORN_RECORDS = 100


class ProcessBroker:
    """A ScenarioBroker in its own process, controlled by the admin API; keeps the journal from before a kill."""

    def __init__(self, as_version: str) -> None:
        """Start a broker with the producer rules of a Kafka version. Raises BrokerFailed."""
        self._folder = tempfile.TemporaryDirectory(prefix="fauxka-scenario-")
        self._path = Path(self._folder.name)
        self._port = ReservedPort()
        self._as_version = as_version
        self._before: list[JournalRequest] = []
        self._starts = 0
        self._admin = ""
        try:
            self._process = self._start()
        except BrokerFailed:
            self._clean_up()
            raise

    @property
    def bootstrap_servers(self) -> str:
        """The address, "host:port"."""
        return f"127.0.0.1:{self._port.number}"

    @property
    def client_servers(self) -> str:
        """The address."""
        return self.bootstrap_servers

    @property
    def login(self) -> None:
        """The broker has no listener with SASL."""
        return None

    @property
    def ca(self) -> None:
        """The broker has no listener with TLS."""
        return None

    def grant(self, operation: str, topic: str) -> None:
        """Raise BrokerFailed: the broker has no users."""
        raise BrokerFailed("only a scenario with login has a user")

    def revoke(self, operation: str, topic: str) -> None:
        """Raise BrokerFailed: the broker has no users."""
        self.grant(operation, topic)

    def present(self, kind: CertificateKind) -> None:
        """Raise BrokerFailed: the broker has no TLS."""
        raise BrokerFailed("only a scenario with tls has certificates")

    def arm(self, rule: Mapping[str, Any]) -> int:
        """Arm a rule in the JSON format of the admin API, and return its id."""
        armed: int = self._call("POST", "/v1/rules", body=rule)["id"]
        return armed

    def await_hits(self, rule_id: int, hits: int, timeout_ms: int = AWAIT_MS_MAX) -> None:
        """Wait until the rule has this number of hits. Raises BrokerFailed."""
        self._call("GET", f"/v1/rules/{rule_id}/await", hits=hits, timeout_ms=timeout_ms)

    def remove_rule(self, rule_id: int) -> None:
        """Remove a rule."""
        self._call("DELETE", f"/v1/rules/{rule_id}")

    def release_held(self) -> None:
        """Release all held requests, in the order of their arrival."""
        ids = [held["id"] for held in self._call("GET", "/v1/held")["items"]]
        self._call("POST", "/v1/held/release", body={"ids": ids})

    def journal(self) -> list[JournalRequest]:
        """Return the requests in the journal, oldest first; ids continue after a restart."""
        offset = self._before[-1].id if self._before else 0
        requests = list(self._before)
        since = "0"
        while since:
            page = self._call("GET", "/v1/journal", since=since, limit=PAGE_ITEMS)
            for request in journal_requests(page["items"]):
                request.id += offset
                requests.append(request)
            since = page["next"]
        return requests

    def verdict(self, topic: str) -> dict[str, Any]:
        """Return the verdict of the admin API since the last start."""
        verdict: dict[str, Any] = self._call("GET", "/v1/verdict", topic=topic, event_id=EVENT_ID)
        return verdict

    def cached_sequences(self, topic: str) -> CachedSequences:
        """Return the cached batches of all producers."""
        return cached_sequences_of(self._call("GET", "/v1/producers", topic=topic)["items"])

    def advance(self, ms: int) -> None:
        """Advance the broker's clock."""
        self._call("POST", "/v1/clock", body={"advance_ms": ms})

    def evict_cache(self, topic: str, partition: int, producer_id: int) -> None:
        """Drop the cached batches of a producer."""
        body = {"topic": topic, "partition": partition, "producer_id": producer_id}
        self._call("POST", "/v1/producers/evict_cache", body=body)

    def forget_producer(self, topic: str, partition: int, producer_id: int) -> None:
        """Remove the state of a producer."""
        body = {"topic": topic, "partition": partition, "producer_id": producer_id}
        self._call("POST", "/v1/producers/forget", body=body)

    def set_quota(self, client_id: str, key: str, value: float) -> None:
        """Set a quota of a client id."""
        self._call("POST", "/v1/quotas", body={"client_id": client_id, key: value})

    def delete_quotas(self) -> None:
        """Delete all client quotas."""
        self._call("DELETE", "/v1/quotas")

    def kill(self, topic: str, torn_bytes: int) -> None:
        """Kill the broker, append torn_bytes of a batch to the log of partition 0, and restart."""
        self._before = self.journal()
        self._process.send_signal(signal.SIGKILL)
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
        deadline = time.monotonic() + START_SECONDS_MAX
        while not ready_file.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                process.wait()
                raise BrokerFailed(f"the broker did not start: {self._log_tail()}")
            time.sleep(POLL_SECONDS)
        self._admin = f"http://{json.loads(ready_file.read_text())['admin']}"
        return process

    def _log_tail(self) -> str:
        text = (self._path / "broker.log").read_text(errors="replace")
        return " ".join(text[-LOG_TAIL_CHARACTERS:].split())

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None, **query: object) -> Any:
        url = f"{self._admin}{path}?{urlencode(query)}" if query else f"{self._admin}{path}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=HTTP_SECONDS_MAX) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            with error:
                reason = error.read().decode(errors="replace")
            raise BrokerFailed(f"{method} {path}: {error.code} {reason}") from error
        except OSError as error:
            raise BrokerFailed(f"{method} {path}: {error}") from error
