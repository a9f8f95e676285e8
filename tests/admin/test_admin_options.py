"""Where the admin API listens, and who may call: what the command line and the environment say."""

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
    """A port on which somebody else listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_address_is_told_in_the_ready_file_and_on_standard_output(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0") as broker:
        ready = json.loads(broker.ready_file.read_text())
        status = AdminClient(f"http://{ready['admin']}").call("GET", "/readyz").status
        ended = stop(broker, signal.SIGTERM)

    assert status == 200
    assert ended.exit_code == 0
    assert ended.output == f"PLAINTEXT://{broker.bootstrap}\nhttp://{ready['admin']}\n"


def test_broker_without_the_api_tells_none(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "off") as broker:
        assert json.loads(broker.ready_file.read_text())["admin"] is None


def test_stop_ends_calls_that_wait(tmp_path: Path) -> None:
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


def test_port_that_was_asked_for_and_is_taken_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    with taken_port() as port:
        ended = run("serve", "-l", "error", "--port", "0", "--admin-port", str(port))

    assert ended.exit_code == 2
    assert len(ended.log.splitlines()) == 1
    assert "in use" in ended.log
    assert f"127.0.0.1:{port}" in ended.log


def test_nothing_listens_where_the_api_cannot(tmp_path: Path) -> None:
    with taken_port() as port:
        ended = run("serve", "--port", "0", "--admin-port", str(port))

    assert ended.output == ""


def test_default_port_that_is_taken_gives_way_to_another() -> None:
    with taken_port() as port:
        address = bind(AdminOptions(port=port))

    assert address.is_other_port
    assert address.port != port
    address.bound.close()


def test_of_two_that_start_at_once_each_has_its_port() -> None:
    first = bind(AdminOptions(port=0))
    second = bind(AdminOptions(port=first.port))

    assert second.is_other_port
    assert second.port != first.port
    first.bound.close()
    second.bound.close()


def test_default_port_is_taken_where_nobody_asks_for_another() -> None:
    options = parse_admin_options("127.0.0.1", None, None)

    assert options == AdminOptions(host="127.0.0.1", port=DEFAULT_PORT, is_port_asked=False)


def test_environment_says_what_the_options_do(tmp_path: Path) -> None:
    variables = {"FAUXKA_ADMIN_PORT": "0", "FAUXKA_ADMIN_TOKEN": "secret"}
    with serving(tmp_path, variables=variables) as broker:
        assert broker.admin is not None
        statuses = [
            AdminClient(broker.admin, token).call("GET", "/v1/rules").status for token in ("secret", "other", None)
        ]

    assert statuses == [200, 401, 401]


def test_probes_need_no_token_and_all_else_does(tmp_path: Path) -> None:
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


def test_api_that_others_can_reach_without_a_token_is_one_warning(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0", "--admin-host", "0.0.0.0", "-l", "warn") as broker:
        ended = stop(broker, signal.SIGTERM)

    (line,) = ended.log.splitlines()
    assert "needs no token" in line


def test_token_keeps_the_warning_away(tmp_path: Path) -> None:
    options = ("--admin-port", "0", "--admin-host", "0.0.0.0", "--admin-token", "secret", "-l", "warn")
    with serving(tmp_path, *options) as broker:
        ended = stop(broker, signal.SIGTERM)

    assert ended.log == ""


@pytest.mark.parametrize("port", ["-1", "65536", "x", "", "1.5"])
def test_port_that_is_none_is_an_error(port: str) -> None:
    with pytest.raises(AdminOptionsError, match="--admin-port: expected a port"):
        parse_admin_options("127.0.0.1", port, None)


@pytest.mark.parametrize("token", ["", " secret", "sécret", "a\nb"])
def test_token_that_no_header_can_carry_is_an_error(token: str) -> None:
    with pytest.raises(AdminOptionsError, match="--admin-token"):
        parse_admin_options("127.0.0.1", None, token)


def test_api_listens_on_ipv6(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0", "--admin-host", "::1") as broker:
        assert broker.admin is not None
        assert broker.admin.startswith("http://[::1]:")
        assert AdminClient(broker.admin).call("GET", "/healthz").status == 200
