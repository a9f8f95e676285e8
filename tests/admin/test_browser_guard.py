"""Requests of browsers: under which hosts and for which pages they are served, and that others are served as ever.

The headers are those that browsers and Node send; a rebound name is one that resolves to this machine.
"""

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest
from starlette.datastructures import Headers

from fauxka.admin.browser_guard import is_of_browser

from ..serving_process import Serving, serving
from .admin_client import AdminClient, Answer

RULE = {"point": "applied", "action": {"kind": "close"}}
EVIL = "evil.example:9099"
NODE_FETCH = {"Accept": "*/*", "Accept-Language": "*", "Sec-Fetch-Mode": "cors", "User-Agent": "node"}
NODE_SECONDS_MAX = 60


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A broker that allows two hosts, and listens on every interface."""
    hosts = ("--admin-allowed-host", "Fauxka.Test", "--admin-allowed-host", "[2001:DB8::0:1]")
    options = ("--admin-port", "0", "--admin-host", "0.0.0.0", "--admin-token", "secret", *hosts)
    with serving(tmp_path_factory.mktemp("guarded"), *options) as started:
        yield started


def page_call(admin: AdminClient, host: str, headers: dict[str, str]) -> Answer:
    """Call the API as a browser at that host does."""
    return admin.call("GET", "/v1/rules", None, {"Host": host, **headers})


# Hosts.


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LOCALHOST:9099", "fauxka.localhost:9099", "a.b.localhost:1"),
        *("127.0.0.1:9099", "127.255.3.4:9099", "[::1]:9099", "[0:0::1]:9099"),
    ],
)
def test_page_under_a_loopback_name_is_served(admin: AdminClient, host: str) -> None:
    assert page_call(admin, host, {"Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}).status == 200


@pytest.mark.parametrize(
    "host",
    [
        *(EVIL, "localhost.evil.example:9099", "evillocalhost:9099", "127.0.0.1.evil.example:9099", "localhost.:9099"),
        *("192.0.2.1:9099", "0.0.0.0:9099", "[::]:9099", "[2001:db8::2]:9099", "127.1:9099", "[::1", "::1", "", "a b"),
        *("localhost@evil.example", "localhost/x", "localhost:9099,evil.example"),
    ],
)
def test_page_under_another_host_is_403_and_the_error_names_the_option(admin: AdminClient, host: str) -> None:
    answer = page_call(admin, host, {"Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"})

    assert (answer.status, answer.error["field"], answer.error["value"]) == (403, "Host", host)
    assert "--admin-allowed-host" in answer.error["message"]
    assert "--admin-allowed-host" in answer.error["allowed"]
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": f"http://{EVIL}"},
        {"Referer": f"http://{EVIL}/page"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"},
        {"Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Dest": "image"},
        # What is left of a GET to a name without TLS, by a page with the policy no-referrer.
        {"Accept-Language": "en-US,en;q=0.5"},
        # A page may choose the language, but none of Sec-Fetch-*.
        {"Accept-Language": "*"},
        {"Accept-Language": ""},
        {**NODE_FETCH, "Sec-Fetch-Site": "same-origin"},
        {**NODE_FETCH, "Accept-Language": "en"},
        {**NODE_FETCH, "Origin": f"http://{EVIL}"},
    ],
    ids=repr,
)
def test_page_under_a_rebound_name_is_403(admin: AdminClient, headers: dict[str, str]) -> None:
    answer = page_call(admin, EVIL, headers)

    assert (answer.status, answer.error["field"]) == (403, "Host")


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/v1/nothing", "/"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PATCH", "OPTIONS"])
def test_every_path_and_method_is_guarded(admin: AdminClient, method: str, path: str) -> None:
    assert admin.call(method, path, None, {"Host": EVIL, "Origin": f"http://{EVIL}"}).status == 403


def test_allowed_host_is_served_with_any_port(guarded: Serving) -> None:
    assert guarded.admin is not None
    admin = AdminClient(guarded.admin, "secret")

    for host in ("fauxka.test", "FAUXKA.test:8080", "[2001:db8::1]:9099"):
        assert page_call(admin, host, {"Origin": f"http://{host}"}).status == 200


def test_allowed_host_does_not_allow_its_subdomains(guarded: Serving) -> None:
    assert guarded.admin is not None

    assert page_call(AdminClient(guarded.admin), "a.fauxka.test", {"Sec-Fetch-Site": "none"}).status == 403


def test_host_is_checked_before_the_token(guarded: Serving) -> None:
    assert guarded.admin is not None

    assert page_call(AdminClient(guarded.admin), EVIL, {"Sec-Fetch-Site": "none"}).status == 403


def test_allowed_hosts_come_from_the_environment_separated_by_spaces(tmp_path: Path) -> None:
    variables = {"FAUXKA_ADMIN_PORT": "0", "FAUXKA_ADMIN_ALLOWED_HOST": "one.test two.test"}
    with serving(tmp_path, variables=variables) as broker:
        assert broker.admin is not None
        admin = AdminClient(broker.admin)
        statuses = [
            page_call(admin, host, {"Sec-Fetch-Site": "none"}).status for host in ("one.test", "two.test", "three.test")
        ]

    assert statuses == [200, 200, 403]


def own_address() -> str | None:
    """An address of this machine other than loopback; no packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return str(probe.getsockname()[0])


def test_address_that_the_browser_reached_is_served(guarded: Serving) -> None:
    address = own_address()
    if address is None:
        pytest.skip("this machine has only loopback addresses")
    assert guarded.admin is not None
    port = guarded.admin.rpartition(":")[2]
    host = f"{address}:{port}"
    there = AdminClient(f"http://{host}", "secret")
    by_loopback = AdminClient(f"http://127.0.0.1:{port}", "secret")

    assert page_call(there, host, {"Origin": f"http://{host}"}).status == 200
    assert page_call(by_loopback, host, {"Origin": f"http://{host}"}).status == 403


def test_address_reached_through_a_socket_for_both_protocols_is_served(tmp_path: Path) -> None:
    address = own_address()
    if address is None or not socket.has_ipv6:
        pytest.skip("this machine has no IPv6, or only loopback addresses")
    with serving(tmp_path, "--admin-port", "0", "--admin-host", "::") as broker:
        assert broker.admin is not None
        host = f"{address}:{broker.admin.rpartition(':')[2]}"
        status = page_call(AdminClient(f"http://{host}"), host, {"Origin": f"http://{host}"}).status

    assert status == 200


# Origins.


@pytest.mark.parametrize(
    "origin",
    [
        *("http://evil.example", "http://localhost", "http://localhost:9100", "https://localhost:9099"),
        *(
            "http://127.0.0.1:9099",
            "null",
            "",
            "localhost:9099",
            "http://localhost:9099/",
            "http://localhost:9099@evil",
        ),
        *("chrome-extension://abc", "file://"),
    ],
)
def test_page_of_another_origin_is_403(admin: AdminClient, origin: str) -> None:
    answer = admin.call("POST", "/v1/rules", RULE, {"Host": "localhost:9099", "Origin": origin})

    assert (answer.status, answer.error["field"], answer.error["value"]) == (403, "Origin", origin)
    assert answer.error["allowed"] == "http://localhost:9099"
    assert "--admin-allowed-host" in answer.error["message"]
    assert admin.get("/v1/rules")["items"] == []


def test_default_port_of_an_origin_is_80(admin: AdminClient) -> None:
    assert page_call(admin, "localhost:80", {"Origin": "http://localhost"}).status == 200
    assert page_call(admin, "localhost", {"Origin": "http://localhost:80"}).status == 200


def test_referer_counts_if_there_is_no_origin(admin: AdminClient) -> None:
    own, other = "http://localhost:9099/?a=http://b", "http://evil.example/http://localhost:9099/"

    assert page_call(admin, "localhost:9099", {"Referer": own}).status == 200
    assert page_call(admin, "localhost:9099", {"Referer": "http://localhost:9099"}).status == 200
    assert page_call(admin, "localhost:9099", {"Referer": other}).error["field"] == "Referer"
    assert page_call(admin, "localhost:9099", {"Referer": "http://localhost:9099@evil.example/"}).status == 403


def test_origin_counts_before_the_referer(admin: AdminClient) -> None:
    own, other = "http://localhost:9099", "http://evil.example/"

    assert page_call(admin, "localhost:9099", {"Origin": own, "Referer": other}).status == 200
    assert page_call(admin, "localhost:9099", {"Origin": other, "Referer": own}).status == 403


@pytest.mark.parametrize(("site", "status"), [("same-origin", 200), ("none", 200), ("same-site", 403), ("x", 403)])
def test_fetch_metadata_decides_about_requests_without_origin(admin: AdminClient, site: str, status: int) -> None:
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}

    assert page_call(admin, "localhost:9099", headers).status == status


def test_image_of_another_page_is_403(admin: AdminClient) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}

    answer = page_call(admin, "localhost:9099", headers)

    assert (answer.status, answer.error["field"], answer.error["value"]) == (403, "Sec-Fetch-Site", "cross-site")
    assert answer.error["allowed"] == "none, same-origin"


def test_typed_address_is_served(admin: AdminClient) -> None:
    headers = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}

    assert page_call(admin, "localhost:9099", {**headers, "Accept-Language": "en"}).status == 200


def test_preflight_of_another_origin_is_403_without_cors_headers(admin: AdminClient) -> None:
    asked = {"Access-Control-Request-Method": "DELETE", "Access-Control-Request-Private-Network": "true"}

    answer = admin.call("OPTIONS", "/v1/rules", None, {"Origin": "http://evil.example", **asked})

    assert answer.status == 403
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_page_of_the_api_itself_may_call(admin: AdminClient) -> None:
    headers = {"Origin": f"http://{admin.address}", "Referer": f"http://{admin.address}/", "Accept-Language": "en"}

    answer = admin.call("POST", "/v1/rules", RULE, {**headers, "Sec-Fetch-Site": "same-origin"})

    assert answer.status == 201


# Everything else.


@pytest.mark.parametrize("host", ["fauxka:9099", "evil.example", "host.docker.internal:1", "192.0.2.1", "a b", ""])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"User-Agent": "curl/8.5.0", "Accept": "*/*"},
        {"User-Agent": "Java/17", "Accept": "text/html, image/gif, */*; q=0.2"},
        {"User-Agent": "python-requests/2.32", "Accept-Encoding": "gzip, deflate"},
        NODE_FETCH,
    ],
    ids=lambda headers: str(headers.get("User-Agent")),
)
def test_request_of_no_browser_is_served_under_any_host(admin: AdminClient, host: str, headers: dict[str, str]) -> None:
    assert page_call(admin, host, headers).status == 200


@pytest.mark.processes
def test_fetch_of_node_is_taken_for_no_browser() -> None:
    node = which("node")
    if node is None:
        pytest.skip("needs node")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(NODE_SECONDS_MAX)
        program = f"fetch('http://127.0.0.1:{server.getsockname()[1]}/').catch(() => 0)"
        with subprocess.Popen([node, "-e", program]):
            connection, _ = server.accept()
            with connection:
                lines = connection.recv(1 << 16).decode().splitlines()[1:]
    headers = Headers(dict(line.split(": ", 1) for line in lines if line))

    assert headers["sec-fetch-mode"] == "cors"
    assert not is_of_browser(headers)
