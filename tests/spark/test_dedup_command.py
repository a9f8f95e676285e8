"""`fauxka dedup` as a process: stopped, rejected and killed."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from confluent_kafka import Producer

from fauxka.testing import Broker

from ..clients.confluent_client import ConfluentClient
from ..clients.topics import create_topic
from ..pipeline.logs_on_disk import read
from ..serving_process import environment

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]

COMMAND = (sys.executable, "-m", "fauxka.pipeline", "dedup")
# A session starts in ten seconds, or many times that on a busy machine.
RUN_SECONDS_MAX = 240
# The run is too short for the optimising compiler.
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")
POLL_SECONDS = 0.05
# Each further round takes 15 seconds.
KILL_ROUNDS = int(os.environ.get("FAUXKA_KILL_ROUNDS", "2"))
# About the duration of a micro-batch of this test.
KILL_SECONDS_MAX = 2.0
CHUNK = 200


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(config={"num.partitions": "2"}) as broker:
        yield broker


def send(broker: Broker, topic: str, numbers: Sequence[int]) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    for number in numbers:
        producer.produce(topic, key=str(number), value=f"value {number}")
    assert producer.flush(RUN_SECONDS_MAX) == 0


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments, *QUICK],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS_MAX,
        check=False,
    )


@contextmanager
def running(*arguments: str) -> Generator[subprocess.Popen[str], None, None]:
    """Run the command and its JVM as a process group, which is killed at the end of the block."""
    process = subprocess.Popen(
        [*COMMAND, *arguments, *QUICK],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_for_file(process: subprocess.Popen[str], folder: Path, known: set[str]) -> None:
    """Wait until the folder has a new file."""
    deadline = time.monotonic() + RUN_SECONDS_MAX
    while names(folder) <= known:
        if process.poll() is not None:
            raise AssertionError(f"ended with {process.returncode}:\n{process.communicate()[1]}")
        assert time.monotonic() < deadline, f"nothing new in {folder} after {RUN_SECONDS_MAX} s"
        time.sleep(POLL_SECONDS)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("[0-9]*")}


def ids(folder: Path) -> list[int]:
    """The event ids of a folder of parquet, read without Spark."""
    content = parquet.read_table(folder, columns=["event_id"])  # pyright: ignore[reportUnknownMemberType]
    return sorted(int(str(event_id)) for event_id in content.column("event_id").to_pylist())


def keys(broker: Broker, topic: str) -> list[int]:
    """The keys of a topic, read by the plain decoder."""
    rows = read(bootstrap=broker.bootstrap_servers, topics=topic)
    return sorted(int(key) for row in rows if isinstance(key := row["key"], bytes))


def killed_at_random(broker: Broker, checkpoint: Path, topic: str, *arguments: str) -> None:
    """Send chunks of events, and kill the driver and its JVM in a micro-batch of each.

    The first time that is as soon as the micro-batch is planned, in the middle of it, and else at random.
    """
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for number in range(KILL_ROUNDS):
        # Each chunk repeats half of the previous one, and has each event twice.
        send(broker, topic, [*range(number * CHUNK, (number + 1) * CHUNK)] * 2)
        begun = names(checkpoint / "offsets")
        with running("--from", topic, *arguments) as process:
            wait_for_file(process, checkpoint / "offsets", begun)
            if number > 0:
                send(broker, topic, range(max(0, number * CHUNK - CHUNK // 2), (number + 1) * CHUNK))
                time.sleep(chance.uniform(0, KILL_SECONDS_MAX))
        planned, done = names(checkpoint / "offsets"), names(checkpoint / "commits")
        print(f"killed with {len(planned)} micro-batches planned and {len(done)} done")
        assert number > 0 or (planned, done) == ({"0"}, set()), "the first one was not killed in the middle"


def test_each_event_is_in_parquet_once_after_the_driver_was_killed(broker: Broker, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("--bootstrap", broker.bootstrap_servers, "--to", str(out), "--event-id", "key")

    killed_at_random(broker, out / "_checkpoint", "killed", *arguments)
    ended = run("--from", "killed", *arguments, "--available-now")

    assert ended.returncode == 0, ended.stderr
    assert ids(out) == list(range(KILL_ROUNDS * CHUNK))


def test_each_event_is_in_a_topic_once_after_the_driver_was_killed(broker: Broker, tmp_path: Path) -> None:
    place = tmp_path / "place"
    once = create_topic(ConfluentClient(broker.bootstrap_servers), broker.bootstrap_servers, "once", 2)
    arguments = ("--bootstrap", broker.bootstrap_servers, "--to", once, "--event-id", "key", "--checkpoint", str(place))

    killed_at_random(broker, place, "killed-too", *arguments)
    ended = run("--from", "killed-too", *arguments, "--available-now")

    assert ended.returncode == 0, ended.stderr
    assert keys(broker, once) == list(range(KILL_ROUNDS * CHUNK))


def test_a_signal_ends_a_stream_with_its_counts(broker: Broker, tmp_path: Path) -> None:
    out = tmp_path / "out"
    send(broker, "stopped", [1, 2, 2, 3])
    arguments = ("--from", "stopped", "--bootstrap", broker.bootstrap_servers, "--to", str(out), "--event-id", "key")

    with running(*arguments) as process:
        wait_for_file(process, out / "_checkpoint" / "commits", set())
        process.send_signal(signal.SIGTERM)
        output, log = process.communicate(timeout=RUN_SECONDS_MAX)

    assert process.returncode == 0, log
    assert output.splitlines() == [
        "read 4 records of stopped",
        f"kept 3, in {out} (parquet)",
        "dropped 1 as further copies",
        "further copies of events in stopped: 1",
        "  1 idempotence_off",
    ]
    assert "Traceback" not in log
    assert ids(out) == [1, 2, 3]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--to", "/tmp/x"), "set exactly one of --bootstrap (a broker's host:port) and --path (segment files)"),
        (("--to", "/tmp/x", "--path", "/nowhere"), "path: there is no /nowhere"),
        (
            ("--to", "x", "--path", "/nowhere"),
            "to: the topic x needs --to-bootstrap; a folder must contain a /, such as ./x",
        ),
        (("--to", "/tmp/x", "--bootstrap", "127.0.0.1:1"), "broker 127.0.0.1:1: no connection: Connection refused"),
        (
            ("--to", "x", "--bootstrap", "127.0.0.1:1"),
            "checkpoint: must be set for a stream to a topic",
        ),
        (
            ("--to", "/tmp/x", "--path", "/nowhere", "--within", "soon"),
            "within: must be a number of seconds, minutes, hours",
        ),
        (
            ("--to", "/tmp/x", "--path", "/nowhere", "--event-id", "offset"),
            "event-id: must be key, header:NAME, json:$.path",
        ),
    ],
)
def test_invalid_input_is_one_line_before_spark_starts(arguments: Sequence[str], words: str) -> None:
    ended = run("--from", "t", "--event-id", "key", *arguments)

    assert ended.returncode == 2
    assert ended.stderr.startswith(f"fauxka: {words}"), ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize("source", ["--bootstrap", "--path"])
def test_the_source_by_another_name_is_refused_as_the_target(tmp_path: Path, source: str) -> None:
    with Broker(data_dir=tmp_path / "data") as broker:
        create_topic(ConfluentClient(broker.bootstrap_servers), broker.bootstrap_servers, "orders", 1)
        send(broker, "orders", [1, 2])
        port = broker.bootstrap_servers.rpartition(":")[2]
        place = str(tmp_path / "data") if source == "--path" else broker.bootstrap_servers

        ended = run(
            *("--from", "orders", source, place, "--event-id", "key", "--to", "orders"),
            *("--to-bootstrap", f"localhost:{port}", "--checkpoint", str(tmp_path / "checkpoint")),
        )

    assert ended.returncode == 2
    assert ended.stderr == "fauxka: to: orders is also the source; its end would never be reached\n"
    assert not (tmp_path / "checkpoint").exists()
