"""ApiVersions (18), versions 0-5.

For an unsupported version the response is in version 0, with UNSUPPORTED_VERSION and, in releases with version 3, the
versions of this API, so that a newer client can retry (KIP-511).
v1 throttle_time_ms; v3 flexible, client software, features; v4 features with minimum level 0; v5 the cluster and the
node that the client expects (KIP-1242).
Source: ApiVersionsResponse.maybeFilterSupportedFeatureKeys and createFinalizedFeatureKeys, Kafka 4.3.0;
tests/golden/releases.jsonl.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ....protocol.api_keys import APIS, BETWEEN_BROKERS, ApiKey
from ....protocol.apis.api import Release, Versions
from ....protocol.error_codes import ErrorCode
from ....protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from ....protocol.shortened_text import shortened
from ...metadata.features import features_of
from ...requests.request_context import RequestContext
from .. import HANDLERS

CLIENT_SOFTWARE_SINCE = 3
LEVEL_ZERO_SINCE = 4
NO_NODE_ID = -1
# Source: ApiVersionsRequest.SOFTWARE_NAME_VERSION_PATTERN, Kafka 4.3.0.
CLIENT_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


# Of all releases, in the order of the response.
_ADVERTISED = dict(sorted((BETWEEN_BROKERS | {key: APIS[key].versions for key in HANDLERS}).items()))
_THIS_API = {ApiKey.API_VERSIONS: APIS[ApiKey.API_VERSIONS].versions}


def versions_of(apis: Mapping[ApiKey, Versions], release: Release) -> list[ApiVersion]:
    """Return the advertised versions of the APIs that the release has."""
    advertised = [(key, versions.advertised_in(release)) for key, versions in apis.items()]
    return [ApiVersion(api_key=key, min_version=each[0], max_version=each[-1]) for key, each in advertised if each]


def handle(context: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
    """Store the client's software name for the connection. Return the served APIs and the features."""
    image, release = context.node.image, context.release
    served = _THIS_API[ApiKey.API_VERSIONS].in_release(release)
    if context.api_version not in served:
        named = _THIS_API if CLIENT_SOFTWARE_SINCE in served else {}
        return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=versions_of(named, release))
    if context.api_version >= CLIENT_SOFTWARE_SINCE:
        names = (request.client_software_name, request.client_software_version)
        if not all(CLIENT_SOFTWARE.fullmatch(name) for name in names):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        context.connection.client_software = shortened(" ".join(names))
    if not _is_valid(request):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    if _is_misrouted(context, request):
        return ApiVersionsResponse(error_code=ErrorCode.REBOOTSTRAP_REQUIRED)
    sasl = context.connection.sasl
    if sasl is not None:
        sasl.take_versions()
    features, supported = image.features, features_of(release)
    levels = {name: features.level_of(name) for name in supported}
    return ApiVersionsResponse(
        api_keys=versions_of(_ADVERTISED, release),
        supported_features=[
            SupportedFeatureKey(name=each.name, min_version=each.level_min, max_version=each.level_max)
            for each in supported.values()
            if each.level_min or context.api_version >= LEVEL_ZERO_SINCE
        ],
        # Clients take over levels only in a later epoch. As in Kafka, it is the offset of the metadata.
        finalized_features_epoch=_epoch_without_features(release) if features.uses_zookeeper else image.offset,
        finalized_features=[
            FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
            for name, level in levels.items()
            if level
        ],
    )


def _epoch_without_features(release: Release) -> int:
    """Return the epoch of a broker with ZooKeeper: 0 if the release has finalized features (KIP-584), -1 for none."""
    return 0 if APIS[ApiKey.UPDATE_FEATURES].versions.in_release(release) else -1


def _is_valid(request: ApiVersionsRequest) -> bool:
    """Whether the request names both the cluster and the node that it is for, or neither (v5)."""
    return (request.cluster_id is None) == (request.node_id == NO_NODE_ID)


def _is_misrouted(context: RequestContext, request: ApiVersionsRequest) -> bool:
    """Whether the client expects another cluster or node. Kafka looks only after the authentication."""
    sasl = context.connection.sasl
    if request.cluster_id is None or not (sasl is None or sasl.is_authenticated):
        return False
    return (request.cluster_id, request.node_id) != (context.node.image.cluster_id, context.node.node_id)
