"""Takes a running cluster back to where it started: what clients have put there is gone, and connections stay.

What its clients then ask is answered as by a cluster that never had any of it: their topics have new ids, their members
and sessions are unknown, and in memory producer ids are given from the first one on again. On disk all topics are
deleted, those included that were there before the broker started.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..metadata.producer_id_manager import ProducerIdManager
from .seed_topics import SeedTopic, create_seed_topics

if TYPE_CHECKING:
    from ..cluster import Cluster


def reset_cluster(cluster: Cluster, seed_topics: Sequence[SeedTopic] = ()) -> None:
    """Forget topics, groups, sessions and configs, make the seed topics again, and set the clock back to its beginning.

    Who waits for data or for a group is answered when all of that is done, so that what they ask next finds it so.
    Raises KafkaError KAFKA_STORAGE_ERROR where the files of a seed topic cannot be made.
    """
    coordinators = cluster.node.take_coordinators()
    cluster.image.configs.reset()
    cluster.controller.remove_topics(list(cluster.image.topics.values()))
    if not cluster.node.replicas.is_on_disk:
        # A folder gives no id twice, not even by a node that is killed before it has written anything down.
        cluster.controller.producer_ids = ProducerIdManager()
    if cluster.load_imported is not None:
        cluster.load_imported()
    cluster.clock.reset()
    create_seed_topics(cluster.controller, seed_topics)
    cluster.controller.metadata_changed()
    cluster.node.load_coordinators()
    if coordinators is not None:
        coordinators.unload()
    cluster.node.complete_waiting()
