"""A proxy in front of an S3 server that throttles, fails, cuts responses short, hangs or is down."""

from __future__ import annotations

import contextlib
import http.client
import random
import socket
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

LOOPBACK = "127.0.0.1"
# A response of Amazon's, which is longer than a range of some bytes.
SLOW_DOWN = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>SlowDown</Code><Message>Please reduce your request rate.'
    b"</Message><RequestId>0123456789ABCDEF</RequestId><HostId>" + b"h" * 76 + b"</HostId></Error>"
)
# What a fault does with a request: nothing, or one of these.
THROTTLE, SHORT, HANG = "throttle", "short", "hang"
# Chooses a fault by the kind of a request, such as GET; None for no fault.
Fault = Callable[[str], str | None]


class StorageProxy:
    """A running proxy. fault: for each request. counts: of the faults so far, by what they did and to which kind."""

    def __init__(self, server: str) -> None:
        """server: HOST:PORT of the S3 server."""
        self.server = server
        self.fault: Fault = lambda kind: None
        self.counts: Counter[tuple[str, str]] = Counter()
        self.released = threading.Event()
        self._http = _Server((LOOPBACK, 0), type("Handler", (_Handler,), {"proxy": self}))
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()

    @property
    def endpoint(self) -> str:
        """HOST:PORT for clients."""
        return f"{LOOPBACK}:{self._http.server_port}"

    def throttle(self, share: float, seed: int = 0) -> None:
        """Throttle a share of all requests from now on."""
        draw = random.Random(seed)
        self.fault = lambda kind: THROTTLE if draw.random() < share else None

    def once(self, kind: str, what: str) -> None:
        """Do something to the next request of a kind."""
        pending = [what]
        self.fault = lambda asked: pending.pop() if asked == kind and pending else None

    def hang(self) -> None:
        """Answer no request from now on."""
        self.fault = lambda kind: HANG

    def close(self) -> None:
        """Stop listening. Requests that hang end."""
        self.released.set()
        self._http.shutdown()
        self._http.server_close()
        self._http.close_connections()


class Response(NamedTuple):
    """A response. length: of the header, which can be more than the content."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    content: bytes
    length: int


# As socketserver types it for TCP and UDP.
Request = socket.socket | tuple[bytes, socket.socket]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self._open: set[socket.socket] = set()

    def process_request(self, request: Request, client_address: Any) -> None:
        assert isinstance(request, socket.socket), "of TCP"
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Request) -> None:
        assert isinstance(request, socket.socket), "of TCP"
        self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """End the connections of clients that keep them."""
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def storage_proxy(server: str) -> Generator[StorageProxy]:
    """Run a proxy in front of HOST:PORT within the block."""
    proxy = StorageProxy(server)
    try:
        yield proxy
    finally:
        proxy.close()


class _Handler(BaseHTTPRequestHandler):
    """Forwards each request of a connection, or does what the fault says."""

    protocol_version = "HTTP/1.1"
    proxy: StorageProxy

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        body = self._body()
        kind = "LIST" if "list-type" in self.path else self.command
        what = self.proxy.fault(kind)
        if what is None:
            self._send(self._forwarded(body))
            return
        self.proxy.counts[what, kind] += 1
        if what == THROTTLE:
            self._send(Response(503, "Slow Down", [("Content-Type", "application/xml")], SLOW_DOWN, len(SLOW_DOWN)))
        elif what == SHORT:
            response = self._forwarded(body)
            self._send(response._replace(content=response.content[: len(response.content) // 2]))
            self.close_connection = True
        else:
            self.proxy.released.wait()
            self.close_connection = True

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _forwarded(self, body: bytes) -> Response:
        """Return the response of the server."""
        connection = http.client.HTTPConnection(self.proxy.server)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        # With the host of the client, which is part of its signature.
        for name, value in self.headers.items():
            if name.lower() not in ("expect", "transfer-encoding", "content-length"):
                connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        kept = ("transfer-encoding", "connection", "content-length")
        headers = [(name, value) for name, value in response.getheaders() if name.lower() not in kept]
        # A HEAD has the length of what a GET would return.
        length = int(response.getheader("Content-Length", 0)) if self.command == "HEAD" else len(content)
        return Response(response.status, response.reason, headers, content, length)

    def _send(self, response: Response) -> None:
        self.send_response_only(response.status, response.reason)
        for name, value in response.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(response.length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.content)
