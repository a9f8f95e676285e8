"""Replica placement: replicas on different brokers, spread over brokers and racks."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.broker.metadata.metadata_image import BrokerRegistration
from fauxka.broker.metadata.replica_placement import place_replicas
from fauxka.protocol.error_codes import ErrorCode, KafkaError

RACKS = st.sampled_from([None, "a", "b", "c", "d"])
CLUSTERS = st.lists(st.tuples(RACKS, st.booleans()), min_size=1, max_size=9).map(
    lambda drawn: [
        BrokerRegistration(node_id, rack, is_fenced=is_fenced) for node_id, (rack, is_fenced) in enumerate(drawn, 1)
    ]
)
SEEDS = st.integers(0, 1000)


@given(CLUSTERS, st.integers(1, 40), st.data(), SEEDS)
def test_replicas_are_on_different_brokers_and_fenced_ones_come_last(
    brokers: list[BrokerRegistration], partition_count: int, data: st.DataObject, seed: int
) -> None:
    unfenced = {broker.node_id for broker in brokers if not broker.is_fenced}
    factor = data.draw(st.integers(1, len(brokers)))
    if not unfenced:
        with pytest.raises(KafkaError, match="All brokers are currently fenced"):
            place_replicas(brokers, partition_count, factor, Random(seed))
        return

    placed = place_replicas(brokers, partition_count, factor, Random(seed))

    assert len(placed) == partition_count
    for replicas in placed:
        assert len(set(replicas)) == len(replicas) == factor
        # As many unfenced ones as there are, and first.
        count = min(factor, len(unfenced))
        assert {node_id in unfenced for node_id in replicas[:count]} == {True}
        assert not unfenced & set(replicas[count:])


@given(CLUSTERS, st.data(), SEEDS)
def test_replicas_are_in_different_racks_as_long_as_there_are_racks(
    brokers: list[BrokerRegistration], data: st.DataObject, seed: int
) -> None:
    for broker in brokers:
        broker.is_fenced = False
    rack_of = {broker.node_id: broker.rack for broker in brokers}
    factor = data.draw(st.integers(1, len(brokers)))

    for replicas in place_replicas(brokers, 20, factor, Random(seed)):
        racks = [rack_of[node_id] for node_id in replicas]
        assert len(set(racks)) == min(factor, len(set(rack_of.values())))


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 5), SEEDS)
def test_leaders_are_spread_evenly_over_racks_of_one_size(rack_count: int, size: int, rounds: int, seed: int) -> None:
    brokers = [
        BrokerRegistration(rack * size + number, f"rack {rack}") for rack in range(rack_count) for number in range(size)
    ]

    placed = place_replicas(brokers, rounds * len(brokers), 1, Random(seed))

    assert Counter(replicas[0] for replicas in placed) == dict.fromkeys(range(len(brokers)), rounds)


def test_topics_of_one_partition_have_different_leaders() -> None:
    brokers = [BrokerRegistration(node_id, None) for node_id in (1, 2, 3)]

    leaders = {place_replicas(brokers, 1, 3, Random(seed))[0][0] for seed in range(20)}

    assert leaders == {1, 2, 3}


def test_more_replicas_than_brokers_are_refused() -> None:
    brokers = [BrokerRegistration(node_id, None) for node_id in (1, 2, 3)]

    with pytest.raises(KafkaError, match="only 3 broker") as raised:
        place_replicas(brokers, 1, 4, Random(0))

    assert raised.value.code == ErrorCode.INVALID_REPLICATION_FACTOR
