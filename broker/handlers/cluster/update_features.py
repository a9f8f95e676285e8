"""UpdateFeatures (57), versions 0-2.

A feature that is named twice gets its last level. The timeout and allow_downgrade (version 0) have no effect, as in
Kafka: a downgrade needs the upgrade type of version 1.
v1 upgrade type instead of allow_downgrade, validate_only; v2 no result for each feature.
Source: QuorumController.updateFeatures and FeatureControlManager.updateFeatures, Kafka 4.3.0;
tests/golden/features-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from ...coordinators.java_hash_tables import java_hash_order
from ...metadata.features import FeatureUpdate
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each, step

LAST_VERSION_WITH_RESULTS = 1
NO_ERROR = "NONE"
# Up to here the first invalid feature is that of Kafka's hash table, beyond it that of the request: the hash of a name
# takes a step for each character, and there are seven features with names of at most 32 characters.
HASHED_CHARACTERS_MAX = 10_000


async def handle(context: RequestContext, request: UpdateFeaturesRequest) -> UpdateFeaturesResponse:
    """Change the levels of all features of the request, or of none."""
    controller = context.node.controller
    updates = await updates_of(request)
    results: list[UpdatableFeatureResult] = []
    if context.api_version <= LAST_VERSION_WITH_RESULTS:
        results = await for_each(_success, request.feature_updates)
    try:
        controller.update_features(updates, validate_only=request.validate_only)
    except KafkaError as error:
        message = f"The update failed for all features since the following feature had an error: {error.message}"
        return UpdateFeaturesResponse(error_code=error.code, error_message=message)
    storage_error = await controller.saved()
    if storage_error is not None:
        return UpdateFeaturesResponse(error_code=storage_error.code, error_message=storage_error.message)
    return UpdateFeaturesResponse(error_message=None, results=results)


def _success(update: FeatureUpdateKey) -> UpdatableFeatureResult:
    return UpdatableFeatureResult(feature=update.feature, error_code=ErrorCode.NONE, error_message=NO_ERROR)


async def updates_of(request: UpdateFeaturesRequest) -> dict[str, FeatureUpdate]:
    """Return the requested levels by feature, in the order in which Kafka checks them."""
    updates: dict[str, FeatureUpdate] = {}
    characters = 0
    for update in request.feature_updates:
        updates[update.feature] = FeatureUpdate(update.max_version_level, update.upgrade_type)
        characters += len(update.feature)
        await step()
    if characters > HASHED_CHARACTERS_MAX:
        return updates
    return {name: updates[name] for name in java_hash_order(updates)}
