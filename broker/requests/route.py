"""The way of the requests of one API version, which the dispatcher keeps for the next one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...protocol.api_keys import APIS, ApiKey

if TYPE_CHECKING:
    from ..runtime.deferred import Buffers, Deferred
    from .request_context import RequestContext

# Handles a request from frame to frame: its context, the frame, position and end of the body. The frame is the
# connection's receive buffer. None: there is no response. Raises FrameError.
HandleFrame = Callable[["RequestContext", memoryview, int, int], "Buffers | Deferred[Buffers] | None"]


class Route:
    """The way of the requests of one API version.

    is_flexible: the request header has tagged fields. is_response_flexible: the response header has some; that of
    ApiVersions never has, because its client does not know yet which versions the broker supports (KIP-511).
    """

    __slots__ = ("api_key", "api_version", "handle", "is_flexible", "is_response_flexible")

    def __init__(self, api_key: int, api_version: int, handle: HandleFrame) -> None:
        """api_key, api_version: as in the request header. The tagged fields of an unknown API are its body."""
        api = APIS.get(ApiKey(api_key)) if api_key in APIS else None
        self.api_key = api_key
        self.api_version = api_version
        self.handle = handle
        self.is_flexible = api is not None and api_version >= api.flexible_since
        self.is_response_flexible = self.is_flexible and api_key != ApiKey.API_VERSIONS
