"""ApiVersions (18), versions 0-4.

For an unsupported version the response is in version 0, with UNSUPPORTED_VERSION and the versions of this API, so that
a newer client can retry (KIP-511).
v1 throttle_time_ms; v3 flexible, client software, features; v4 features with minimum level 0.
Source: Feature, ApiVersionsResponse.maybeFilterSupportedFeatureKeys and createFinalizedFeatureKeys, Kafka 4.3.0;
tests/golden/api_versions-4.3.0.json.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

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
from ...requests.request_context import RequestContext, encode_response
from ...runtime.deferred import Buffers, Deferred
from .. import HANDLERS

CLIENT_SOFTWARE_SINCE = 3
LEVEL_ZERO_SINCE = 4
# Kafka's epoch is an offset of its metadata log. Feature levels never change here.
FEATURES_EPOCH = 0
# Source: ApiVersionsRequest.SOFTWARE_NAME_VERSION_PATTERN, Kafka 4.3.0.
CLIENT_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


class Feature(NamedTuple):
    """A feature: the levels that the broker supports, and its finalized level (0: none)."""

    name: str
    level_min: int
    level_max: int
    level: int


def features_of(served: Collection[ApiKey], transaction_version: int) -> list[Feature]:
    """Return the features of a broker that serves these APIs.

    Kafka sets the levels when its storage is formatted. transaction_version: the configured level.
    """
    return [
        Feature("group.version", 0, 1, int(ApiKey.CONSUMER_GROUP_HEARTBEAT in served)),
        Feature("kraft.version", 0, 1, 0),
        Feature("metadata.version", 7, 30, 30),
        Feature("share.version", 0, 1, int(ApiKey.SHARE_GROUP_HEARTBEAT in served)),
        # At level 0 the broker refuses requests of streams groups.
        Feature("streams.version", 0, 1, 0),
        Feature("transaction.version", 0, 2, transaction_version),
        Feature("eligible.leader.replicas.version", 0, 1, 1),
    ]


def versions_of(api_keys: Iterable[ApiKey]) -> list[ApiVersion]:
    """Return the advertised versions of the APIs."""
    apis = (APIS[key] for key in sorted(api_keys))
    return [ApiVersion(api_key=api.key, min_version=api.first_advertised, max_version=api.last_version) for api in apis]


class ApiVersionsHandler:
    """Handles ApiVersions requests of any version."""

    def handle(
        self, context: RequestContext, frame: memoryview, position: int, end: int
    ) -> Buffers | Deferred[Buffers] | None:
        """Respond in the version of the request, or in version 0 if it is not supported."""
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
    """Store the client's software name for the connection. Return the served APIs and the features."""
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
