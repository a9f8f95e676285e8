"""ApiVersions (18), versions 0-4.

A version that is not served is answered in version 0 with UNSUPPORTED_VERSION and the versions of this API, so that a
newer client can find out what it may ask (KIP-511).
v1 throttle_time_ms; v3 flexible, client software, features; v4 features whose first level is 0, which older clients
cannot read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ....protocol.api_keys import APIS, ApiKey
from ....protocol.error_codes import ErrorCode
from ....protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from ....protocol.primitives import Reader
from ...metadata.features import FEATURES_EPOCH, features_of
from ...requests.request_context import RequestContext, encode_response
from ...runtime.deferred import Buffers, Deferred
from .. import HANDLERS

CLIENT_SOFTWARE_SINCE = 3
LEVEL_ZERO_SINCE = 4
# Source: ApiVersionsRequest.SOFTWARE_NAME_VERSION_PATTERN, Kafka 4.3.0.
CLIENT_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def versions_of(api_keys: Iterable[ApiKey]) -> list[ApiVersion]:
    """Return what is advertised for the APIs."""
    apis = (APIS[key] for key in sorted(api_keys))
    return [ApiVersion(api_key=api.key, min_version=api.first_advertised, max_version=api.last_version) for api in apis]


class ApiVersionsHandler:
    """Answers what this broker serves."""

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Answer in the version asked for, or in version 0 where it is not served."""
        context.is_flexible = False
        if not 0 <= context.api_version <= APIS[ApiKey.API_VERSIONS].last_version:
            context.api_version = 0
            error = ErrorCode.UNSUPPORTED_VERSION
            return encode_response(
                context, ApiVersionsResponse(error_code=error, api_keys=versions_of([ApiKey.API_VERSIONS]))
            )
        request = ApiVersionsRequest.read(Reader(frame, position, end), context.api_version)
        return encode_response(context, handle(context, request))


def handle(context: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
    """Remember what the client is, and tell it what is served."""
    if context.api_version >= CLIENT_SOFTWARE_SINCE:
        names = (request.client_software_name, request.client_software_version)
        if not all(CLIENT_SOFTWARE.fullmatch(name) for name in names):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        context.connection.client_software = " ".join(names)
    features = features_of(HANDLERS, context.node.config.transaction_version)
    return ApiVersionsResponse(
        api_keys=versions_of(HANDLERS),
        supported_features=[
            SupportedFeatureKey(name=each.name, min_version=each.level_min, max_version=each.level_max)
            for each in features
            if each.level_min or context.api_version >= LEVEL_ZERO_SINCE
        ],
        finalized_features_epoch=FEATURES_EPOCH,
        finalized_features=[
            FinalizedFeatureKey(name=each.name, min_version_level=each.level, max_version_level=each.level)
            for each in features
            if each.level
        ],
    )


HANDLER = ApiVersionsHandler()
