"""Headers of drawn requests on one connection: each request gets the response that it gets on a new connection."""

from __future__ import annotations

from struct import pack

from hypothesis import given
from hypothesis import strategies as st

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.dispatch.dispatch import Dispatcher
from fauxka.broker.network.listeners import Listener
from fauxka.broker.requests.connection_info import ConnectionInfo
from fauxka.broker.requests.request_context import RequestContext
from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.frames import FrameError

from ..manual_clock import manual_clock

LISTENER = Listener("PLAINTEXT", "127.0.0.1", 9092, "127.0.0.1", 9092)
CLIENT_IDS = st.sampled_from(["a", "a", "a", "a\0", "", None, "x" * 600])
# Requests of flexible and plain versions whose bodies may begin with the bytes of the other's tagged fields.
REQUESTS = (
    (ApiKey.API_VERSIONS, 0, b""),
    (ApiKey.API_VERSIONS, 3, b"\2a\2b\0"),
    (ApiKey.API_VERSIONS, 99, b""),
    (ApiKey.METADATA, 1, pack(">i", 0)),
    (ApiKey.METADATA, 9, b"\1\0\0\0\0"),
    (ApiKey.LIST_GROUPS, 2, b""),
    (ApiKey.LIST_GROUPS, 3, b"\0"),
    (ApiKey.FIND_COORDINATOR, 2, pack(">h", 1) + b"g\1"),
)
# No tagged fields, and one that is not known.
TAGS = st.sampled_from([b"\0", b"\0", b"\1\5\1x"])
HEADERS = st.tuples(st.sampled_from(REQUESTS), CLIENT_IDS, TAGS)


def frame_of(request: tuple[ApiKey, int, bytes], client_id: str | None, tags: bytes) -> bytes:
    key, version, body = request
    size = -1 if client_id is None else len(client_id)
    header = pack(">hhih", key, version, 7, size) + (client_id or "").encode()
    return header + (tags if version >= APIS[key].versions.flexible_since else b"") + body


def response_to(dispatcher: Dispatcher, context: RequestContext, frame: bytes) -> tuple[object, str | None]:
    """Return the bytes of the response or the message of the error, and the client id of the context."""
    # The frame lies between other bytes, as in a receive buffer.
    buffer = memoryview(b"\1\2" + frame + b"\0" * 700)
    try:
        response = dispatcher.handle(context, buffer, 2, 2 + len(frame))
    except FrameError as error:
        return str(error), context.client_id
    assert isinstance(response, list)
    return b"".join(response), context.client_id


@given(st.lists(HEADERS, min_size=2, max_size=8))
def test_a_header_is_read_as_on_a_new_connection(
    headers: list[tuple[tuple[ApiKey, int, bytes], str | None, bytes]],
) -> None:
    cluster = Cluster(BrokerConfig.from_entries({}), clock=manual_clock())
    dispatcher = Dispatcher()
    for request in REQUESTS:
        # The first request of an API version loads its handler, and its header is not compared with the last one.
        response_to(dispatcher, RequestContext(cluster.node, ConnectionInfo(1, LISTENER)), frame_of(request, "", b"\0"))
    used = RequestContext(cluster.node, ConnectionInfo(1, LISTENER))

    for header in headers:
        frame = frame_of(*header)
        new = RequestContext(cluster.node, ConnectionInfo(2, LISTENER))

        assert response_to(dispatcher, used, frame) == response_to(dispatcher, new, frame)
