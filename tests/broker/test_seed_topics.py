"""Seed topics of the command line."""

import pytest

from fauxka.broker.config.config_types import ConfigError
from fauxka.broker.lifecycle.cluster_reset import SeedTopic, parse_seed_topics


@pytest.mark.parametrize("texts", [["a:3", "a:3"], ["a:3", "a"], ["a:3", "a", "a:3"]])
def test_topic_with_the_same_number_of_partitions_twice_is_one_topic(texts: list[str]) -> None:
    assert parse_seed_topics(texts, num_partitions=3) == [SeedTopic("a", 3)]


@pytest.mark.parametrize("texts", [["a:3", "a:5"], ["a:5", "b", "a"], ["a", "a:5"]])
def test_topic_with_two_numbers_of_partitions_is_refused(texts: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"^seed topic a has two numbers of partitions: "):
        parse_seed_topics(texts, num_partitions=3)
