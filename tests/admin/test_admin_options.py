"""Address and token of the admin API, from the command line and the environment."""

import json
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fauxka.admin.admin_options import DEFAULT_PORT, AdminOptions, AdminOptionsError, bind, parse_admin_options

from ..serving_process import run, serving, stop
from .admin_client import AdminClient


@contextmanager
def taken_port() -> Generator[int]:
    """A port that is in use."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_address_is_in_the_ready_file_and_on_standard_output(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0") as broker:
        ready = json.loads(broker.ready_file.read_text())
        status = AdminClient(f"http://{ready['admin']}").call("GET", "/readyz").status
        ended = stop(broker, signal.SIGTERM)

    assert status == 200
    assert ended.exit_code == 0
    assert ended.output == f"PLAINTEXT://{broker.bootstrap}\nhttp://{ready['admin']}\n"


def test_broker_without_the_api_prints_no_address(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "off") as broker:
        assert json.loads(broker.ready_file.read_text())["admin"] is None


def test_shutdown_ends_waiting_calls(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0") as broker:
        assert broker.admin is not None
        admin = AdminClient(broker.admin)
        rule = admin.post("/v1/rules", {"point": "received", "action": {"kind": "observe"}})
        host, _, port = admin.address.partition(":")
        with socket.create_connection((host, int(port)), timeout=20) as waiting:
            path = f"/v1/rules/{rule['id']}/await?timeout_ms=600000"
            waiting.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            # The answer to a second call says that the first has been read.
            admin.get("/v1/rules")
            ended = stop(broker, signal.SIGTERM)
            answer = waiting.recv(1 << 16)

    assert ended.exit_code == 0
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert "Traceback" not in ended.log


def test_chosen_port_in_use_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    with taken_port() as port:
        ended = run("serve", "-l", "error", "--port", "0", "--admin-port", str(port))

    assert ended.exit_code == 2
    assert len(ended.log.splitlines()) == 1
    assert "in use" in ended.log
    assert f"127.0.0.1:{port}" in ended.log


def test_no_listener_is_open_if_the_api_cannot_bind(tmp_path: Path) -> None:
    with taken_port() as port:
        ended = run("serve", "--port", "0", "--admin-port", str(port))

    assert ended.output == ""


def test_another_port_is_used_if_the_default_is_in_use() -> None:
    with taken_port() as port:
        address = bind(AdminOptions(port=port))

    assert address.is_other_port
    assert address.port != port
    address.bound.close()


def test_two_simultaneous_starts_have_different_ports() -> None:
    first = bind(AdminOptions(port=0))
    second = bind(AdminOptions(port=first.port))

    assert second.is_other_port
    assert second.port != first.port
    first.bound.close()
    second.bound.close()


def test_default_port_is_used_by_default() -> None:
    options = parse_admin_options("127.0.0.1", None, None)

    assert options == AdminOptions(host="127.0.0.1", port=DEFAULT_PORT, is_port_asked=False)


def test_environment_sets_the_options(tmp_path: Path) -> None:
    variables = {"FAUXKA_ADMIN_PORT": "0", "FAUXKA_ADMIN_TOKEN": "secret"}
    with serving(tmp_path, variables=variables) as broker:
        assert broker.admin is not None
        statuses = [
            AdminClient(broker.admin, token).call("GET", "/v1/rules").status for token in ("secret", "other", None)
        ]

    assert statuses == [200, 401, 401]


def test_only_probes_need_no_token(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0", "--admin-token", "secret") as broker:
        assert broker.admin is not None
        admin = AdminClient(broker.admin)
        statuses = {
            path: admin.call("GET", path).status
            for path in ("/healthz", "/readyz", "/version", "/metrics", "/openapi.json", "/v1/rules")
        }
        refused = admin.call("GET", "/v1/rules")

    assert [path for path, status in statuses.items() if status == 200] == ["/healthz", "/readyz"]
    assert set(statuses.values()) == {200, 401}
    assert refused.headers["www-authenticate"] == "Bearer"
    assert "secret" not in refused.content.decode()


def test_reachable_api_without_a_token_is_one_warning(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0", "--admin-host", "0.0.0.0", "-l", "warn") as broker:
        ended = stop(broker, signal.SIGTERM)

    (line,) = ended.log.splitlines()
    assert "needs no token" in line


def test_token_suppresses_the_warning(tmp_path: Path) -> None:
    options = ("--admin-port", "0", "--admin-host", "0.0.0.0", "--admin-token", "secret", "-l", "warn")
    with serving(tmp_path, *options) as broker:
        ended = stop(broker, signal.SIGTERM)

    assert ended.log == ""


@pytest.mark.parametrize("port", ["-1", "65536", "x", "", "1.5"])
def test_invalid_port_is_an_error(port: str) -> None:
    with pytest.raises(AdminOptionsError, match="--admin-port: expected a port"):
        parse_admin_options("127.0.0.1", port, None)


@pytest.mark.parametrize("token", ["", " secret", "sécret", "a\nb"])
def test_token_that_is_no_header_value_is_an_error(token: str) -> None:
    with pytest.raises(AdminOptionsError, match="--admin-token"):
        parse_admin_options("127.0.0.1", None, token)


def test_api_listens_on_ipv6(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0", "--admin-host", "::1") as broker:
        assert broker.admin is not None
        assert broker.admin.startswith("http://[::1]:")
        assert AdminClient(broker.admin).call("GET", "/healthz").status == 200


@pytest.mark.parametrize("host", ["", " a", "http://a", "a:9099", "a/b", "*", "*.a", "[::1]:9099", "é"])
def test_allowed_host_that_is_no_host_is_an_error(host: str) -> None:
    with pytest.raises(AdminOptionsError, match="--admin-allowed-host: expected a host name or an IP address"):
        parse_admin_options("127.0.0.1", None, None, allowed_hosts=[host])


def test_allowed_hosts_are_read_in_any_case_and_with_brackets() -> None:
    options = parse_admin_options("127.0.0.1", None, None, allowed_hosts=["Kafka.Test", "10.0.0.7", "[FE80::1]", "::2"])

    assert options is not None
    assert options.allowed_hosts == {"kafka.test", "10.0.0.7", "fe80::1", "::2"}


def test_allowed_host_with_a_port_is_one_line_and_exit_code_2() -> None:
    ended = run("serve", "--port", "0", "--admin-port", "0", "--admin-allowed-host", "kafka:9099")

    assert ended.exit_code == 2
    assert ended.log == (
        "fauxka: --admin-allowed-host: expected a host name or an IP address without scheme and port, "
        "got 'kafka:9099'\n"
    )
