"""The features of the cluster: what Kafka's brokers can do by level, and the level that is in force.

In Kafka the levels are records of the metadata log, given when storage is formatted; here they follow from what is
served, and that of transactions from the configuration.
Source: Feature, ApiVersionsResponse.maybeFilterSupportedFeatureKeys and createFinalizedFeatureKeys, Kafka 4.3.0; the
levels are those of tests/golden/api_versions-4.3.0.json.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ...protocol.api_keys import ApiKey

# How often the levels were changed; Kafka tells the offset of its metadata log, and any number that never shrinks does.
FEATURES_EPOCH = 0


class Feature(NamedTuple):
    """A feature: the levels that a broker knows, and the one in force, 0 for none."""

    name: str
    level_min: int
    level_max: int
    level: int


def features_of(served: Collection[ApiKey], transaction_version: int) -> list[Feature]:
    """Return all features of a broker that serves these APIs."""
    return [
        Feature("group.version", 0, 1, int(ApiKey.CONSUMER_GROUP_HEARTBEAT in served)),
        Feature("kraft.version", 0, 1, 0),
        Feature("metadata.version", 7, 30, 30),
        Feature("share.version", 0, 1, int(ApiKey.SHARE_GROUP_HEARTBEAT in served)),
        # Its requests are refused, as by a broker that was given this level.
        Feature("streams.version", 0, 1, 0),
        Feature("transaction.version", 0, 2, transaction_version),
        Feature("eligible.leader.replicas.version", 0, 1, 1),
    ]
