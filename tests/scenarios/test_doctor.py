"""`fauxka doctor`: its result is that of `fauxka serve` with the same environment, and each missing part has advice."""

import fcntl
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fauxka.broker.lifecycle.serve_command import ServeOptions, StartupError
from fauxka.scenarios import doctor
from fauxka.scenarios.spark.installation import find_java

from ..serving_process import run

pytestmark = [pytest.mark.processes, pytest.mark.slice]

IN_USE = "stop the process that has it, or take a free one: fauxka serve --port 0"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return int(bound.getsockname()[1])


@pytest.fixture
def used_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield int(taken.getsockname()[1])


def failures(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("FAIL")]


def test_exit_code_is_0_where_a_broker_can_run() -> None:
    port, admin_port = free_port(), free_port()
    variables = {"KAFKA_LISTENERS": f"PLAINTEXT://127.0.0.1:{port}", "FAUXKA_ADMIN_PORT": str(admin_port)}

    ended = run("doctor", variables=variables)

    assert (ended.exit_code, ended.log) == (0, "")
    lines = ended.output.splitlines()
    assert f"ok    port of the broker, 127.0.0.1:{port}, is free" in lines
    assert f"ok    port of the admin API, 127.0.0.1:{admin_port}, is free" in lines
    assert lines[-1] == "fauxka serve can run."
    assert {line[:6] for line in lines[:-2]} <= {"ok    ", "note  "}


def test_each_listener_of_each_node_is_checked() -> None:
    listeners = "PLAINTEXT://127.0.0.1:29092,OTHER://127.0.0.1:39092"
    variables = {
        "KAFKA_LISTENERS": listeners,
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT",
        "FAUXKA_NODES": "2",
    }

    ended = run("doctor", variables=variables)

    checked = [line for line in ended.output.splitlines() if "port of the broker" in line or "cannot bind" in line]
    assert [port for port in (29092, 39092, 29093, 39093) if f":{port}" not in "".join(checked)] == []


@pytest.mark.parametrize(
    "variables",
    [
        {"KAFKA_LISTENERS": "garbage"},
        {"KAFKA_LISTENERS": "PLAINTEXT://127.0.0.1:99999"},
        {"KAFKA_LISTENERS": "PLAINTEXT://127.0.0.1:abc"},
        {"FAUXKA_NODES": "abc"},
        {"FAUXKA_AS_VERSION": "9.9"},
        {"KAFKA_NUM_PARTITIONS": "x"},
        {"FAUXKA_DATA_DIR": "/proc/x"},
        {"FAUXKA_DATA_DIR": str(Path(__file__).parent)},
        {"FAUXKA_DATA_DIR": f"{__file__}/data"},
        {"FAUXKA_ADMIN_PORT": "x"},
        {"FAUXKA_ADMIN_PORT": "9099", "FAUXKA_ADMIN_TLS": "/no/such/file.pem"},
        {"FAUXKA_ADMIN_PORT": "0", "FAUXKA_ADMIN_HOST": "é" * 70},
    ],
    ids=str,
)
def test_message_of_serve_is_a_failure(variables: dict[str, str]) -> None:
    variables = {"KAFKA_LISTENERS": f"PLAINTEXT://127.0.0.1:{free_port()}", **variables}

    served, examined = run("serve", variables=variables), run("doctor", variables=variables)

    message = served.log.splitlines()[-1].removeprefix("fauxka: ")
    assert (served.exit_code, failures(examined.output)) == (2, [f"FAIL  {message}"])
    assert (examined.exit_code, examined.log) == (1, "")


def test_port_of_another_process_is_a_failure_with_advice(used_port: int) -> None:
    ended = run("doctor", variables={"KAFKA_LISTENERS": f"PLAINTEXT://127.0.0.1:{used_port}"})

    reason = f"cannot bind 127.0.0.1:{used_port}: address already in use"
    assert failures(ended.output) == [f"FAIL  {reason}; {IN_USE}"]
    assert (ended.exit_code, ended.output.endswith("fauxka serve cannot run.\n")) == (1, True)


@pytest.mark.parametrize("host", ["a" * 70, "no-such-host.invalid", "192.0.2.1"])
def test_host_that_is_not_of_this_machine_is_another_failure(host: str) -> None:
    variables = {"KAFKA_LISTENERS": f"PLAINTEXT://{host}:9092"}

    served, examined = run("serve", variables=variables), run("doctor", variables=variables)

    (failure,) = failures(examined.output)
    assert failure.startswith(f"FAIL  cannot bind {host}:9092: ")
    assert failure.endswith("; set a host of this machine")
    assert (served.exit_code, "Traceback" in served.log, f"cannot bind {host}:9092" in served.log) == (2, False, True)


def test_port_that_the_user_chose_for_the_admin_api_must_be_free(used_port: int) -> None:
    listeners = {"KAFKA_LISTENERS": f"PLAINTEXT://127.0.0.1:{free_port()}"}

    chosen = run("doctor", variables={**listeners, "FAUXKA_ADMIN_PORT": str(used_port)})
    off = run("doctor", variables={**listeners, "FAUXKA_ADMIN_PORT": "off"})

    (failure,) = failures(chosen.output)
    assert failure.startswith(f"FAIL  the admin API cannot listen on 127.0.0.1:{used_port}: ")
    assert (chosen.exit_code, off.exit_code, "admin API" in off.output) == (1, 0, False)


def test_data_folder_of_a_running_broker_is_a_failure_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\n")
    (tmp_path / ".lock").touch()
    new = tmp_path.with_name("new")
    variables = {"KAFKA_LISTENERS": f"PLAINTEXT://127.0.0.1:{free_port()}"}

    with (tmp_path / ".lock").open("r+") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        locked = run("doctor", variables={**variables, "FAUXKA_DATA_DIR": str(tmp_path)})
    unlocked = run("doctor", variables={**variables, "FAUXKA_DATA_DIR": str(tmp_path)})
    missing = run("doctor", variables={**variables, "FAUXKA_DATA_DIR": str(new / "data")})

    (failure,) = failures(locked.output)
    assert "Failed to acquire lock on file .lock" in failure
    assert (locked.exit_code, unlocked.exit_code, missing.exit_code) == (1, 0, 0)
    assert sorted(os.listdir(tmp_path)) == [".lock", "meta.properties"]
    assert not new.exists()


def text_of(variables: dict[str, str]) -> str:
    """Return the lines about everything but the ports: a browser of an earlier test may run the event loop here."""

    def refuse() -> tuple[ServeOptions, None]:
        raise StartupError("not of this test")

    text, _ = doctor.doctor_text(variables, refuse)
    return text


def test_what_is_missing_has_a_line_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(package: str) -> None:
        return None

    monkeypatch.setattr(doctor, "_version_of", find_nothing)
    monkeypatch.setattr(doctor, "is_compiled", lambda: False)

    missing = [line for line in text_of({"PATH": ""}).splitlines() if line.startswith("note  no ")]

    assert len(missing) == 11
    assert [line for line in missing if "; " not in line] == []
    # Without --no-binary, pip installs the wheel of plain Python again.
    assert missing[0].endswith("pip install --force-reinstall --no-binary fauxka fauxka add them")


def program(folder: Path, name: str, script: str) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ('openjdk version "17.0.12" 2024-07-16', "ok    Java 17"),
        ('java version "1.8.0_402"', "note  Java 8, and Spark needs 17 or newer; install it, or set JAVA_HOME"),
        ("no JVM", "names no release, and Spark needs 17 or newer; set JAVA_HOME to another one"),
    ],
)
def test_release_of_java_is_that_of_java_home(output: str, line: str, tmp_path: Path) -> None:
    java = program(tmp_path, "bin/java", f"import sys; sys.stderr.write({output!r})")

    text = text_of({"JAVA_HOME": str(tmp_path), "PATH": ""})

    assert find_java({"JAVA_HOME": str(tmp_path)}) == str(java)
    assert [each for each in text.splitlines() if each.endswith(line)] != []


@pytest.mark.parametrize(
    ("scripts", "line"),
    [
        ({"docker": ""}, "ok    docker"),
        ({"docker": "raise SystemExit(1)", "podman": ""}, "ok    podman"),
        ({"docker": "raise SystemExit(1)"}, "note  docker: installed, without a response; find out why: docker info"),
        ({"podman": "import time; time.sleep(600)"}, "note  podman: installed, without a response; find out why:"),
    ],
)
def test_container_engine_must_respond(
    scripts: dict[str, str], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "ENGINE_SECONDS_MAX", 5)
    for name, script in scripts.items():
        program(tmp_path, name, f"import sys; assert sys.argv[1:] == ['info']; {script}")

    text = text_of({"PATH": str(tmp_path)})

    assert [each for each in text.splitlines() if each.startswith(line)] != []
