"""Requests whose length is ambiguous: one response, and the connection ends; nothing behind them is served."""

import socket

import pytest

from fauxka.admin.request_framing import find_framing_problem

from ..serving_process import START_SECONDS_MAX, Serving
from .admin_client import AdminClient

SMUGGLED = b"POST /v1/topics HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n" + b'{"name": "smuggled"}'
CHUNKED = b"0\r\n\r\n"
REFUSED = {
    "Content-Length and Transfer-Encoding": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED,
    "Transfer-Encoding and Content-Length": b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n" + CHUNKED,
    "two Content-Lengths": b"Content-Length: 0\r\nContent-Length: 5\r\n\r\n",
    "two equal Content-Lengths": b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
    "a list of Content-Lengths": b"Content-Length: 0, 0\r\n\r\n",
    "a Content-Length with a sign": b"Content-Length: +0\r\n\r\n",
    "a negative Content-Length": b"Content-Length: -1\r\n\r\n",
    "a hexadecimal Content-Length": b"Content-Length: 0x0\r\n\r\n",
    "an empty Content-Length": b"Content-Length:\r\n\r\n",
    "a Content-Length with an underscore": b"Content-Length: 0_0\r\n\r\n",
    "a Content-Length on two lines": b"Content-Length:\r\n 0\r\n\r\n",
    "a header on two lines": b"X: a\r\n Content-Length: 5\r\n\r\n",
    "a header on two lines by a tab": b"X: a\r\n\tTransfer-Encoding: chunked\r\n\r\n",
    "two Transfer-Encodings": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED,
    "chunked twice": b"Transfer-Encoding: chunked, chunked\r\n\r\n" + CHUNKED,
    "another coding": b"Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNKED,
    "identity": b"Transfer-Encoding: identity\r\n\r\n",
    "capital letters": b"Transfer-Encoding: Chunked\r\n\r\n" + CHUNKED,
    "a tab": b"Transfer-Encoding:\tchunked\r\n\r\n" + CHUNKED,
    "a vertical tab": b"Transfer-Encoding: \x0bchunked\r\n\r\n" + CHUNKED,
    "a quoted coding": b'Transfer-Encoding: "chunked"\r\n\r\n' + CHUNKED,
    "a blank before the colon": b"Transfer-Encoding : chunked\r\n\r\n" + CHUNKED,
    "a blank before the colon of Content-Length": b"Content-Length : 5\r\n\r\n",
    "a bare LF": b"X: a\nContent-Length: 5\r\n\r\n",
    "bare LFs only": b"X: a\n\n",
    "a bare CR": b"X: a\rContent-Length: 5\r\n\r\n",
    "a NUL": b"X: \0\r\n\r\n",
    "a chunk size with a sign": b"Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n",
    "a chunk size with 0x": b"Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n",
    "a chunk that ends with LF": b"Transfer-Encoding: chunked\r\n\r\n0\n\n",
    "a chunk that is longer than its size": b"Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
}
ACCEPTED = {
    "no body": b"\r\n",
    "Content-Length": b"content-length: 0\r\n\r\n",
    "Transfer-Encoding": b"TRANSFER-ENCODING:chunked\r\n\r\n" + CHUNKED,
}


def answers_to(broker: Serving, data: bytes) -> bytes:
    """Return all bytes that the admin API sends until it closes the connection."""
    assert broker.admin is not None
    host, _, port = broker.admin.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), START_SECONDS_MAX) as connection:
        connection.sendall(data)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("trick", REFUSED)
def test_ambiguous_request_is_answered_and_ends_the_connection(broker: Serving, admin: AdminClient, trick: str) -> None:
    head = b"DELETE /v1/rules HTTP/1.1\r\nHost: x\r\n"

    answers = answers_to(broker, head + REFUSED[trick] + SMUGGLED)

    assert answers.count(b"HTTP/1.1 ") == 1
    assert answers.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 501 "))
    assert "smuggled" not in [topic["name"] for topic in admin.get("/v1/topics")["items"]]


@pytest.mark.parametrize("trick", REFUSED)
def test_ambiguous_request_behind_another_one_is_the_last(broker: Serving, admin: AdminClient, trick: str) -> None:
    first = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n"

    answers = answers_to(broker, first + REFUSED[trick] + SMUGGLED)

    assert answers.count(b"HTTP/1.1 ") <= 2
    assert answers.startswith(b"HTTP/1.1 200 ")
    assert "smuggled" not in [topic["name"] for topic in admin.get("/v1/topics")["items"]]


def test_http_1_0_has_no_transfer_encoding(broker: Serving) -> None:
    request = b"GET /healthz HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED

    assert answers_to(broker, request + SMUGGLED).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("framing", ACCEPTED)
def test_plain_requests_follow_each_other_on_one_connection(broker: Serving, framing: str) -> None:
    request = b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + ACCEPTED[framing]
    last = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

    assert answers_to(broker, request + request + last).count(b"HTTP/1.1 200 ") == 3


def test_problem_names_the_header_and_what_is_allowed() -> None:
    problem = find_framing_problem(b"GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n")

    assert problem == "transfer-encoding: got 'gzip'; allowed: decimal digits, or chunked"
