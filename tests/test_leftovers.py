"""Every command leaves the temporary folder as it found it: after its end, SIGTERM and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Producer

from fauxka.__main__ import EXIT_INTERRUPTED, EXIT_TERMINATED

from .serving_process import COMMAND, Ended, Serving, environment, serving, stop

pytestmark = pytest.mark.processes

# Limits that only a hang reaches; an audit takes two minutes on a machine that does much else.
SECONDS_MAX = 240
SPARK_SECONDS_MAX = 900
POLL_SECONDS = 0.02
TOPIC = "orders"
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """The temporary folder of a process."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


def variables_of(temporary: Path) -> dict[str, str]:
    """Return the environment variables that name the folder. Without a runtime folder brokers are registered there."""
    return {"TMPDIR": str(temporary), "XDG_RUNTIME_DIR": ""}


def names_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def run(temporary: Path, *arguments: str, seconds_max: float = SECONDS_MAX) -> int:
    """Run a command to its end, and return its exit code."""
    return subprocess.run(
        [*COMMAND, *arguments],
        env=environment(variables_of(temporary)),
        cwd=temporary.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds_max,
        check=False,
    ).returncode


def run_until(temporary: Path, number: signal.Signals, *arguments: str) -> Ended:
    """Run a command, send a signal when there is something in its temporary folder, and return what it left behind."""
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        env=environment(variables_of(temporary)),
        cwd=temporary.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A process that was begun in the background ignores SIGINT, and so would its children.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + SECONDS_MAX
    try:
        # Python itself writes a file of another name for a moment, to see whether it can write there.
        while not list(temporary.glob("fauxka-*")) and process.poll() is None:
            assert time.monotonic() < deadline, "nothing came into the temporary folder"
            time.sleep(POLL_SECONDS)
        assert process.poll() is None, "the command ended before it made a temporary file"
        process.send_signal(number)
        output, log = process.communicate(timeout=SECONDS_MAX)
    finally:
        process.kill()
        process.wait()
    return Ended(process.returncode, output, log)


# -- serve


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("options", [(), ("--listener", "SASL_SSL"), ("--nodes", "3", "--listener", "SSL")])
def test_broker_leaves_nothing(tmp_path: Path, temporary: Path, number: int, options: tuple[str, ...]) -> None:
    arguments = ("--port", "0", "--admin-port", "0", "--user", "alice:secret", *options)
    with serving(tmp_path, *arguments, variables=variables_of(temporary)) as broker:
        during = names_in(temporary)
        ended = stop(broker, number)

    assert (ended.exit_code, names_in(temporary)) == (0, []), ended.log
    assert any(name.endswith("ca-key.pem") for name in during) is bool(options)


def test_broker_that_cannot_start_leaves_nothing(tmp_path: Path, temporary: Path) -> None:
    assert run(temporary, "serve", "--port", "0", "--listener", "SSL", "--ready-file", str(tmp_path / "no/r.json")) == 2
    assert run(temporary, "serve", "--port", "0", "--listener", "SSL", "--seed-topic", "a:b") == 2

    assert names_in(temporary) == []


def test_folder_that_the_user_named_stays(tmp_path: Path, temporary: Path) -> None:
    folder = tmp_path / "tls"
    arguments = ("--port", "0", "--listener", "SSL", "--tls-dir", str(folder))
    with serving(tmp_path, *arguments, variables=variables_of(temporary)) as broker:
        stop(broker, signal.SIGTERM)

    assert (folder / "ca-key.pem").exists()


def test_certificates_folder_with_something_else_stays_with_it(tmp_path: Path, temporary: Path) -> None:
    with serving(tmp_path, "--port", "0", "--listener", "SSL", variables=variables_of(temporary)) as broker:
        (folder,) = temporary.glob("fauxka-tls-*")
        (folder / "important.txt").touch()
        stop(broker, signal.SIGTERM)

    assert names_in(temporary) == [folder.name, f"{folder.name}/important.txt"]


# -- the commands of a running broker, and those with brokers of their own


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    arguments = ("--port", "0", "--admin-port", "0", "--seed-topic", TOPIC)
    with serving(tmp_path_factory.mktemp("broker"), *arguments) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap})
        producer.produce(TOPIC, value="1")
        assert producer.flush(SECONDS_MAX) == 0
        yield broker


ADMIN = ("--admin", "{admin}")
RUNS: dict[str, tuple[str, ...]] = {
    "admin": ("admin", *ADMIN),
    "completion": ("completion", "bash"),
    "export": ("export", "{folder}/exported", "--from", "{bootstrap}"),
    "fault": ("fault", "list", *ADMIN),
    "health": ("health", "--port", "{port}"),
    "help": ("help", "serve"),
    "hunt": ("hunt", "--topic", TOPIC, "--output", "{folder}/hunt", "--", sys.executable, "-c", "pass"),
    "journal": ("journal", *ADMIN),
    "kafka-topics": ("kafka-topics", "--list", "--bootstrap-server", "{bootstrap}"),
    "records": ("records", "--bootstrap", "{bootstrap}", "--at", f"{TOPIC}-0:0"),
    "report": ("report", "--from", "{admin}", "-o", "{folder}/report.html"),
    "reset": ("reset", *ADMIN),
    "scenario": ("scenario", "run", "gap", "--client", "raw"),
    "spark-archive": ("spark-archive", "{folder}/fauxka.zip"),
    "verdict": ("verdict", TOPIC, *ADMIN),
}
# spark-jars downloads. The tests above and below run these.
OTHERS = {"serve", "audit", "compare", "dedup", "spark-jars"}


@pytest.mark.parametrize("name", RUNS)
def test_command_leaves_nothing(broker: Serving, temporary: Path, name: str) -> None:
    values = {"admin": broker.admin, "bootstrap": broker.bootstrap, "port": broker.port}
    arguments = [word.format(folder=temporary.parent, **values) for word in RUNS[name]]

    exit_code = run(temporary, *arguments)

    assert (exit_code in (0, 1, 3), names_in(temporary)) == (True, [])


def test_every_command_is_run_here() -> None:
    import click

    from fauxka.__main__ import commands

    listed = commands.list_commands(click.Context(commands))

    assert {*listed, "kafka-topics"} == {*RUNS, *OTHERS}


@pytest.mark.parametrize(
    ("number", "exit_code"), [(signal.SIGTERM, EXIT_TERMINATED), (signal.SIGINT, EXIT_INTERRUPTED)]
)
def test_stopped_scenario_leaves_nothing(temporary: Path, number: signal.Signals, exit_code: int) -> None:
    ended = run_until(temporary, number, "scenario", "run", "crash", "--client", "raw")

    assert (ended.exit_code, names_in(temporary)) == (exit_code, []), ended.log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopped_hunt_leaves_nothing(temporary: Path, number: signal.Signals) -> None:
    ended = run_until(
        temporary, number, "hunt", "--topic", TOPIC, "--", sys.executable, "-c", "import time; time.sleep(60)"
    )

    assert names_in(temporary) == [], ended.log


# -- Spark


@pytest.mark.spark
@pytest.mark.timeout(2 * SPARK_SECONDS_MAX)
@pytest.mark.parametrize("name", ["audit", "dedup"])
def test_spark_command_leaves_nothing(broker: Serving, temporary: Path, name: str) -> None:
    exit_code = run(temporary, *spark_command(broker, temporary, name), seconds_max=SPARK_SECONDS_MAX)

    assert (exit_code, names_in(temporary)) == (0, [])


@pytest.mark.spark
@pytest.mark.parametrize("name", ["audit", "dedup"])
@pytest.mark.parametrize(
    ("number", "exit_code"), [(signal.SIGTERM, EXIT_TERMINATED), (signal.SIGINT, EXIT_INTERRUPTED)]
)
def test_stopped_spark_command_leaves_nothing(
    broker: Serving, temporary: Path, name: str, number: signal.Signals, exit_code: int
) -> None:
    ended = run_until(temporary, number, *spark_command(broker, temporary, name))

    assert (ended.exit_code, names_in(temporary)) == (exit_code, []), ended.log


@pytest.mark.spark
def test_failed_spark_command_names_its_log(broker: Serving, temporary: Path) -> None:
    arguments = ("audit", "--bootstrap", broker.bootstrap, "--topics", TOPIC, "--master", "nonsense")

    ended = subprocess.run(
        [*COMMAND, *arguments],
        env=environment(variables_of(temporary)),
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )

    (log,) = names_in(temporary)
    assert (ended.returncode, f"Spark's log: {temporary}/{log}" in ended.stderr) == (2, True), ended.stderr


def spark_command(broker: Serving, temporary: Path, name: str) -> list[str]:
    source = ("--bootstrap", broker.bootstrap)
    if name == "audit":
        return [name, *source, "--topics", TOPIC, *QUICK]
    to = os.fspath(temporary.parent / "copies")
    checkpoint = os.fspath(temporary.parent / "checkpoint")
    options = ("--event-id", "key", "--to", to, "--checkpoint", checkpoint, "--available-now", "--no-why")
    return [name, *source, "--from", TOPIC, *options, *QUICK]
