"""The initial state of a cluster: its seed topics (--seed-topic name:partitions), and the reset to them.

A reset deletes everything that clients wrote. Afterwards topics have new ids, and members, sessions and producers are
unknown. Producer ids continue: a producer that outlives the reset must not have the id of a later one. On disk all
topics are deleted, also those from before the start-up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..config.config_types import ConfigError
from ..metadata.controller import Controller
from ..metadata.topic_validation import find_topic_name_error

if TYPE_CHECKING:
    from ..cluster import Cluster

# A partition needs some kilobytes of memory; a larger number is a typing error.
SEED_PARTITIONS_MAX = 100_000


class SeedTopic(NamedTuple):
    """A topic to create at start-up and after each reset. partition_count: None means num.partitions."""

    name: str
    partition_count: int | None


def parse_seed_topic(text: str) -> SeedTopic:
    """Parse "name:partitions" or "name". Raises ConfigError."""
    name, separator, count = text.partition(":")
    if (reason := find_topic_name_error(name)) is not None:
        raise ConfigError(f"seed topic {text!r}: {reason}")
    if not separator:
        return SeedTopic(name, None)
    if not (count.isascii() and count.isdecimal()) or not 1 <= int(count) <= SEED_PARTITIONS_MAX:
        raise ConfigError(f"seed topic {text!r}: expected name:partitions with 1 to {SEED_PARTITIONS_MAX} partitions")
    return SeedTopic(name, int(count))


def parse_seed_topics(texts: Sequence[str], num_partitions: int) -> list[SeedTopic]:
    """Return the seed topics, each name once.

    num_partitions: the partitions of a topic without a number.
    Raises ConfigError for an invalid topic, and for a name with several numbers of partitions.
    """
    first: dict[str, str] = {}
    topics: dict[str, SeedTopic] = {}
    for text in texts:
        topic = parse_seed_topic(text)
        same = topics.setdefault(topic.name, topic)
        earlier = first.setdefault(topic.name, text)
        if (same.partition_count or num_partitions) != (topic.partition_count or num_partitions):
            raise ConfigError(f"seed topic {topic.name} has two numbers of partitions: {earlier!r} and {text!r}")
    return list(topics.values())


def create_seed_topics(controller: Controller, seed_topics: Sequence[SeedTopic]) -> None:
    """Create the topics. The first of several with the same name counts. Raises KafkaError KAFKA_STORAGE_ERROR."""
    for seed in seed_topics:
        if controller.image.find_topic(seed.name) is None:
            controller.create_topic(seed.name, seed.partition_count or controller.image.configs.current.num_partitions)


def reset_cluster(cluster: Cluster, seed_topics: Sequence[SeedTopic] = ()) -> None:
    """Delete topics, groups, sessions, dynamic configs, feature levels and quotas of clients.

    Delete ACLs, SCRAM credentials and delegation tokens. Have all nodes follow the release of the start. Create the
    seed topics, restore the users of the start, and reset the clock.

    The caller closes the connections and ends the isolations before (ClusterServer.prepare_replacement), so that no
    request received so far is applied.
    Raises KafkaError KAFKA_STORAGE_ERROR if the files of a seed topic cannot be created.
    """
    taken = [node.take_coordinators() for node in cluster.nodes]
    cluster.image.configs.reset()
    cluster.image.features.updated = {}
    cluster.image.replace_security(None)
    cluster.image.replace_client_quotas(None)
    if cluster.users is not None:
        cluster.users.reset()
    cluster.controller.mutation_buckets.clear()
    for node in cluster.nodes:
        node.drop_client_quotas()
    cluster.controller.remove_topics(list(cluster.image.topics.values()))
    cluster.follow_first_release()
    if cluster.load_imported is not None:
        cluster.load_imported()
    cluster.clock.reset()
    create_seed_topics(cluster.controller, seed_topics)
    cluster.controller.metadata_changed()
    for node, coordinators in zip(cluster.nodes, taken, strict=True):
        node.load_coordinators()
        if coordinators is not None:
            coordinators.unload()
        node.complete_waiting()
