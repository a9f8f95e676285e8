"""One connection that sends any request, valid or not, and reads the response, without a codec of fauxka."""

from collections.abc import Mapping

from ..wire.wire_connection import SECONDS_MAX, ConnectionClosedError, WireConnection
from . import raw_apis, raw_apis_transactions
from .raw_primitives import RawReader, RawWriter
from .raw_schema import Api, Decoder, Encoder, Struct, Value


class RawConnection(WireConnection):
    """A connection; requests are built apart from sending, so that tests may cut and change them."""

    def __init__(self, address: str, *, client_id: str = "golden", seconds_max: float = SECONDS_MAX) -> None:
        super().__init__(address, seconds_max=seconds_max)
        self.client_id = client_id
        self.correlation_id = 0

    def header(self, api_key: int, version: int, *, is_flexible: bool) -> RawWriter:
        """A writer that holds the request header with the next correlation id."""
        self.correlation_id += 1
        writer = RawWriter()
        writer.int16(api_key)
        writer.int16(version)
        writer.int32(self.correlation_id)
        writer.int16(len(self.client_id))
        writer.raw(self.client_id.encode())
        if is_flexible:
            writer.unsigned_varint(0)
        return writer

    def request(self, api: Api, version: int, body: Mapping[str, Value]) -> bytes:
        """A request without its four size bytes."""
        is_flexible = version >= api.flexible_since
        encoder = Encoder(version, is_flexible=is_flexible)
        encoder.struct(api.request, body)
        return self.header(api.key, version, is_flexible=is_flexible).getvalue() + encoder.writer.getvalue()

    def parse(self, api: Api, version: int, response: bytes) -> Struct:
        is_flexible = version >= api.flexible_since
        reader = RawReader(response)
        reader.int32()
        # ApiVersions keeps the old response header for ever: the client does not yet know what the broker speaks.
        if is_flexible and api.key != raw_apis.API_VERSIONS.key:
            reader.unsigned_varint()
        return Decoder(reader, version, is_flexible=is_flexible).struct(api.response)

    def call(self, api: Api, version: int, body: Mapping[str, Value]) -> Struct:
        self.send_frame(self.request(api, version, body))
        return self.parse(api, version, self.receive_frame())

    def is_alive(self) -> bool:
        """Whether the broker still answers here; also waits until it has worked on all that was sent before."""
        try:
            self.call(raw_apis.API_VERSIONS, 3, {})
        except ConnectionClosedError:
            return False
        return True


def find_coordinator(connection: RawConnection, key: str, *, key_type: int) -> Struct:
    """The coordinator of a group (0) or transactional id (1); asking makes a real broker create its internal topic."""
    api = raw_apis_transactions.FIND_COORDINATOR
    answer = connection.call(api, 4, {"key_type": key_type, "coordinator_keys": [key]})
    return answer.structs("coordinators")[0]
