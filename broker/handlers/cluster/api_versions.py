"""ApiVersions (18), versions 0-4.

For an unsupported version the response is in version 0, with UNSUPPORTED_VERSION and the versions of this API, so that
a newer client can retry (KIP-511).
v1 throttle_time_ms; v3 flexible, client software, features; v4 features with minimum level 0.
Source: ApiVersionsResponse.maybeFilterSupportedFeatureKeys and createFinalizedFeatureKeys, Kafka 4.3.0;
tests/golden/api_versions-4.3.0.json.
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
from ....protocol.shortened_text import shortened
from ...metadata.features import FEATURES
from ...requests.request_context import RequestContext
from .. import HANDLERS

CLIENT_SOFTWARE_SINCE = 3
LEVEL_ZERO_SINCE = 4
# Source: ApiVersionsRequest.SOFTWARE_NAME_VERSION_PATTERN, Kafka 4.3.0.
CLIENT_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def versions_of(api_keys: Iterable[ApiKey]) -> list[ApiVersion]:
    """Return the advertised versions of the APIs."""
    apis = (APIS[key] for key in sorted(api_keys))
    return [
        ApiVersion(api_key=api.key, min_version=api.versions.first_advertised, max_version=api.versions.last)
        for api in apis
    ]


def decode_at_once(frame: memoryview, position: int, end: int, version: int) -> ApiVersionsRequest | None:
    """Decode a request of any version and length; that of an unsupported version is empty. Raises FrameError."""
    return decode(frame, position, end, version)


def decode(frame: memoryview, position: int, end: int, version: int) -> ApiVersionsRequest:
    """Decode a request of any version; that of an unsupported version is empty. Raises FrameError."""
    if not 0 <= version <= APIS[ApiKey.API_VERSIONS].versions.last:
        return ApiVersionsRequest()
    return ApiVersionsRequest.read(Reader.of_request(frame, position, end), version)


def handle(context: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
    """Store the client's software name for the connection. Return the served APIs and the features."""
    if not 0 <= context.api_version <= APIS[ApiKey.API_VERSIONS].versions.last:
        context.api_version = 0
        return ApiVersionsResponse(
            error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=versions_of([ApiKey.API_VERSIONS])
        )
    if context.api_version >= CLIENT_SOFTWARE_SINCE:
        names = (request.client_software_name, request.client_software_version)
        if not all(CLIENT_SOFTWARE.fullmatch(name) for name in names):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        context.connection.client_software = shortened(" ".join(names))
    sasl = context.connection.sasl
    if sasl is not None:
        sasl.take_versions()
    image = context.node.image
    levels = {name: image.features.level_of(name) for name in FEATURES}
    return ApiVersionsResponse(
        api_keys=versions_of(HANDLERS),
        supported_features=[
            SupportedFeatureKey(name=each.name, min_version=each.level_min, max_version=each.level_max)
            for each in FEATURES.values()
            if each.level_min or context.api_version >= LEVEL_ZERO_SINCE
        ],
        # Clients take over levels only in a later epoch. As in Kafka, it is the offset of the metadata.
        finalized_features_epoch=image.offset,
        finalized_features=[
            FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
            for name, level in levels.items()
            if level
        ],
    )
