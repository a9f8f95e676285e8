"""The command line as its users meet it: in a process of its own."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from fauxka.protocol.compiled_modules import is_compiled
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataResponse

from .serving_process import COMMAND, environment, run, serving, stop
from .wire.message_client import MessageClient

pytestmark = [pytest.mark.processes, pytest.mark.slice]

METADATA_VERSION = 9
# Packages that only some requests need. The first such request loads them.
LOADED_ON_USE = (
    "cramjam",
    "cryptography",
    "fauxka.admin.operations.",
    "fauxka.broker.coordinators.",
    "fauxka.broker.dispatch.throttl",
    "fauxka.broker.metadata.client_quota",
    "fauxka.broker.network.sasl_gate",
    "fauxka.broker.requests.authorization",
    "fauxka.broker.requests.client_quotas",
    "fauxka.client",
    "joserfc",
    "prometheus_client",
    "re2",
    "scramp",
    "starlette",
    "trustme",
    "uvicorn",
)
# Every connection has a principal, every listener a protocol, and every config is read as by Java. The packages are
# loaded without their modules.
LOADED_OF_SECURITY = {
    "fauxka.broker.security.acl",
    "fauxka.broker.security.oauth",
    "fauxka.broker.security.principal",
    "fauxka.broker.security.sasl",
    "fauxka.broker.security.tls",
    "fauxka.security.java_text",
    "fauxka.security.security_protocol",
}
SECURITY_PREFIXES = ("fauxka.broker.security.", "fauxka.security.")


def metadata(port: int) -> MetadataResponse:
    """Ask the broker on that port for all topics."""
    with MessageClient(f"127.0.0.1:{port}") as client:
        return client.call(MetadataRequest(topics=None), METADATA_VERSION, MetadataResponse)


def test_ready_file_says_where_clients_can_connect(tmp_path: Path) -> None:
    with serving(tmp_path) as broker:
        ready = json.loads(broker.ready_file.read_text())

        assert ready == {"bootstrap": broker.bootstrap, "admin": None, "pid": broker.process.pid}
        assert metadata(broker.port).brokers[0].port == broker.port


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_stops_it_with_exit_code_0_and_without_a_traceback(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path) as broker:
        ended = stop(broker, number)

    assert ended.exit_code == 0
    assert ended.output == f"PLAINTEXT://{broker.bootstrap}\n"
    assert f"received {number.name}: stopping" in ended.log
    assert "Traceback" not in ended.log
    assert not broker.ready_file.exists()


def test_signal_stops_it_while_a_client_is_connected(tmp_path: Path) -> None:
    with serving(tmp_path) as broker, socket.create_connection(("127.0.0.1", broker.port)) as client:
        ended = stop(broker, signal.SIGTERM)

        assert ended.exit_code == 0
        assert client.recv(1) == b""


def test_each_log_line_is_a_json_object_without_a_terminal(tmp_path: Path) -> None:
    with serving(tmp_path) as broker:
        ended = stop(broker, signal.SIGTERM)

    lines = [json.loads(line) for line in ended.log.splitlines()]
    assert {"time", "level", "logger", "message"} <= lines[0].keys()


@pytest.mark.parametrize(
    ("options", "variables"),
    [(("--log-kafka-started",), {}), ((), {"FAUXKA_LOG_KAFKA_STARTED": "1"})],
    ids=["option", "variable"],
)
def test_log_has_the_words_that_harnesses_of_kafka_wait_for_where_they_are_wanted(
    tmp_path: Path, options: tuple[str, ...], variables: dict[str, str]
) -> None:
    with serving(tmp_path, *options, variables=variables) as broker:
        ended = stop(broker, signal.SIGTERM)

    assert "[KafkaServer id=1] started: Kafka Server started, Transitioning from RECOVERY to RUNNING" in ended.log


def test_start_says_each_thing_once(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0") as broker:
        ended = stop(broker, signal.SIGTERM)

    assert ended.output == f"PLAINTEXT://{broker.bootstrap}\n{broker.admin}\n"
    messages = [json.loads(line)["message"] for line in ended.log.splitlines()]
    assert [message for message in messages if "plain Python" not in message] == [
        "received SIGTERM: stopping",
        "stopped",
    ]


def test_listener_that_is_advertised_under_another_address_is_logged(tmp_path: Path) -> None:
    with serving(tmp_path, "--listener", "OUT://0.0.0.0:0,broker.example:29094") as broker:
        ended = stop(broker, signal.SIGTERM)

    assert ended.output == "OUT://broker.example:29094\n"
    assert "OUT listens on 0.0.0.0, port " in ended.log


def test_packages_that_only_some_requests_need_are_not_loaded_before_clients_can_connect(tmp_path: Path) -> None:
    command = (sys.executable, "-X", "importtime", "-m", "fauxka")
    with serving(tmp_path, "--admin-port", "0", "--log-kafka-started", command=command) as broker:
        log = stop(broker, signal.SIGTERM).log

    lines = log.partition("Kafka Server started")[0].splitlines()
    loaded = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
    assert {"asyncio", "fauxka.broker.lifecycle.server"} <= loaded
    assert [name for name in loaded if name.startswith(LOADED_ON_USE)] == []
    assert {name for name in loaded if name.startswith(SECURITY_PREFIXES)} == LOADED_OF_SECURITY


def test_level_leaves_out_lower_levels(tmp_path: Path) -> None:
    with serving(tmp_path, "-l", "warn") as broker:
        ended = stop(broker, signal.SIGTERM)

    assert ended.log == ""


def test_each_client_receives_the_advertised_address_of_its_listener(tmp_path: Path) -> None:
    listeners = ("--listener", "IN://127.0.0.1:0", "--listener", "OUT://127.0.0.1:0,broker.example:29094")
    with serving(tmp_path, *listeners) as broker:
        assert broker.process.stdout is not None
        lines = [broker.process.stdout.readline() for _ in range(2)]
        inside = metadata(broker.port).brokers[0]

    assert lines == [f"IN://{broker.bootstrap}\n", "OUT://broker.example:29094\n"]
    assert (inside.host, inside.port) == ("127.0.0.1", broker.port)


def test_configuration_comes_from_file_environment_and_options(tmp_path: Path) -> None:
    properties = tmp_path / "server.properties"
    properties.write_text("num.partitions=2\nbroker.rack=of the file\nnode.id=2\n")
    variables = {"KAFKA_NUM_PARTITIONS": "3", "KAFKA_BROKER_RACK": "of the environment", "CLUSTER_ID": "the-cluster"}
    options = ("--config", str(properties), "-c", "num.partitions=4", "--seed-topic", "a", "--seed-topic", "b:5")

    with serving(tmp_path, *options, variables=variables) as broker:
        answer = metadata(broker.port)

    assert {topic.name: len(topic.partitions) for topic in answer.topics} == {"a": 4, "b": 5}
    assert (answer.brokers[0].node_id, answer.brokers[0].rack) == (2, "of the environment")
    assert answer.cluster_id == "the-cluster"


def test_unknown_variable_of_the_environment_is_one_line_of_the_log(tmp_path: Path) -> None:
    with serving(tmp_path, variables={"KAFKA_NO_SUCH_KEY": "1", "KAFKA_PROCESS_ROLES": "broker"}) as broker:
        ended = stop(broker, signal.SIGTERM)

    assert len([line for line in ended.log.splitlines() if "KAFKA_NO_SUCH_KEY" in line]) == 1
    assert [line for line in ended.log.splitlines() if "without effect here: process.roles" in line] != []


def test_misspelled_variable_is_one_warning_with_the_probable_meaning(tmp_path: Path) -> None:
    variables = {"FAUXKA_DATADIR": "secret", "FAUXKA_PORT": "1", "KAFKA_NUM_PARTITION": "3", "FAUXKA_HOST": "127.0.0.1"}
    with serving(tmp_path, variables=variables) as broker:
        ended = stop(broker, signal.SIGTERM)

    lines = [json.loads(line) for line in ended.log.splitlines()]
    warnings = {line["message"].split()[0]: line["message"] for line in lines if line["level"] == "warning"}
    assert {variable: message.partition("; ")[2] for variable, message in warnings.items()} == {
        "FAUXKA_DATADIR": "did you mean FAUXKA_DATA_DIR?",
        "FAUXKA_PORT": "did you mean --port?",
        "KAFKA_NUM_PARTITION": "did you mean KAFKA_NUM_PARTITIONS?",
    }
    assert "secret" not in ended.log


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["-c", "no.such.key=1"], "unknown configuration key no.such.key"),
        (["-c", "num.partitions"], "expected key=value"),
        (["-c", "num.partitions=0"], "Value must be at least 1"),
        (["--config", "no-such-file"], "cannot read no-such-file: No such file"),
        (["--port", "70000"], "70000"),
        (["--port", "x"], "'x' is not a valid integer"),
        (["--port", "0", "--listener", "A://127.0.0.1:0"], "exclude each other"),
        (["--listener", "127.0.0.1:0"], "expected NAME://host:port"),
        (["--listener", "SASL_SSL", "--user", "alice"], "--user: expected NAME:PASSWORD"),
        (["--listener", "SASL_SSL", "--user", "a:1", "--user", "a:2"], "--user: a is given twice"),
        (["--listener", "SASL_SSL", "-c", "sasl.enabled.mechanisms=GSSAPI"], "got GSSAPI; allowed: PLAIN"),
        (["--listener", "SASL_SSL", "-c", "sasl.enabled.mechanisms=PLAN"], "got PLAN; allowed: PLAIN"),
        (["--listener", "SSL", "-c", "ssl.keystore.location=no-such-file"], "cannot read no-such-file: No such file"),
        (
            ["--listener", "SSL", "-c", "ssl.keystore.location=README.md"],
            "ssl.keystore.location: README.md: it is no PKCS12 store",
        ),
        (["--listener", "SSL", "-c", "ssl.enabled.protocols=SSLv3"], "SSLv3 is not supported; allowed: TLSv1.2"),
        (["--listener", "SSL", "--tls-dir", "README.md"], "--tls-dir: README.md is a file, not a folder"),
        (["--listener", "SSL", "-c", "listener.security.protocol.map=SSL:TLS"], "Invalid security protocol `TLS`"),
        (["--host", "256.256.256.256", "--port", "0"], "256.256.256.256"),
        (["--as-version", "newest"], "not a Kafka version"),
        (["--as-version", "9.0"], "9.0"),
        (["--seed-topic", "a/b:1"], "'a/b'"),
        (["--seed-topic", "a:0"], "partitions"),
        (["--seed-topic", "a:3", "--seed-topic", "a:5"], "seed topic a has two numbers of partitions: 'a:3' and 'a:5'"),
        (["--seed-topic", "a", "--seed-topic", "a:5"], "seed topic a has two numbers of partitions: 'a' and 'a:5'"),
        (["--log-level", "loud"], "loud"),
        (["--port", "0", "--ready-file", "/no/such/folder/ready"], "--ready-file: there is no folder /no/such/folder"),
        (["--port", "0", "--rules", "no-such-file"], "--rules: no-such-file: No such file or directory"),
        (["--no-such-option"], "--no-such-option"),
        (["surplus"], "surplus"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: list[str], reason: str) -> None:
    ended = run("serve", "-l", "error", *arguments)

    assert ended.exit_code == 2
    assert len(ended.log.splitlines()) == 1
    assert ended.log.startswith("fauxka: ")
    assert reason in ended.log


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("serve", "--port", "0", "--data-dir", "FILE"), "FILE is a file, not a folder"),
        (("serve", "--port", "0", "--data-dir", "FILE/data"), "FILE is a file, not a folder"),
        (("serve", "--port", "0", "--import-logs", "FILE"), "--import-logs: FILE is a file, not a folder"),
        (("serve", "--port", "0", "--import-logs", "FOLDER/none"), "--import-logs: there is no folder FOLDER/none"),
        (("serve", "--port", "0", "--config", "FOLDER"), "FOLDER is a folder, not a file"),
        (("serve", "--port", "0", "--ready-file", "FOLDER"), "--ready-file: FOLDER is a folder, not a file"),
        (("serve", "--port", "0", "--ready-file", "FILE/ready"), "--ready-file: FILE is a file, not a folder"),
        (
            ("serve", "--port", "0", "--admin-port", "0", "--export-dir", "FILE"),
            "--export-dir: FILE is a file, not a folder",
        ),
        (("serve", "--port", "0", "--rules", "FOLDER"), "--rules: FOLDER is a folder, not a file"),
        (("export", "FILE", "--data-dir", "FOLDER"), "FILE is a file, not a folder"),
        (("export", "FILE/new", "--from", "127.0.0.1:1"), "FILE is a file, not a folder"),
        (("export", "FOLDER/new", "--data-dir", "FILE"), "FILE is a file, not a folder"),
        (("export", "FOLDER/new", "--data-dir", "FOLDER/none"), "there is no folder FOLDER/none"),
        (("spark-archive", "FILE/a.zip"), "FILE is a file, not a folder"),
        (("admin", "--ready-file", "FOLDER"), "FOLDER is a folder, not a file"),
    ],
)
def test_path_that_cannot_be_used_is_named(tmp_path: Path, arguments: tuple[str, ...], reason: str) -> None:
    file, folder = tmp_path / "file", tmp_path / "folder"
    file.write_text("")
    folder.mkdir()

    def named(text: str) -> str:
        return text.replace("FILE", str(file)).replace("FOLDER", str(folder))

    ended = run(*map(named, arguments))

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log == f"fauxka: {named(reason)}\n"
    assert list(folder.iterdir()) == []


def test_port_in_use_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    with serving(tmp_path) as broker:
        ended = run("serve", "-l", "error", "--port", str(broker.port))

    assert ended.exit_code == 2
    assert len(ended.log.splitlines()) == 1
    assert "in use" in ended.log


def test_wrong_line_of_a_file_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    properties = tmp_path / "server.properties"
    properties.write_text("num.partitions=\\u00")

    ended = run("serve", "--config", str(properties))

    assert (ended.exit_code, len(ended.log.splitlines())) == (2, 1)
    assert "Malformed" in ended.log


def test_unknown_command_is_one_line_and_exit_code_2() -> None:
    ended = run("sevre")

    assert (ended.exit_code, len(ended.log.splitlines())) == (2, 1)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("veridct",), "unknown command 'veridct'; did you mean verdict?; known are admin, audit, "),
        (("nosuch",), "unknown command 'nosuch'; known are admin, audit, "),
        (("help", "veridct"), "unknown command 'veridct'; did you mean verdict?; known are admin, audit, "),
        (("help", "serve", "now"), "fauxka serve has no commands"),
        (("scenario", "run", "lost-akc"), "unknown scenario 'lost-akc'; did you mean lost-ack?; known are "),
        (("scenario", "run", "gap", "--client", "confluant"), "unknown client 'confluant'; did you mean confluent?; "),
    ],
)
def test_misspelled_name_is_one_line_with_the_probable_meaning(words: tuple[str, ...], reason: str) -> None:
    ended = run(*words)

    assert (ended.exit_code, ended.output, ended.log.count("\n")) == (2, "", 1)
    assert ended.log.startswith(f"fauxka: {reason}")


@pytest.mark.parametrize("command", [(), ("serve",), ("scenario", "run"), ("fault", "add", "lost_ack"), ("audit",)])
def test_help_of_a_command_is_the_one_of_its_option(command: tuple[str, ...]) -> None:
    ended = run("help", *command)

    assert ended == run(*command, "--help")
    assert ended.exit_code == 0


@pytest.mark.parametrize("option", ["-h", "--help"])
@pytest.mark.parametrize(
    "command",
    [
        (),
        ("serve",),
        ("scenario",),
        ("scenario", "run"),
        ("fault",),
        ("fault", "add"),
        ("fault", "add", "lost_ack"),
        ("verdict",),
    ],
    ids=" ".join,
)
def test_help_is_printed(command: tuple[str, ...], option: str) -> None:
    ended = run(*command, option)

    assert ended.exit_code == 0
    assert ended.output.startswith(f"Usage: {' '.join(('fauxka', *command))} ")
    assert "-h, --help" in ended.output


def test_version_is_printed_and_whether_modules_are_compiled() -> None:
    ended = run("--version")

    how = "compiled" if is_compiled() else "plain Python"
    assert (ended.exit_code, ended.output) == (0, f"fauxka, version 0.1.0, {how}\n")


def test_start_without_compiled_modules_logs_it_once(tmp_path: Path) -> None:
    with serving(tmp_path, "--log-level", "info") as broker:
        ended = stop(broker, signal.SIGTERM)

    assert ended.log.count("running as plain Python") == (0 if is_compiled() else 1)


def test_health_of_a_broker_that_answers_is_exit_code_0(tmp_path: Path) -> None:
    with serving(tmp_path) as broker:
        ended = run("health", "--port", str(broker.port))

    assert (ended.exit_code, ended.log) == (0, "")


def test_health_of_a_broker_is_asked_for_at_the_port_of_the_environment(tmp_path: Path) -> None:
    with serving(tmp_path) as broker:
        variables = {"KAFKA_LISTENERS": f"PLAINTEXT://0.0.0.0:{broker.port}"}
        ended = run("health", variables=variables)

    assert (ended.exit_code, ended.log) == (0, "")


def test_health_of_a_broker_is_asked_for_at_the_host_of_the_environment(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "127.0.0.2") as broker:
        variables = {"KAFKA_LISTENERS": f"PLAINTEXT://127.0.0.2:{broker.port}"}
        ended = run("health", variables=variables)

    assert (ended.exit_code, ended.log) == (0, "")


@pytest.mark.parametrize("client_auth", ["none", "required"])
def test_health_of_a_secured_broker_of_the_environment_is_exit_code_0(tmp_path: Path, client_auth: str) -> None:
    variables = {
        "FAUXKA_LISTENER": "SASL_SSL",
        "FAUXKA_USER": "alice:secret bob:hidden",
        "FAUXKA_TLS_DIR": str(tmp_path / "certificates"),
        "KAFKA_SSL_CLIENT_AUTH": client_auth,
    }
    with serving(tmp_path, variables=variables) as broker:
        listener = {"FAUXKA_LISTENER": f"SASL_SSL://{broker.bootstrap}"}
        ended = run("health", variables={**variables, **listener})

    assert (ended.exit_code, ended.log) == (0, "")


def test_health_of_nothing_is_one_line_and_exit_code_1() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        ended = run("health", "--port", str(taken.getsockname()[1]))

    assert ended.exit_code == 1
    assert len(ended.log.splitlines()) == 1
    assert "refused" in ended.log


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "is not from a Kafka broker"),
        (b"\x00\x00\x00\x06\x00\x00\x00\x09\x00\x00", "correlation id 1, got 9"),
        (b"\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x23\x00\x00\x00\x00", "error 35"),
        (b"\x00\x00", "closed after 2 of 4 bytes"),
    ],
)
def test_health_of_something_else_is_one_line_and_exit_code_1(answer: bytes, reason: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        port = server.getsockname()[1]
        command = [*COMMAND, "health", "--port", str(port)]
        asking = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        connection, _ = server.accept()
        with connection:
            connection.recv(1024)
            connection.sendall(answer)
        output, log = asking.communicate(timeout=20)

    assert (asking.returncode, output) == (1, "")
    assert len(log.splitlines()) == 1
    assert reason in log
