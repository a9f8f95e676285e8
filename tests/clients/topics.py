"""Topics that are ready to be written to."""

from collections.abc import Mapping

from .client import Client, eventually, unique_name
from .stored_batches import is_served


def create_topic(
    client: Client, bootstrap: str, subject: str, partition_count: int, configs: Mapping[str, str] | None = None
) -> str:
    """Create a topic of a new name, wait until it can be written to, and return the name."""
    topic = unique_name(subject)
    client.create_topic(topic, partition_count, configs or {})
    wait_until_served(client, bootstrap, topic, partition_count)
    return topic


def wait_until_served(client: Client, bootstrap: str, topic: str, partition_count: int) -> None:
    """Wait until the broker lists the topic and leads each of its partitions.

    A real Kafka answers CreateTopics before its broker serves the partitions. A Java producer that is too early can
    hang, seen once in 256 topics: the first batch of a partition is refused, the ones in flight behind it are accepted
    as those of a producer not seen before (KAFKA-15591), and the first is out of order from then on.
    """
    assert eventually(lambda: topic in client.partition_counts(), True)
    assert eventually(lambda: is_served(bootstrap, topic, partition_count), True)
