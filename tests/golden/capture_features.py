"""UpdateFeatures, every version, and the features in ApiVersions after it:
python -m tests.golden.capture_features HOST:PORT.

Needs a fresh broker with default configuration.
"""

from fauxka.protocol.messages import (
    alter_share_group_offsets,
    consumer_group_describe,
    consumer_group_heartbeat,
    delete_share_group_offsets,
    describe_share_group_offsets,
    share_acknowledge,
    share_fetch,
    share_group_describe,
    share_group_heartbeat,
)
from fauxka.protocol.messages.api_versions import ApiVersionsRequest
from fauxka.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from fauxka.protocol.messages.describe_quorum import DescribeQuorumRequest, RequestPartitionData, RequestTopicData
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fauxka.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest

from .capture_recorder import Recorder, main

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
LEVELS = {
    "group.version": 1,
    "kraft.version": 0,
    "metadata.version": 30,
    "share.version": 1,
    "streams.version": 1,
    "transaction.version": 2,
    "eligible.leader.replicas.version": 1,
}
# The features that can be downgraded.
REVERSIBLE = (
    "group.version",
    "share.version",
    "streams.version",
    "transaction.version",
    "eligible.leader.replicas.version",
)
MIN_INSYNC_REPLICAS = "min.insync.replicas"
BROKER_RESOURCE = 4
SET, DELETE = 0, 1


def capture(recorder: Recorder) -> None:
    """Record every case."""
    _finalized(recorder, "at first")
    _same_levels(recorder)
    _wrong_levels(recorder)
    _unknown_features(recorder)
    _upgrade_types(recorder)
    _several(recorder)
    _requests(recorder)
    _validated(recorder)
    _finalized(recorder, "after validation only")
    _changed(recorder)
    _version_zero(recorder)
    _metadata_version(recorder)
    _group_apis(recorder)
    _eligible_leader_replicas(recorder)
    _kraft_version(recorder)


def updating(
    *updates: tuple[str, int] | tuple[str, int, int],
    validate_only: bool = False,
    timeout_ms: int = 30_000,
    allow_downgrade: bool = False,
) -> UpdateFeaturesRequest:
    """Return an UpdateFeatures request; an update is (feature, level) or (feature, level, upgrade type)."""
    keys = [
        FeatureUpdateKey(
            feature=update[0],
            max_version_level=update[1],
            upgrade_type=update[2] if len(update) > 2 else UPGRADE,
            allow_downgrade=allow_downgrade,
        )
        for update in updates
    ]
    return UpdateFeaturesRequest(feature_updates=keys, validate_only=validate_only, timeout_ms=timeout_ms)


def _finalized(recorder: Recorder, case: str) -> None:
    recorder.settle()
    request = ApiVersionsRequest(client_software_name="capture", client_software_version="1")
    recorder.case(f"features {case}", 4, request)


def _same_levels(recorder: Recorder) -> None:
    for version in range(3):
        for feature, level in LEVELS.items():
            recorder.case(f"{feature} as it is", version, updating((feature, level)))
    for feature, level in LEVELS.items():
        for upgrade_type in (SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
            case = f"{feature} as it is, type {upgrade_type}"
            recorder.case(case, 2, updating((feature, level, upgrade_type)))


def wrong_levels(feature: str) -> list[int]:
    """Return levels that Kafka does not have."""
    above = LEVELS[feature] + (2 if feature == "kraft.version" else 1)
    return [above, 100, -1, 32767, -32768]


def _wrong_levels(recorder: Recorder) -> None:
    for version in (1, 2):
        for feature in LEVELS:
            for wrong in wrong_levels(feature):
                recorder.case(f"{feature} to {wrong}", version, updating((feature, wrong)))
    for feature in LEVELS:
        for wrong in wrong_levels(feature)[:3]:
            case = f"{feature} to {wrong}, type {SAFE_DOWNGRADE}"
            recorder.case(case, 2, updating((feature, wrong, SAFE_DOWNGRADE)))


def _unknown_features(recorder: Recorder) -> None:
    for feature in ("not.there", "", "a feature", "Group.Version"):
        for level in (0, 1, -1):
            for version in (0, 1, 2):
                recorder.case(f"{feature!r} to {level}", version, updating((feature, level)))
        recorder.case(f"{feature!r} to 0, type 2", 2, updating((feature, 0, SAFE_DOWNGRADE)))
        recorder.case(f"{feature!r} to 0, type 3", 2, updating((feature, 0, UNSAFE_DOWNGRADE)))


def _upgrade_types(recorder: Recorder) -> None:
    for upgrade_type in (0, 4, -1, 127):
        for version in (1, 2):
            recorder.case(f"type {upgrade_type}", version, updating(("share.version", 1, upgrade_type)))
        for feature, level in (("not.there", 1), ("share.version", -1), ("share.version", 9), ("share.version", 0)):
            recorder.case(f"{feature} to {level}, type {upgrade_type}", 2, updating((feature, level, upgrade_type)))
    for feature in LEVELS:
        recorder.case(f"{feature} to 0, as an upgrade", 2, updating((feature, 0)))
        recorder.case(f"{feature} to 0, as an upgrade", 0, updating((feature, 0)))


def _several(recorder: Recorder) -> None:
    group, share, unknown = ("group.version", 1), ("share.version", 1), ("not.there", 1)
    cases = {
        "two right ones": updating(group, share),
        "a right and an unknown one": updating(group, unknown),
        "an unknown and a right one": updating(unknown, group),
        "two wrong ones": updating(unknown, ("share.version", 9)),
        "two wrong ones, the other way round": updating(("share.version", 9), unknown),
        "the same feature twice": updating(group, group),
        "the same feature twice, at two levels": updating(group, ("group.version", 0, SAFE_DOWNGRADE)),
        "a right one, and the same twice": updating(share, group, group),
        "many wrong ones": updating(*((f"feature.{number}", 1) for number in range(8, 21))),
        "twelve wrong ones": updating(*((f"f{number}", 1) for number in (5, 3, 11, 1, 12, 9, 2, 10, 7, 4, 8, 6))),
        "two that depend on nothing, and one wrong": updating(share, ("transaction.version", 5), group),
    }
    for version in (1, 2):
        for case, request in cases.items():
            recorder.case(case, version, request)


def _requests(recorder: Recorder) -> None:
    for version in range(3):
        recorder.case("no updates", version, updating())
        recorder.case("timeout 0", version, updating(("share.version", 1), timeout_ms=0))
        recorder.case("timeout -1", version, updating(("not.there", 1), timeout_ms=-1))
        recorder.case("timeout 0, no updates", version, updating(timeout_ms=0))
        recorder.case("timeout 0, twice", version, updating(("a", 1), ("a", 1), timeout_ms=0))


def _validated(recorder: Recorder) -> None:
    for version in (1, 2):
        for feature in LEVELS:
            for upgrade_type in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
                request = updating((feature, 0, upgrade_type), validate_only=True)
                recorder.case(f"validated: {feature} to 0, type {upgrade_type}", version, request)
        recorder.case("validated: kraft.version 1", version, updating(("kraft.version", 1), validate_only=True))
        for level in (-1, 0, 1, 6, 7, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31):
            for upgrade_type in (SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
                request = updating(("metadata.version", level, upgrade_type), validate_only=True)
                recorder.case(f"validated: metadata.version {level}, type {upgrade_type}", version, request)
        for level in (1, 0):
            request = updating(("transaction.version", level, SAFE_DOWNGRADE), validate_only=True)
            recorder.case(f"validated: transaction.version {level}", version, request)
    both = updating(("metadata.version", 7, 3), ("transaction.version", 0, 3), validate_only=True)
    recorder.case("validated: metadata.version and transaction.version", 2, both)
    every = [(feature, 0, UNSAFE_DOWNGRADE) for feature in REVERSIBLE]
    for level in (7, 19, 22, 25, 29):
        request = updating(*every, ("metadata.version", level, 3), validate_only=True)
        recorder.case(f"validated: all to 0, metadata.version {level}", 2, request)


def _changed(recorder: Recorder) -> None:
    for feature in REVERSIBLE:
        level = LEVELS[feature]
        for upgrade_type in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
            recorder.case(f"{feature} down, type {upgrade_type}", 1, updating((feature, level - 1, upgrade_type)))
            _finalized(recorder, f"after {feature} down, type {upgrade_type}")
            recorder.case(f"{feature} up again", 1, updating((feature, level)))
            _finalized(recorder, f"after {feature} up again")
    recorder.case("transaction.version to 0", 2, updating(("transaction.version", 0, SAFE_DOWNGRADE)))
    _finalized(recorder, "after transaction.version to 0")
    recorder.case("transaction.version from 0 to 0, upgrade", 2, updating(("transaction.version", 0)))
    recorder.case("transaction.version from 0 to 0", 2, updating(("transaction.version", 0, SAFE_DOWNGRADE)))
    recorder.case("transaction.version up with a downgrade type", 2, updating(("transaction.version", 1, 2)))
    recorder.case("transaction.version from 0 to 2", 2, updating(("transaction.version", 2)))
    _finalized(recorder, "after transaction.version from 0 to 2")
    two = updating(("group.version", 0, SAFE_DOWNGRADE), ("share.version", 0, SAFE_DOWNGRADE))
    recorder.case("two at once, down", 2, two)
    _finalized(recorder, "after two at once, down")
    recorder.case("one up and one wrong", 2, updating(("group.version", 1), ("share.version", 5)))
    _finalized(recorder, "after one up and one wrong")
    recorder.case("two at once, up", 2, updating(("group.version", 1), ("share.version", 1)))
    _finalized(recorder, "after two at once, up")


def _version_zero(recorder: Recorder) -> None:
    for feature in REVERSIBLE:
        lower = LEVELS[feature] - 1
        recorder.case(f"{feature} down", 0, updating((feature, lower)))
        recorder.case(f"{feature} down, allowed", 0, updating((feature, lower), allow_downgrade=True))
        recorder.case(f"{feature} up, allowed", 0, updating((feature, lower + 1), allow_downgrade=True))
        recorder.case(f"{feature} up", 0, updating((feature, lower + 1)))
    _finalized(recorder, "after version 0")


def _metadata_version(recorder: Recorder) -> None:
    for level, upgrade_type in ((29, 2), (30, 1), (29, 3), (30, 3), (30, 1), (7, 2), (7, 3), (25, 1), (30, 1)):
        request = updating(("metadata.version", level, upgrade_type))
        recorder.case(f"metadata.version to {level}, type {upgrade_type}", 2, request)
        _finalized(recorder, f"after metadata.version to {level}, type {upgrade_type}")


def _group_apis(recorder: Recorder) -> None:
    recorder.create_topic("a-topic", 1)
    recorder.case("group.version and share.version to 0", 2, updating(("group.version", 0, 2), ("share.version", 0, 2)))
    recorder.settle()
    heartbeat = consumer_group_heartbeat.ConsumerGroupHeartbeatRequest(
        group_id="a-group",
        member_id="a-member",
        member_epoch=0,
        topic_partitions=[],
        subscribed_topic_names=["a-topic"],
    )
    described = consumer_group_describe.ConsumerGroupDescribeRequest(group_ids=["a-group", "b-group"])
    share_heartbeat = share_group_heartbeat.ShareGroupHeartbeatRequest(
        group_id="a-group", member_id="a-member", member_epoch=0, subscribed_topic_names=["a-topic"]
    )
    recorder.case("group.version 0: heartbeat", 1, heartbeat)
    recorder.case("group.version 0: description", 1, described)
    recorder.case("share.version 0: heartbeat", 1, share_heartbeat)
    described_share = share_group_describe.ShareGroupDescribeRequest(group_ids=["a-group", "b-group"])
    recorder.case("share.version 0: description", 1, described_share)
    recorder.case("share.version 0: fetch", 1, share_fetch.ShareFetchRequest(group_id="a-group", member_id="a-member"))
    acknowledged = share_acknowledge.ShareAcknowledgeRequest(group_id="a-group", member_id="a-member")
    recorder.case("share.version 0: acknowledgement", 1, acknowledged)
    group = describe_share_group_offsets.DescribeShareGroupOffsetsRequestGroup(group_id="a-group", topics=None)
    offsets = describe_share_group_offsets.DescribeShareGroupOffsetsRequest(groups=[group])
    recorder.case("share.version 0: offsets", 1, offsets)
    altered = alter_share_group_offsets.AlterShareGroupOffsetsRequest(group_id="a-group", topics=[])
    recorder.case("share.version 0: altered offsets", 0, altered)
    deleted = delete_share_group_offsets.DeleteShareGroupOffsetsRequest(group_id="a-group", topics=[])
    recorder.case("share.version 0: deleted offsets", 0, deleted)
    recorder.case("group.version and share.version to 1", 2, updating(("group.version", 1), ("share.version", 1)))
    recorder.settle()


def _min_insync_replicas(recorder: Recorder, name: str, value: str | None, case: str) -> None:
    config = AlterableConfig(name=MIN_INSYNC_REPLICAS, config_operation=DELETE if value is None else SET, value=value)
    resource = AlterConfigsResource(resource_type=BROKER_RESOURCE, resource_name=name, configs=[config])
    request = IncrementalAlterConfigsRequest(resources=[resource])
    recorder.case(f"{case}: {MIN_INSYNC_REPLICAS} of {name!r} to {value}", 1, request)
    _described(recorder, case)


def _described(recorder: Recorder, case: str) -> None:
    recorder.settle()
    resources = [
        DescribeConfigsResource(
            resource_type=BROKER_RESOURCE, resource_name=name, configuration_keys=[MIN_INSYNC_REPLICAS]
        )
        for name in ("", "1")
    ]
    request = DescribeConfigsRequest(resources=resources, include_synonyms=True)
    recorder.case(f"{case}: {MIN_INSYNC_REPLICAS} described", 4, request)


def _eligible_leader_replicas(recorder: Recorder) -> None:
    feature = "eligible.leader.replicas.version"
    for cluster_value, broker_value in ((None, None), ("2", "3"), (None, "4"), ("5", None)):
        recorder.case(f"{feature} to 0", 2, updating((feature, 0, SAFE_DOWNGRADE)))
        recorder.settle()
        _min_insync_replicas(recorder, "", cluster_value, "ELR 0")
        _min_insync_replicas(recorder, "1", broker_value, "ELR 0")
        recorder.case(f"{feature} to 1, validated", 2, updating((feature, 1), validate_only=True))
        _described(recorder, "ELR 1 validated")
        recorder.case(f"{feature} to 1", 2, updating((feature, 1)))
        _described(recorder, "ELR 1")
        _min_insync_replicas(recorder, "", None, "ELR 1")
        _min_insync_replicas(recorder, "1", "6", "ELR 1")


def _kraft_version(recorder: Recorder) -> None:
    partition = RequestPartitionData(partition_index=0)
    quorum = DescribeQuorumRequest(topics=[RequestTopicData(topic_name="__cluster_metadata", partitions=[partition])])
    feature = "kraft.version"
    for upgrade_type in (SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        recorder.case(f"{feature} 1, type {upgrade_type}", 2, updating((feature, 1, upgrade_type)))
    recorder.case(f"{feature} 1, validated", 2, updating((feature, 1), validate_only=True))
    _finalized(recorder, f"after {feature} 1, validated")
    recorder.case(f"{feature} 1 and a wrong one", 2, updating((feature, 1), ("share.version", 9)))
    _finalized(recorder, f"after {feature} 1 and a wrong one")
    recorder.case(f"{feature} 1", 2, updating((feature, 1)))
    _finalized(recorder, f"after {feature} 1")
    for version in range(3):
        recorder.case(f"the quorum after {feature} 1", version, quorum)
    for level, upgrade_type in ((1, 1), (1, 2), (0, 1), (0, 2), (0, 3), (2, 1)):
        recorder.case(f"{feature} from 1 to {level}, type {upgrade_type}", 2, updating((feature, level, upgrade_type)))
    _finalized(recorder, f"after {feature} from 1")


if __name__ == "__main__":
    main(capture)
