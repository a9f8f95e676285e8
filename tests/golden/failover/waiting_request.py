"""A request that waits at a broker while the script goes on."""

import threading
import time
from collections.abc import Callable
from typing import Protocol

from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.messages.fetch import FetchRequest
from fauxka.protocol.messages.produce import ProduceRequest

from ...wire.message_client import MessageClient
from ..capture_normal_form import Json
from .cluster_control import ClusterControl

# A response that waits for no timer of the broker arrives within this time on any machine.
AT_ONCE_SECONDS = 0.3
POLL_SECONDS = 0.2


class Writer(Protocol):
    """What a waiting request needs of the recorder."""

    def answer(self, asked: Callable[[], object]) -> Json:
        """Return the response in the form of the captures."""
        ...

    def write(self, case: str, request: RequestMessage, version: int, answer: Json, remarks: dict[str, Json]) -> None:
        """Write one line."""
        ...


class Waiting:
    """A request that was sent and whose response is recorded later; a thread takes the response when it comes."""

    def __init__(
        self, recorder: Writer, control: ClusterControl, connection: MessageClient, case: str, request: RequestMessage
    ) -> None:
        self._recorder = recorder
        self._control = control
        self._connection = connection
        self._case = case
        self._request = request
        self._version = 0
        self._answered: list[tuple[Json, float]] = []
        # fauxka ends the wait of a Fetch by the machine's clock, which cannot be advanced, and all others by its own.
        self._is_timed_by_nodes = not isinstance(request, FetchRequest)
        self._elapsed_seconds = control.elapsed_seconds if self._is_timed_by_nodes else time.monotonic
        self._started = self._elapsed_seconds()
        self._thread = threading.Thread(target=self._receive, daemon=True)

    def send(self, version: int) -> None:
        """Send the request."""
        self._version = version
        self._connection.send(self._request, version)
        self._thread.start()

    def finish(self, *, bound_ms: int | None = None) -> None:
        """Record the response, and whether it came before or after bound_ms from the request on.

        bound_ms: None for the time that the request itself asks the broker to wait.
        """
        self._thread.join(AT_ONCE_SECONDS if self._is_timed_by_nodes else None)
        while self._thread.is_alive():
            self._control.pass_seconds(POLL_SECONDS)
        ((answer, elapsed_ms),) = self._answered
        bound = _own_wait_ms(self._request) if bound_ms is None else bound_ms
        # A timer may fire a tick early; Kafka's own has a tick of one millisecond.
        when = f"at least {bound} ms" if elapsed_ms >= bound - 5 else f"less than {bound} ms"
        self._recorder.write(self._case, self._request, self._version, answer, {"time": when})

    def _receive(self) -> None:
        answer = self._recorder.answer(self._connection.receive)
        self._answered.append((answer, (self._elapsed_seconds() - self._started) * 1000))
        self._connection.close()


def _own_wait_ms(request: RequestMessage) -> int:
    assert isinstance(request, FetchRequest | ProduceRequest), request
    return request.max_wait_ms if isinstance(request, FetchRequest) else request.timeout_ms
