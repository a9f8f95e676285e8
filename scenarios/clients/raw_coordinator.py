"""The connection of the raw client to its coordinator, which moves between the nodes of a cluster.

A request is sent again to the coordinator of that moment if the connection is lost, or if the node is no coordinator
of the key, or not yet.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ...broker.coordinators.internal_topics import CoordinatorType
from ...protocol.api_keys import ApiKey
from ...protocol.client_requests import RequestMessage
from ...protocol.error_codes import ErrorCode
from ...protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ...protocol.primitives import Reader
from .client import SETTLE_SECONDS_MAX, ClientStuck
from .raw_connection import ConnectionLost, NoResponse, RawConnection

FIND_COORDINATOR_VERSION = 3
BACKOFF_SECONDS = 0.02

_MOVED = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
)

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class CoordinatorApi(Generic[Answer]):
    """An API of coordinators. error_code_of: the error code of a response that decides whether to repeat it."""

    api_key: ApiKey
    version: int
    read: Callable[[Reader, int], Answer]
    error_code_of: Callable[[Answer], int]


class RawCoordinator:
    """The coordinator of one transactional id or group."""

    def __init__(self, bootstrap_servers: str, client_id: str, key_type: CoordinatorType, key: str) -> None:
        """Connect with the first request."""
        self._addresses = bootstrap_servers.split(",")
        self._client_id = client_id
        self._key_type = key_type
        self._key = key
        self._connection: RawConnection | None = None

    def ask(self, api: CoordinatorApi[Answer], request: RequestMessage) -> Answer:
        """Send a request until a coordinator has decided on it, and return its response. Raises ClientStuck."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while True:
            try:
                answer = self._connected().send_and_receive(api.api_key, api.version, request, api.read)
                code = ErrorCode(api.error_code_of(answer))
                # The coordinator first ends the last transaction of the key, which may be that of another process.
                if code not in _MOVED and code is not ErrorCode.CONCURRENT_TRANSACTIONS:
                    return answer
                reason = code.name
            except (ConnectionLost, NoResponse) as error:
                code, reason = ErrorCode.NOT_COORDINATOR, str(error)
            if time.monotonic() > deadline:
                raise ClientStuck(f"{api.api_key.name} of {self._key}: {reason}")
            if code in _MOVED:
                self.close()
            time.sleep(BACKOFF_SECONDS)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> RawConnection:
        """Return a connection to the coordinator. Raises ConnectionLost and NoResponse."""
        if self._connection is None:
            self._connection = RawConnection(self._find(), self._client_id)
        return self._connection

    def _find(self) -> str:
        """Return the address of the coordinator; the request creates its topic."""
        for address in self._addresses:
            try:
                connection = RawConnection(address, self._client_id)
            except ConnectionLost:
                continue
            try:
                request = FindCoordinatorRequest(key=self._key, key_type=self._key_type)
                answer = connection.send_and_receive(
                    ApiKey.FIND_COORDINATOR, FIND_COORDINATOR_VERSION, request, FindCoordinatorResponse.read
                )
            finally:
                connection.close()
            if answer.error_code == ErrorCode.NONE:
                return f"{answer.host}:{answer.port}"
        raise ConnectionLost("no node names a coordinator")
