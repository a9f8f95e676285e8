"""The admin API over HTTPS: its certificate, its URL, and the clients that call it."""

import http.client
import json
import ssl
from pathlib import Path

import pytest
import trustme

from fauxka.admin.client.admin_client import BadCall, Unreachable
from fauxka.testing.remote_broker import RemoteBroker

from ..serving_process import Serving, run, serving, stop
from .admin_client import ANSWER_SECONDS_MAX

pytestmark = pytest.mark.processes

TOKEN = "t0ken"


def https_of(broker: Serving) -> str:
    """Return the URL in the ready file, in which the address of HTTP has no scheme."""
    url = json.loads(broker.ready_file.read_text())["admin"]
    assert url.startswith("https://127.0.0.1:")
    return str(url)


def request(url: str, ca: Path, path: str, headers: dict[str, str]) -> tuple[int, bytes]:
    context = ssl.create_default_context(cafile=ca)
    connection = http.client.HTTPSConnection(url.removeprefix("https://"), timeout=ANSWER_SECONDS_MAX, context=context)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_commands_and_remote_broker_call_it_with_its_authority(tmp_path: Path) -> None:
    options = ("--admin-tls", "auto", "--admin-port", "0", "--admin-token", TOKEN, "--tls-dir", str(tmp_path / "tls"))
    ca = tmp_path / "tls" / "ca.pem"
    with serving(tmp_path, *options) as running:
        url = https_of(running)
        called = run("reset", "--admin", url, "--admin-token", TOKEN, "--admin-ca", str(ca))
        by_file = run("admin", "--ready-file", str(running.ready_file))
        nodes = RemoteBroker(url, TOKEN, ca=ca).nodes()
        with pytest.raises(Unreachable, match="certificate verify failed"):
            RemoteBroker(url, TOKEN).nodes()
        ended = stop(running, 15)

    assert called.exit_code == 0
    assert by_file.output.strip() == url
    assert [node.node for node in nodes] == [1]
    assert url in ended.output.splitlines()
    assert f"certificates: {tmp_path / 'tls'}" in ended.output.splitlines()


def test_listener_and_admin_api_share_the_authority(tmp_path: Path) -> None:
    options = ("--admin-tls", "auto", "--admin-port", "0", "--listener", "SSL", "--port", "0")
    with serving(tmp_path, *options, "--tls-dir", str(tmp_path / "tls")) as running:
        broker = RemoteBroker(https_of(running), ca=tmp_path / "tls" / "ca.pem")

        assert [each.kind for each in broker.certificates.list()] == ["configured"]


def test_certificate_of_a_file_is_presented(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "admin.pem"))

    with serving(tmp_path, "--admin-tls", str(tmp_path / "admin.pem"), "--admin-port", "0") as running:
        assert RemoteBroker(https_of(running), ca=tmp_path / "ca.pem").nodes()
        assert "certificates:" not in stop(running, 15).output


def test_browser_of_the_https_origin_is_served_and_one_of_http_is_not(tmp_path: Path) -> None:
    options = ("--admin-tls", "auto", "--admin-port", "0", "--tls-dir", str(tmp_path / "tls"))
    ca = tmp_path / "tls" / "ca.pem"
    with serving(tmp_path, *options) as running:
        url = https_of(running)
        own, _ = request(url, ca, "/healthz", {"Origin": url})
        other, body = request(url, ca, "/healthz", {"Origin": url.replace("https", "http")})

    assert (own, other) == (200, 403)
    assert json.loads(body)["error"]["allowed"] == url


def test_token_endpoint_names_itself_by_https(tmp_path: Path) -> None:
    options = ("--listener", "SASL_SSL", "--user", "alice:secret", "--admin-tls", "auto", "--admin-port", "0")
    with serving(tmp_path, *options, "--port", "0", "--tls-dir", str(tmp_path / "tls")) as running:
        url = https_of(running)
        _, body = request(url, tmp_path / "tls" / "ca.pem", "/.well-known/openid-configuration", {})

    assert json.loads(body)["issuer"] == url


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("/nowhere/admin.pem", "--admin-tls: cannot read /nowhere/admin.pem: No such file or directory"),
        (__file__, f"--admin-tls: {__file__}: it has no certificate"),
    ],
)
def test_file_without_a_certificate_is_one_line_and_exit_code_2(value: str, reason: str) -> None:
    ended = run("serve", "--port", "0", "--admin-port", "0", "--admin-tls", value)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log == f"fauxka: {reason}\n"


def test_authority_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("")

    with pytest.raises(BadCall, match=r"--admin-ca: .*empty\.pem has no certificate that can be read"):
        RemoteBroker("https://127.0.0.1:1", ca=tmp_path / "empty.pem")
    with pytest.raises(BadCall, match="--admin-ca: cannot read /nowhere: No such file or directory"):
        RemoteBroker("https://127.0.0.1:1", ca="/nowhere")
