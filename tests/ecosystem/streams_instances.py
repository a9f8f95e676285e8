"""Instances of the application of Kafka Streams in streams_groups, its input, and its output, against any broker."""

import importlib
import re
import time
import urllib.request
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

from ..wire.message_client import MessageClient
from .programs import POLL_SECONDS, RUN_SECONDS_MAX, Program, Running

# Its stubs lack NewTopic.
confluent_admin = importlib.import_module("confluent_kafka.admin")

APPLICATION = "orders-app"
GROUP_RESOURCE = 32
REQUEST_SECONDS_MAX = 30

# The key and the value of an order, and its timestamp in ms; None for now.
Order = tuple[str, str]


@dataclass(frozen=True)
class Instance:
    """An instance of the application. port: of its HTTP server."""

    running: Running
    port: int

    def get(self, what: str) -> str:
        """Return what the instance says of itself: its state, its tasks, how many records it has restored."""
        return _get(f"127.0.0.1:{self.port}", what)

    @property
    def active(self) -> set[str]:
        """The active tasks."""
        return set(self.get("tasks").split(",")[0].split())

    @property
    def standby(self) -> set[str]:
        """The standby tasks."""
        return set(self.get("tasks").split(",")[1].split())

    def has_values(self, values: Mapping[str, str]) -> bool:
        """Return whether keys have these values in the table, each in the instance that has it."""
        return all(self._answer(key) == f"value {value}" for key, value in values.items())

    def _answer(self, key: str) -> str:
        answer = self.get(f"value/{quote(key)}")
        if answer.startswith("at "):
            answer = _get(answer.removeprefix("at "), f"value/{quote(key)}")
        return answer

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so, while the instance runs."""
        self.running.wait_until(is_so)

    def kill(self) -> None:
        """End it by SIGKILL."""
        self.running.process.kill()
        self.running.process.wait()


def _get(address: str, what: str) -> str:
    with urllib.request.urlopen(f"http://{address}/{what}", timeout=REQUEST_SECONDS_MAX) as response:
        content: bytes = response.read()
    return content.decode()


@contextmanager
def instance(
    application: Program,
    folder: Path,
    address: str,
    topology: str,
    settings: Mapping[str, str] | None = None,
) -> Generator[Instance, None, None]:
    """Run an instance for the length of the block; it is RUNNING when that begins. folder: of its state and its log."""
    folder.mkdir(exist_ok=True)
    log_file = folder / f"log-{len(list(folder.iterdir()))}"
    given = {"application.id": APPLICATION, "state.dir": str(folder / "state"), **(settings or {})}
    with application.running(log_file, address, topology, *(f"{key}={value}" for key, value in given.items())) as run:
        run.wait_until(lambda: _port_in(log_file) is not None)
        started = Instance(run, _port_in(log_file) or 0)
        run.wait_until(lambda: started.get("state") == "RUNNING")
        yield started


def _port_in(log_file: Path) -> int | None:
    found = re.search(r"^port (\d+)$", log_file.read_text(errors="replace"), re.MULTILINE)
    return None if found is None else int(found[1])


# -- input and output


def create_topics(address: str, partitions: Mapping[str, int]) -> None:
    """Create topics with as many replicas as the broker gives by default. partitions: by name."""
    admin = confluent_admin.AdminClient({"bootstrap.servers": address})
    created = admin.create_topics([confluent_admin.NewTopic(name, count, -1) for name, count in partitions.items()])
    for future in created.values():
        future.result(RUN_SECONDS_MAX)


def produce(address: str, topic: str, orders: Iterable[Order], timestamps: Sequence[int] = ()) -> None:
    """Append orders, and wait for their acknowledgements. timestamps: in ms since 1970, of each; now without them."""
    settings: dict[str, str | int | bool] = {"bootstrap.servers": address, "enable.idempotence": True, "linger.ms": 0}
    # Kafka Streams looks for a key in the partition that the Java client would choose.
    producer = Producer({**settings, "partitioner": "murmur2_random"})
    for number, (key, value) in enumerate(orders):
        producer.produce(topic, value, key, timestamp=timestamps[number] if timestamps else 0)
    assert producer.flush(RUN_SECONDS_MAX) == 0


class Output:
    """The committed records of a topic with one partition. `with Output(address, topic) as output:`."""

    def __init__(self, address: str, topic: str) -> None:
        settings = {"bootstrap.servers": address, "group.id": f"readers-of-{topic}", "enable.auto.commit": False}
        self._consumer = Consumer({**settings, "isolation.level": "read_committed"})
        self._consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        self.records: list[tuple[str, str]] = []

    def __enter__(self) -> "Output":
        return self

    def __exit__(self, *error: object) -> None:
        self._consumer.close()

    def read(self) -> None:
        """Read what is there."""
        for message in self._consumer.consume(num_messages=500, timeout=0.2):
            if message.error() is None:
                self.records.append(((message.key() or b"").decode(), (message.value() or b"").decode()))

    def has_more_than(self, count: int) -> bool:
        """Read what is there, and return whether there are more records so far."""
        self.read()
        return len(self.records) > count

    def values(self) -> dict[str, str]:
        """Read what is there, and return the last value of each key."""
        self.read()
        return dict(self.records)


def configure_group(address: str, **configs: str) -> None:
    """Set configs of the group, such as num_standby_replicas for streams.num.standby.replicas."""
    entries = [
        AlterableConfig(name=f"streams.{name.replace('_', '.')}", config_operation=0, value=value)
        for name, value in configs.items()
    ]
    resource = AlterConfigsResource(resource_type=GROUP_RESOURCE, resource_name=APPLICATION, configs=entries)
    client = MessageClient(address.split(",")[0])
    try:
        client.call(IncrementalAlterConfigsRequest(resources=[resource]), 1)
    finally:
        client.close()


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so of several instances."""
    deadline = time.monotonic() + RUN_SECONDS_MAX
    while not is_so():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(POLL_SECONDS)
