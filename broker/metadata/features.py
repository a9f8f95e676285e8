"""The features of the cluster: supported levels, finalized levels, and their updates (Kafka: FeatureControlManager).

1. Kafka finalizes the levels when its storage is formatted. Here a level has its default until a request updates it;
   the default of transaction.version is configurable (fauxka.transaction.version).
2. An update is checked as a whole. If one feature of it is refused, no level changes.
3. Handlers and coordinators read the level with each request, so that an update takes effect with the next one.
Source: FeatureControlManager.updateFeature, QuorumFeatures and Feature, Kafka 4.3.0; tests/golden/features-4.3.0.jsonl;
tests/golden/releases.jsonl for the features of each release.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from functools import cache
from typing import NamedTuple

from ...protocol.apis.api import Release
from ...protocol.error_codes import ErrorCode, KafkaError
from ..config.config_types import ConfigError

GROUP_VERSION = "group.version"
KRAFT_VERSION = "kraft.version"
METADATA_VERSION = "metadata.version"
SHARE_VERSION = "share.version"
STREAMS_VERSION = "streams.version"
TRANSACTION_VERSION = "transaction.version"
ELR_VERSION = "eligible.leader.replicas.version"


class Feature(NamedTuple):
    """A feature: the levels that the broker supports, and the level of a new cluster (0: none)."""

    name: str
    level_min: int
    level_max: int
    default_level: int


# In the order of Kafka's ApiVersions response.
_NAMES = (
    GROUP_VERSION,
    KRAFT_VERSION,
    METADATA_VERSION,
    SHARE_VERSION,
    STREAMS_VERSION,
    TRANSACTION_VERSION,
    ELR_VERSION,
)


def _metadata_version(level_max: int, level_min: int = 7) -> Feature:
    return Feature(METADATA_VERSION, level_min, level_max, level_max)


# What a release changed. A broker with ZooKeeper has no features.
_CHANGES: tuple[tuple[Release, tuple[Feature, ...]], ...] = (
    ((3, 3), (_metadata_version(7, 1),)),
    ((3, 4), (_metadata_version(8, 1),)),
    ((3, 5), (_metadata_version(11, 1),)),
    ((3, 6), (_metadata_version(14, 1),)),
    ((3, 7), (_metadata_version(19, 1),)),
    ((3, 8), (_metadata_version(20, 1),)),
    ((3, 9), (_metadata_version(21, 1), Feature(KRAFT_VERSION, 0, 1, 0))),
    (
        (4, 0),
        (
            _metadata_version(25),
            Feature(GROUP_VERSION, 0, 1, 1),
            Feature(TRANSACTION_VERSION, 0, 2, 2),
            Feature(ELR_VERSION, 0, 1, 0),
        ),
    ),
    ((4, 1), (_metadata_version(27), Feature(SHARE_VERSION, 0, 1, 0), Feature(ELR_VERSION, 0, 1, 1))),
    ((4, 2), (_metadata_version(29), Feature(SHARE_VERSION, 0, 1, 1), Feature(STREAMS_VERSION, 0, 1, 1))),
    ((4, 3), (_metadata_version(30),)),
    ((4, 4), (_metadata_version(33), Feature(SHARE_VERSION, 0, 2, 2))),
)


@cache
def features_of(release: Release) -> Mapping[str, Feature]:
    """Return the features of a release by name."""
    found = {each.name: each for since, changed in _CHANGES if since <= release for each in changed}
    return {name: found[name] for name in _NAMES if name in found}


# The features of the newest release.
NEWEST_FEATURES = features_of(_CHANGES[-1][0])


class UpgradeType(IntEnum):
    """What an update may do, by its number on the wire (Kafka: FeatureUpdate.UpgradeType)."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


class FeatureUpdate(NamedTuple):
    """A requested level. upgrade_type: the number on the wire, not always an UpgradeType."""

    level: int
    upgrade_type: int


class FinalizedFeatures:
    """The finalized levels of the features: at first those of the release that formatted the cluster, 0 without one.

    supported: the features that all brokers have, by name: those of the oldest release.
    updated: the levels that requests have set; the metadata file stores them.
    """

    __slots__ = ("_formatted", "_transaction_version", "supported", "updated")

    def __init__(self, transaction_version: int, release: Release) -> None:
        """transaction_version: the level of transaction.version until it is updated. release: that of the format."""
        self._transaction_version = transaction_version
        self._formatted = self.supported = features_of(release)
        self.updated: dict[str, int] = {}

    @property
    def uses_zookeeper(self) -> bool:
        """Whether a broker of the release has ZooKeeper, and therefore no features."""
        return not self.supported

    def restore(self, updated: Mapping[str, int]) -> None:
        """Set the updated levels to those of a metadata file. Raises ConfigError for one that the release lacks."""
        for name, level in updated.items():
            supported = self.supported[name].level_max if name in self.supported else 0
            if level > supported:
                raise ConfigError(
                    f"{name} has level {level} in the data folder, and this release supports up to {supported}; "
                    "start a newer one (--as-version)"
                )
        self.updated = dict(updated)

    def level_of(self, name: str) -> int:
        """Return the level of a feature; 0 is none."""
        level = self.updated.get(name)
        if level is not None:
            return level
        feature = self._formatted.get(name)
        if feature is None:
            return 0
        return self._transaction_version if name == TRANSACTION_VERSION else feature.default_level

    def follow_release(self, oldest: Release) -> None:
        """Support the features of the oldest release that a broker follows. The levels stay."""
        self.supported = features_of(oldest)

    def check_broker(self, release: Release) -> None:
        """Raise ConfigError if a broker of the release cannot join (ClusterControlManager.registerBroker)."""
        supported = features_of(release)
        if self.uses_zookeeper != (not supported):
            raise ConfigError(
                "releases with ZooKeeper, those before 3.3, and releases with KRaft do not form one cluster"
            )
        for name in self.supported:
            level, feature = self.level_of(name), supported.get(name)
            if feature is None and level:
                raise ConfigError(f"{name} has level {level}, and the release does not have this feature")
            if feature is not None and level and not feature.level_min <= level <= feature.level_max:
                raise ConfigError(
                    f"Unable to register because the broker does not support finalized version {level} of {name}. "
                    f"The broker wants a version between {feature.level_min} and {feature.level_max}, inclusive."
                )


def check_update(features: FinalizedFeatures, node_id: int, name: str, update: FeatureUpdate) -> None:
    """Raise KafkaError INVALID_UPDATE_VERSION if the feature cannot be at this level. node_id: of the controller."""
    reason = _find_reason(features, node_id, name, update)
    if reason is not None:
        raise _invalid(f"Invalid update version {update.level} for feature {name}. {reason}")
    current = features.level_of(name)
    if name == METADATA_VERSION and update.level < current:
        # Each older metadata version would lose records, and Kafka supports no lossy downgrade.
        is_safe = update.upgrade_type == UpgradeType.SAFE_DOWNGRADE
        refusal = (
            "Refusing to perform the requested downgrade because it might delete metadata information."
            if is_safe
            else "Unsafe metadata downgrade is not supported in this version."
        )
        raise _invalid(f"Unsupported {METADATA_VERSION} downgrade from {current} to {update.level}. {refusal}")


def _find_reason(features: FinalizedFeatures, node_id: int, name: str, update: FeatureUpdate) -> str | None:
    """Return why Kafka calls the level invalid, or None."""
    if update.upgrade_type not in list(UpgradeType):
        return "The controller does not support the given upgrade type."
    if update.level < 0:
        return "A feature version cannot be less than 0."
    feature = features.supported.get(name)
    if feature is None:
        # Level 0 would mean that the feature is not in use.
        return (
            f"Local controller {node_id} does not support this feature."
            if update.level
            else f"Feature {name} not found."
        )
    if not feature.level_min <= update.level <= feature.level_max:
        supported = f"{feature.level_min}-{feature.level_max}"
        return f"Local controller {node_id} only supports versions {supported}"
    return _find_direction_error(name, features.level_of(name), update)


def _find_direction_error(name: str, current: int, update: FeatureUpdate) -> str | None:
    is_upgrade = update.upgrade_type == UpgradeType.UPGRADE
    if update.level < current and is_upgrade:
        return (
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
            "downgrade."
        )
    if update.level > current and not is_upgrade:
        return "Can't downgrade to a newer version."
    if update.level < current and name == KRAFT_VERSION:
        return "Can't downgrade the version of this feature."
    return None


def check_updates(features: FinalizedFeatures, node_id: int, updates: Mapping[str, FeatureUpdate]) -> None:
    """Raise the KafkaError INVALID_UPDATE_VERSION of the first feature, in the order of updates, that is refused."""
    for name, update in updates.items():
        check_update(features, node_id, name, update)


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_UPDATE_VERSION, message)
