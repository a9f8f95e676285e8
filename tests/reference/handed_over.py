"""The clusters of three brokers that a real Kafka takes over: what clients see of both."""

from dataclasses import dataclass

import pytest

from .cluster_scene import GROUPS, PARTITIONS, TRANSACTIONAL_IDS, Observed, name_of

NAMES = [name_of(*each) for each in PARTITIONS]
RACKS = ("a", "b", "c")
# One partition, as that of the real cluster.
INTERNAL_TOPICS = (
    *("-c", "offsets.topic.num.partitions=1", "-c", "transaction.state.log.num.partitions=1"),
    *("-c", "offsets.topic.replication.factor=3", "-c", "transaction.state.log.replication.factor=3"),
)


@dataclass(frozen=True)
class HandedOver:
    """What clients see of the cluster, and of the real Kafka that took its logs over."""

    of_cluster: Observed
    of_kafka: Observed


class HandedOverContract:
    """The tests of a module with a fixture `handed_over`."""

    @pytest.mark.parametrize("name", NAMES)
    def test_kafka_serves_the_batches_of_the_leader(self, handed_over: HandedOver, name: str) -> None:
        assert handed_over.of_kafka.logs[name] == handed_over.of_cluster.logs[name]
        assert handed_over.of_kafka.logs[name].log_end_offset > 0

    @pytest.mark.parametrize("name", NAMES)
    def test_consumers_of_committed_records_read_the_same(self, handed_over: HandedOver, name: str) -> None:
        assert handed_over.of_kafka.committed_values[name] == handed_over.of_cluster.committed_values[name]
        assert b"transaction 1" not in handed_over.of_kafka.committed_values[name]

    @pytest.mark.parametrize("group", GROUPS)
    def test_groups_have_their_committed_offsets(self, handed_over: HandedOver, group: str) -> None:
        assert handed_over.of_kafka.committed_offsets[group] == handed_over.of_cluster.committed_offsets[group]
        assert max(handed_over.of_kafka.committed_offsets[group].values()) > 0

    def test_producers_get_the_answers_that_the_cluster_gives(self, handed_over: HandedOver) -> None:
        assert handed_over.of_kafka.answers == handed_over.of_cluster.answers

    @pytest.mark.parametrize("transactional_id", TRANSACTIONAL_IDS)
    def test_transactional_producers_continue_with_the_id_and_epoch_that_the_cluster_gives(
        self, handed_over: HandedOver, transactional_id: str
    ) -> None:
        assert (
            handed_over.of_kafka.initialized[transactional_id] == handed_over.of_cluster.initialized[transactional_id]
        )

    def test_logs_end_where_they_end_in_the_cluster_after_the_producers_continued(
        self, handed_over: HandedOver
    ) -> None:
        assert handed_over.of_kafka.ends == handed_over.of_cluster.ends
