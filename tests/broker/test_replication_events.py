"""What replicas, controller and waiting writes do when two things happen at once; in memory, without sockets."""

from __future__ import annotations

from fauxka.broker.isolation import Isolation
from fauxka.broker.metadata.features import GROUP_VERSION, FeatureUpdate, UpgradeType
from fauxka.broker.metadata.metadata_image import NO_LEADER
from fauxka.storage.file_systems.memory_file_system import MemoryFileSystem

from ..model.replicated_cluster import TOPIC, ReplicatedCluster, configs_of
from ..protocol.batch_bytes import batch, record
from .steered_file_system import SteeredFileSystem

ALONE = [Isolation.CONTROLLER, Isolation.NODES]
LAG_MS, RETRY_MS, SESSION_MS = 30_000, 1_000, 9_000


def cluster_of(
    *replicas: int, min_isr: int = 1, has_elr: bool = True, is_unclean_enabled: bool = False
) -> ReplicatedCluster:
    return ReplicatedCluster(replicas, min_isr, has_elr=has_elr, is_unclean_enabled=is_unclean_enabled)


def append(cluster: ReplicatedCluster, node_id: int, value: bytes = b"v") -> int:
    """Append a record, and return its offset."""
    data = memoryview(batch(record(value)))
    return cluster.partition(node_id).append(data, cluster.clock.now_ms()).base_offset


def ends(cluster: ReplicatedCluster, *node_ids: int) -> list[int]:
    return [cluster.log_of(node_id).end for node_id in node_ids]


def high_watermark(cluster: ReplicatedCluster, node_id: int) -> int:
    return cluster.log_of(node_id).high_watermark


def test_followers_that_join_together_are_in_the_isr_once() -> None:
    cluster = cluster_of(1, 2, 3)
    for node_id in (2, 3):
        cluster.membership.set_paused(node_id, is_paused=True)
    append(cluster, 1)
    cluster.clock.advance(LAG_MS + 1)
    cluster.shrink_isrs()
    assert cluster.registration.isr == [1]
    cluster.membership.isolate(1, [Isolation.CONTROLLER])
    for node_id in (2, 3):
        cluster.membership.set_paused(node_id, is_paused=False)

    cluster.membership.rejoin(1)

    assert cluster.registration.isr == [1, 2, 3]


def test_a_follower_that_fetches_nothing_leaves_the_isr_of_an_empty_partition() -> None:
    cluster = cluster_of(1, 2, 3, has_elr=False)
    cluster.membership.set_paused(3, is_paused=True)
    cluster.kill(1, is_noticed=True)
    assert (cluster.registration.leader_id, cluster.registration.isr) == (2, [2, 3])

    cluster.clock.advance(LAG_MS + 1)
    cluster.shrink_isrs()

    assert cluster.registration.isr == [2]


def test_a_replica_that_led_in_a_later_epoch_has_the_epochs_of_its_new_leader() -> None:
    cluster = cluster_of(1, 2, has_elr=False, is_unclean_enabled=True)
    cluster.membership.set_paused(2, is_paused=True)
    append(cluster, 1, b"first")
    cluster.clock.advance(LAG_MS + 1)
    cluster.shrink_isrs()
    cluster.kill(1, is_noticed=True)
    assert (cluster.registration.leader_id, cluster.registration.leader_epoch) == (2, 1)
    append(cluster, 2, b"lost")
    cluster.kill(2, is_noticed=True)
    cluster.start(1)
    assert cluster.registration.leader_id == 1
    cluster.membership.set_paused(2, is_paused=False)

    cluster.start(2)

    assert cluster.truncations == [(2, 0, 1)]
    logs = [cluster.partition(node_id).log for node_id in (1, 2)]
    assert logs[1].leader_epochs.epoch_of(0) == logs[0].leader_epochs.epoch_of(0) == 0


def test_a_leader_without_a_log_begins_its_epoch_with_the_first_record() -> None:
    cluster = cluster_of(1, 2, is_unclean_enabled=True)
    cluster.kill(1, is_noticed=True)

    append(cluster, 2)

    assert cluster.partition(2).log.leader_epochs.entries() == [(1, 0)]


def test_a_topic_created_again_while_a_node_was_down_has_none_of_its_old_records() -> None:
    cluster = cluster_of(1, 2, 3)
    append(cluster, 1, b"old")
    cluster.kill(3, is_noticed=True)
    cluster.cluster.controller.delete_topics([cluster.topic])
    cluster.topic = cluster.cluster.controller.create_topic(TOPIC, 1, assignments=[[1, 2, 3]])
    append(cluster, 1, b"new")

    cluster.start(3)

    assert cluster.log_of(3) == cluster.log_of(1)
    assert cluster.truncations == []


def test_a_replica_removed_while_its_node_was_down_begins_empty_when_it_is_added_again() -> None:
    cluster = cluster_of(1, 2)
    append(cluster, 1)
    cluster.kill(2, is_noticed=True)
    control = cluster.cluster.controller.replication
    control.reassign(TOPIC, 0, [1])

    cluster.start(2)

    assert not cluster.node(2).replicas.file_system.folders()
    control.reassign(TOPIC, 0, [1, 2])
    assert cluster.log_of(2) == cluster.log_of(1)


def test_a_node_killed_while_it_was_cut_off_has_the_image_of_the_controller_again() -> None:
    cluster = cluster_of(1, 2, 3)
    cluster.membership.isolate(1, ALONE)
    cluster.kill(1, is_noticed=True)
    created = cluster.cluster.controller.create_topic("later", 1, assignments=[[2, 3]])

    cluster.start(1)

    assert cluster.node(1).image is cluster.node(1).replicas.image is cluster.cluster.image
    assert cluster.node(1).replicas.find_partition(created.topic_id, 0) is not None


def test_a_node_stopped_while_it_is_fenced_may_lead_after_its_return() -> None:
    cluster = cluster_of(1, 2)
    cluster.membership.isolate(1, ALONE)
    cluster.clock.advance(SESSION_MS)
    cluster.stop(1)

    cluster.start(1)
    cluster.stop(2)

    assert (cluster.registration.leader_id, cluster.registration.isr) == (1, [1])


def test_a_replica_that_lags_leaves_the_elr_when_a_lower_min_isr_lets_the_high_watermark_move() -> None:
    cluster = cluster_of(1, 2, min_isr=2)
    cluster.stop(2)
    cluster.start(2)
    cluster.membership.set_paused(2, is_paused=True)
    append(cluster, 1)
    cluster.clock.advance(LAG_MS + 1)
    cluster.shrink_isrs()
    cluster.wait(1, 0, 1, LAG_MS)
    assert (cluster.registration.elr, high_watermark(cluster, 1)) == ([2], 0)

    configs = configs_of(1, is_unclean_enabled=False)
    cluster.cluster.controller.alter_topic_configs(cluster.topic, configs)

    assert (cluster.registration.elr, high_watermark(cluster, 1)) == ([], 1)
    assert cluster.results == {0: ["NONE"]}
    cluster.kill(1, is_noticed=True)
    assert cluster.registration.leader_id == NO_LEADER


def test_configs_changed_while_a_node_was_cut_off_apply_when_it_rejoins() -> None:
    cluster = cluster_of(1, 2, 3)
    append(cluster, 1)
    cluster.membership.isolate(1, [Isolation.CONTROLLER])
    configs = configs_of(2, is_unclean_enabled=False)
    cluster.cluster.controller.alter_topic_configs(cluster.topic, configs)

    cluster.membership.rejoin(1)

    assert cluster.partition(1).log.config.min_insync_replicas == 2


def test_features_updated_while_a_node_was_cut_off_apply_when_it_rejoins() -> None:
    cluster = cluster_of(1, 2, 3)
    cluster.membership.isolate(1, [Isolation.CONTROLLER])
    update = FeatureUpdate(0, UpgradeType.UNSAFE_DOWNGRADE)
    cluster.cluster.controller.update_features({GROUP_VERSION: update}, validate_only=False)
    levels_before = [each.image.features.level_of(GROUP_VERSION) for each in cluster.cluster.nodes]

    cluster.membership.rejoin(1)

    assert levels_before == [1, 0, 0]
    assert cluster.node(1).image.features.level_of(GROUP_VERSION) == 0


def test_a_follower_learns_the_log_start_while_too_few_replicas_are_in_sync() -> None:
    cluster = cluster_of(1, 2, 3, min_isr=3)
    append(cluster, 1)
    cluster.kill(3, is_noticed=True)

    cluster.partition(1).delete_records_before(1)

    assert cluster.log_of(2).start == 1


def test_a_write_waits_on_when_a_reassignment_begins_a_new_epoch_of_its_leader() -> None:
    cluster = cluster_of(1, 2, 3)
    cluster.membership.set_paused(2, is_paused=True)
    append(cluster, 1)
    cluster.wait(1, 0, 1, LAG_MS)

    cluster.cluster.controller.replication.reassign(TOPIC, 0, [1, 2])
    assert (cluster.registration.leader_epoch, cluster.results) == (1, {0: []})

    cluster.membership.set_paused(2, is_paused=False)
    assert cluster.results == {0: ["NONE"]}


def test_a_write_that_waits_for_the_other_replicas_ends_when_they_are_removed() -> None:
    cluster = cluster_of(1, 2)
    cluster.membership.set_paused(2, is_paused=True)
    append(cluster, 1)
    cluster.wait(1, 0, 1, LAG_MS)

    cluster.cluster.controller.replication.reassign(TOPIC, 0, [1])

    assert cluster.results == {0: ["NONE"]}


def test_the_deletion_of_a_topic_ends_the_writes_that_wait() -> None:
    cluster = cluster_of(1, 2)
    cluster.membership.set_paused(2, is_paused=True)
    append(cluster, 1)
    cluster.wait(1, 0, 1, LAG_MS)

    cluster.cluster.controller.delete_topics([cluster.topic])

    assert cluster.results == {0: ["UNKNOWN_TOPIC_OR_PARTITION"]}


def test_followers_whose_files_fail_do_not_fail_the_leader_and_catch_up_later() -> None:
    disks: list[SteeredFileSystem] = []

    def make_files() -> SteeredFileSystem:
        disks.append(SteeredFileSystem(MemoryFileSystem()))
        return disks[-1]

    cluster = ReplicatedCluster((1, 2, 3), 1, has_elr=True, is_unclean_enabled=False, make_files=make_files)
    append(cluster, 1)
    timers = cluster.clock.pending_count
    for disk in disks:
        disk.is_full = True
    append(cluster, 1)
    assert ends(cluster, 1, 2, 3) == [2, 1, 1]
    cluster.clock.advance(10 * RETRY_MS)
    assert cluster.clock.pending_count == timers + 1
    for disk in disks:
        disk.is_full = False

    cluster.clock.advance(RETRY_MS)

    assert ends(cluster, 1, 2, 3) == [2, 2, 2]
    assert high_watermark(cluster, 1) == 2


def test_a_follower_that_starts_again_at_the_log_start_has_a_high_watermark_there() -> None:
    cluster = cluster_of(1, 2)
    cluster.membership.set_paused(2, is_paused=True)
    append(cluster, 1)
    append(cluster, 1)
    cluster.clock.advance(LAG_MS + 1)
    cluster.shrink_isrs()
    cluster.partition(1).delete_records_before(2)

    cluster.membership.set_paused(2, is_paused=False)

    log = cluster.partition(2).log
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (2, 2, 2)
