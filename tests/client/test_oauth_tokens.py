"""Tokens of OAUTHBEARER: their sources, when another one is fetched, and their limits."""

import json
import socket
import sys
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from fauxka.client.client_security import TokenCommand, TokenEndpoint, TokenFile, UnsecuredToken
from fauxka.client.oauth_tokens import fetch_token
from fauxka.client.token_command import run_token_command
from fauxka.client.token_error import TokenError
from fauxka.client.token_request import request_token
from fauxka.testing import Broker

SECRET = "swordf1sh"
PYTHON = f"the token command {sys.executable}"


def token(seconds: float, name: str = "first") -> str:
    """Return a token that looks like a JWT which expires in so many seconds."""
    parts = ({"alg": "none"}, {"sub": name, "exp": time.time() + seconds})
    return ".".join(urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + ".c2ln"


def python(program: str) -> TokenCommand:
    return TokenCommand((sys.executable, "-c", program))


def test_token_is_kept_until_most_of_its_lifetime_has_passed(tmp_path: Path) -> None:
    file = tmp_path / "token"
    first, second = token(3600, "first"), token(3600, "second")
    file.write_text(f"{first}\n")
    source = TokenFile(str(file))

    assert fetch_token(source) == first
    file.write_text(second)

    assert fetch_token(source) == first


def test_token_is_fetched_again_after_four_fifths_of_its_lifetime(tmp_path: Path) -> None:
    file = tmp_path / "token"
    first, second = token(100, "first"), token(3600, "second")
    file.write_text(first)
    source, now = TokenFile(str(file)), time.time()
    fetch_token(source)
    file.write_text(second)

    assert fetch_token(source, now + 79) == first
    assert fetch_token(source, now + 81) == second


def test_token_without_a_known_lifetime_is_fetched_for_each_login(tmp_path: Path) -> None:
    file = tmp_path / "token"
    source = TokenFile(str(file))

    file.write_text("opaque-1")
    assert fetch_token(source) == "opaque-1"
    file.write_text("opaque-2")
    assert fetch_token(source) == "opaque-2"


def test_token_of_a_command_is_its_standard_output() -> None:
    expected = token(3600)

    assert fetch_token(python(f"print({expected!r})")) == expected


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (
            TokenCommand(("/no/such/program",)),
            "the token command /no/such/program cannot be run: No such file or directory",
        ),
        (
            python(f"print({SECRET!r}); raise SystemExit(3)"),
            f"the token command {sys.executable} ends with exit code 3",
        ),
        (python(""), f"the token command {sys.executable} returns no token"),
        (
            python(f"print('{SECRET} {SECRET}')"),
            f"the token command {sys.executable} returns something that is no token",
        ),
        (python("print('a\\x01b')"), f"the token command {sys.executable} returns something that is no token"),
        (python("print('a' * 600_000)"), f"the token command {sys.executable} returns something that is no token"),
        (python(f"print({token(-10)!r})"), f"the token command {sys.executable} returns an expired token"),
    ],
)
def test_command_without_a_token_is_one_line_without_its_output(command: TokenCommand, reason: str) -> None:
    with pytest.raises(TokenError) as failed:
        fetch_token(command)

    assert str(failed.value).startswith(reason)
    assert SECRET not in str(failed.value)


def test_command_that_takes_too_long_is_ended_with_what_it_has_started() -> None:
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"

    with pytest.raises(TokenError, match=r"takes more than 0\.5 s$"):
        run_token_command(python(program), timeout_seconds=0.5, bytes_max=100)


def test_command_that_writes_without_end_is_ended() -> None:
    output = run_token_command(python("while True: print('a' * 1000)"), timeout_seconds=30, bytes_max=5000)

    assert len(output) == 5001


def test_token_of_an_endpoint_is_accepted_by_the_broker() -> None:
    with Broker(security_protocol="SASL_PLAINTEXT", users={"alice": SECRET}) as broker:
        url = broker.client_config("alice", mechanism="OAUTHBEARER")["sasl.oauthbearer.token.endpoint.url"]

        assert fetch_token(TokenEndpoint(url, "alice", SECRET)).count(".") == 2
        with pytest.raises(TokenError, match=r"^the token endpoint http://\S+ responds with 401$"):
            fetch_token(TokenEndpoint(url, "alice", "wr0ng"))


def test_endpoint_that_cannot_be_reached_is_one_line() -> None:
    with pytest.raises(TokenError, match=r"^the token endpoint http://127\.0\.0\.1:1/ cannot be used: .*refused"):
        fetch_token(TokenEndpoint("http://127.0.0.1:1/", "alice", SECRET))


@contextmanager
def responding(status: int, headers: dict[str, str], body: bytes) -> Generator[tuple[str, list[str | None]]]:
    """A server of one response; yields its URL and the Authorization header of each request."""
    given: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.answer()

        def do_GET(self) -> None:
            self.answer()

        def answer(self) -> None:
            given.append(self.headers["Authorization"])
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/token", given
        server.shutdown()


def test_endpoint_that_redirects_does_not_get_the_credentials_sent_on() -> None:
    with (
        responding(200, {}, b'{"access_token": "t"}') as (other, given),
        responding(302, {"Location": other}, b"") as (url, _),
        pytest.raises(TokenError, match="responds with 302"),
    ):
        request_token(TokenEndpoint(url, "id", "secret", None), timeout_seconds=10, bytes_max=1000)

    assert given == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"access_token": "t", "expires_in": 60}', ("t", 60.0)),
        (b'{"access_token": "t", "expires_in": 1' + b"0" * 400 + b"}", ("t", None)),
    ],
)
def test_lifetime_that_cannot_be_meant_is_unknown(body: bytes, expected: tuple[str, float | None]) -> None:
    with responding(200, {}, body) as (url, _):
        assert request_token(TokenEndpoint(url, "id", "secret", None), timeout_seconds=10, bytes_max=1000) == expected


@pytest.mark.parametrize("head", ["HTTP/1.0 200 OK\r\nX: ", "HTTP/1.0 200 OK\r\n\r\n"])
def test_endpoint_that_sends_byte_by_byte_is_limited_as_a_whole(head: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        Thread(target=send_slowly, args=(server, head.encode()), daemon=True).start()

        with pytest.raises(TokenError, match=r"^the token endpoint http://\S+ takes more than 0\.5 s$"):
            request_token(TokenEndpoint(url, "id", "secret", None), timeout_seconds=0.5, bytes_max=1000)


def send_slowly(server: socket.socket, head: bytes) -> None:
    connection, _ = server.accept()
    with connection, suppress(OSError):
        connection.sendall(head)
        while True:
            connection.sendall(b"a")
            time.sleep(0.05)


def test_response_that_breaks_off_is_one_line() -> None:
    with (
        responding(200, {"Content-Length": "100"}, b'{"access_token": "t"}') as (url, _),
        pytest.raises(TokenError, match="cannot be used: IncompleteRead"),
    ):
        request_token(TokenEndpoint(url, "id", "secret", None), timeout_seconds=10, bytes_max=1000)


def test_token_that_no_header_can_have_is_one_line() -> None:
    with responding(200, {}, b'{"access_token": "\\ud800"}') as (url, _), pytest.raises(TokenError, match="not ASCII"):
        request_token(TokenEndpoint(url, "id", "secret", None), timeout_seconds=10, bytes_max=1000)


def test_unsecured_token_has_the_claims_and_an_hour() -> None:
    header, claims, signature = fetch_token(UnsecuredToken((("sub", "alice"),))).split(".")

    assert signature == ""
    assert decoded(header) == {"alg": "none"}
    assert decoded(claims).keys() == {"sub", "iat", "exp"}
    assert decoded(claims)["sub"] == "alice"


def decoded(part: str) -> dict[str, object]:
    content: dict[str, object] = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return content
