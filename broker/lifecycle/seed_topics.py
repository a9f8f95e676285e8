"""Topics that are there when the broker starts (--seed-topic name:partitions)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..config.broker_config import ConfigError
from ..metadata.controller import Controller
from ..metadata.topic_names import find_topic_name_error

# A partition costs some kilobytes; far more than this is a typing error.
SEED_PARTITIONS_MAX = 100_000


class SeedTopic(NamedTuple):
    """A topic to create; partition_count None is num.partitions."""

    name: str
    partition_count: int | None


def parse_seed_topic(text: str) -> SeedTopic:
    """Return the topic of "name:partitions" or "name"; raises ConfigError."""
    name, separator, count = text.partition(":")
    if (reason := find_topic_name_error(name)) is not None:
        raise ConfigError(f"seed topic {text!r}: {reason}")
    if not separator:
        return SeedTopic(name, None)
    if not (count.isascii() and count.isdecimal()) or not 1 <= int(count) <= SEED_PARTITIONS_MAX:
        raise ConfigError(f"seed topic {text!r}: expected name:partitions with 1 to {SEED_PARTITIONS_MAX} partitions")
    return SeedTopic(name, int(count))


def create_seed_topics(controller: Controller, seed_topics: Sequence[SeedTopic]) -> None:
    """Create the topics; of one that is named twice the first holds."""
    for seed in seed_topics:
        if controller.image.find_topic(seed.name) is None:
            controller.create_topic(seed.name, seed.partition_count or controller.image.configs.current.num_partitions)
