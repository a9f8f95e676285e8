"""Clients that use a broker as much as they can: `python -m benchmarks.disturbing_clients KIND PORT [TOPIC]`.

The process prints a line when its clients are connected, and runs until its standard input ends, SECONDS_MAX at most.
"""

from __future__ import annotations

import select
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable

from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.client_requests import request_frame
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic

from .targets import API_VERSIONS_REQUEST

HOST = "127.0.0.1"
SECONDS_MAX = 120.0
SEND_BYTES = 1024 * 1024
READERS = 100
FETCH_VERSION = 12
FETCH_BYTES_MAX = 36 * 1024 * 1024
# A slow reader takes this much of its response every READ_SECONDS.
READ_BYTES = 64 * 1024
READ_SECONDS = 0.02


def pipeline(port: int, topic: str) -> Callable[[], None]:
    """Connect a client that sends ApiVersions without pause and reads all responses."""
    connection = socket.create_connection((HOST, port))
    requests = API_VERSIONS_REQUEST * (SEND_BYTES // len(API_VERSIONS_REQUEST))

    def send() -> None:
        while True:
            connection.sendall(requests)

    def run() -> None:
        threading.Thread(target=send, daemon=True).start()
        while connection.recv(SEND_BYTES):
            pass

    return run


def slow_readers(port: int, topic: str) -> Callable[[], None]:
    """Connect READERS clients that fetch FETCH_BYTES_MAX and read the response in small pieces, again and again."""
    readers = [SlowReader(port, topic) for _ in range(READERS)]

    def run() -> None:
        with selectors.DefaultSelector() as selector:
            for reader in readers:
                selector.register(reader.connection, selectors.EVENT_READ, reader)
                reader.fetch()
            while True:
                for key, _ in selector.select():
                    key.data.read_some()
                time.sleep(READ_SECONDS)

    return run


class SlowReader:
    """A client that fetches, and reads the response in small pieces."""

    def __init__(self, port: int, topic: str) -> None:
        """Connect."""
        self.connection = socket.create_connection((HOST, port))
        partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=FETCH_BYTES_MAX)
        request = FetchRequest(max_bytes=FETCH_BYTES_MAX, topics=[FetchTopic(topic=topic, partitions=[partition])])
        self._frame = request_frame(APIS[ApiKey.FETCH], FETCH_VERSION, 1, request)
        self._unread_bytes = 0

    def fetch(self) -> None:
        """Send the request."""
        self.connection.sendall(self._frame)

    def read_some(self) -> None:
        """Read the size of the response, or a part of it; fetch again after the last one."""
        if not self._unread_bytes:
            self._unread_bytes = int.from_bytes(self.connection.recv(4, socket.MSG_WAITALL))
            return
        self._unread_bytes -= len(self.connection.recv(min(READ_BYTES, self._unread_bytes)))
        if not self._unread_bytes:
            self.fetch()


KINDS: dict[str, Callable[[int, str], Callable[[], None]]] = {"pipeline": pipeline, "slow-readers": slow_readers}


def main(kind: str, port: str, topic: str = "") -> None:
    """Connect, print a line, and run until standard input ends."""
    run = KINDS[kind](int(port), topic)
    print("connected", flush=True)
    threading.Thread(target=run, daemon=True).start()
    select.select([sys.stdin], [], [], SECONDS_MAX)


if __name__ == "__main__":
    main(*sys.argv[1:])
