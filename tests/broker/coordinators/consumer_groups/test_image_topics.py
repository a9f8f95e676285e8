"""The topics of the metadata image as consumer groups see them, with the racks of the replicas."""

from __future__ import annotations

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.coordinators.consumer.topics import ImageTopics, metadata_hash
from fauxka.broker.metadata.metadata_image import TopicImage


def cluster_of(*racks: str | None) -> Cluster:
    first = racks[0]
    cluster = Cluster(BrokerConfig.from_entries({"broker.rack": first} if first is not None else {}))
    for rack in racks[1:]:
        cluster.add_node(rack)
    return cluster


def reassign(cluster: Cluster, topic: TopicImage, replicas: list[int]) -> None:
    topic.partitions[0].replicas[:] = replicas
    cluster.controller.metadata_changed()


def test_racks_are_those_of_the_replicas_of_each_partition() -> None:
    cluster = cluster_of("b", "a", "b", None)
    cluster.controller.create_topic("orders", 3, assignments=[[1, 2, 3], [4, 2], [4]])

    topic = ImageTopics(cluster.image).find("orders")

    assert topic is not None
    assert topic.racks == (("a", "b", "b"), ("a",), ())


def test_a_topic_has_no_racks_where_the_brokers_have_none() -> None:
    cluster = cluster_of(None, None)
    cluster.controller.create_topic("orders", 3, assignments=[[1, 2], [2, 1], [1, 2]])

    topic = ImageTopics(cluster.image).find("orders")

    assert topic is not None
    assert topic.racks == ()


def test_a_replica_in_another_rack_changes_the_metadata_hash_and_one_in_the_same_rack_does_not() -> None:
    cluster = cluster_of("a", "b", "b")
    topics = ImageTopics(cluster.image)
    topic = cluster.controller.create_topic("orders", 1, assignments=[[1, 2]])
    before = metadata_hash(["orders"], topics)

    reassign(cluster, topic, [1, 3])
    same_rack = metadata_hash(["orders"], topics)
    reassign(cluster, topic, [2, 3])
    other_rack = metadata_hash(["orders"], topics)

    assert same_rack == before != other_rack
