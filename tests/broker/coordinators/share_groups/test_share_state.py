"""The states of share groups that other brokers may write: what is kept, what fences, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.coordinators.internal_topics import CoordinatorType, ensure_internal_topic
from fauxka.broker.coordinators.share.share_state import ShareStateChange, ShareStates
from fauxka.broker.coordinators.share.state_batches import combine_batches
from fauxka.broker.coordinators.share.state_requests import (
    BATCH_RECORDS_MAX,
    BATCHES_MAX,
    ShareStateRequests,
    state_batch_of,
)
from fauxka.protocol.error_codes import ErrorCode, KafkaError
from fauxka.protocol.stored_records.share_state_records import DeliveryState, ShareKey, StateBatch

from ....run_counts import examples


class Scene:
    """A node with a topic and the topic of the states."""

    def __init__(self, **config: str) -> None:
        self.cluster = Cluster(BrokerConfig.from_entries({key.replace("_", "."): each for key, each in config.items()}))
        topic = self.cluster.node.controller.create_topic("t", 1)
        ensure_internal_topic(self.cluster.node.controller, CoordinatorType.SHARE)
        self.key = ShareKey("group", topic.topic_id, 0)
        self.requests = self.cluster.node.coordinators.share_state_requests

    def reloaded(self) -> ShareStateRequests:
        """Return the requests for states that were read from the log again."""
        node = self.cluster.node
        states = ShareStates(node.replicas, node.coordinators.coordinator_log(CoordinatorType.SHARE))
        states.load()
        return ShareStateRequests(node.image, states)


def change(state_epoch: int = -1, leader_epoch: int = -1, *batches: StateBatch) -> ShareStateChange:
    return ShareStateChange(state_epoch, leader_epoch, -1, 0, batches)


def code_of(call: object, *arguments: object) -> ErrorCode:
    assert callable(call)
    with pytest.raises(KafkaError) as caught:
        call(*arguments)
    return caught.value.code


@pytest.mark.parametrize("updates", ["0", "1", "500"])
def test_state_and_its_epochs_are_the_same_after_a_restart(updates: str) -> None:
    scene = Scene(share_coordinator_snapshot_update_records_per_snapshot=updates)
    scene.requests.initialize(scene.key, 5, 10)
    scene.requests.read(scene.key, 3)
    batches = [StateBatch(first, first + 5, DeliveryState.ARCHIVED, 1) for first in (10, 12, 30)]
    for batch in batches:
        scene.requests.write(scene.key, change(5, 3, batch))

    again = scene.reloaded()

    assert again.find(scene.key) == scene.requests.find(scene.key)
    assert code_of(again.initialize, scene.key, 4, 0) is ErrorCode.FENCED_STATE_EPOCH
    assert code_of(again.read, scene.key, 2) is ErrorCode.FENCED_LEADER_EPOCH


def test_fences_outlive_a_state_that_is_initialized_without_an_epoch() -> None:
    scene = Scene()
    scene.requests.initialize(scene.key, 5, 10)
    scene.requests.initialize(scene.key, -1, 20)

    assert code_of(scene.requests.write, scene.key, change(4)) is ErrorCode.FENCED_STATE_EPOCH
    assert code_of(scene.reloaded().write, scene.key, change(4)) is ErrorCode.FENCED_STATE_EPOCH


def test_state_of_a_deleted_topic_is_deleted() -> None:
    scene = Scene()
    scene.requests.initialize(scene.key, 5, 10)

    topic = scene.cluster.node.image.find_topic("t")
    assert topic is not None
    scene.cluster.node.controller.delete_topics([topic])

    assert code_of(scene.requests.read, scene.key, 0) is ErrorCode.INVALID_REQUEST
    assert code_of(scene.reloaded().read, scene.key, 0) is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ((5, 4, 0, 1), "must have 1 to 100000 records"),
        ((-1, 4, 0, 1), "with offsets from 0"),
        ((0, BATCH_RECORDS_MAX, 0, 1), "must have 1 to 100000 records"),
        ((0, 0, 3, 1), "is 3; allowed: 0 (AVAILABLE), 1 (ACQUIRED), 2 (ACKNOWLEDGED), 4 (ARCHIVED)"),
    ],
)
def test_batch_that_cannot_be_stored_is_refused(batch: tuple[int, int, int, int], message: str) -> None:
    with pytest.raises(KafkaError) as caught:
        state_batch_of(*batch)

    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert message in caught.value.message


def test_state_has_a_limited_number_of_batches() -> None:
    scene = Scene()
    scene.requests.initialize(scene.key, 0, 0)
    batches = [StateBatch(2 * number, 2 * number, DeliveryState.AVAILABLE, 1) for number in range(BATCHES_MAX)]
    scene.requests.write(scene.key, change(0, 0, *batches))

    assert code_of(scene.requests.write, scene.key, change(0, 0, batches[0])) is ErrorCode.INVALID_REQUEST


def batch_of(first: int, more: int, state: DeliveryState, deliveries: int) -> StateBatch:
    return StateBatch(first, first + more, state, deliveries)


drawn_batches = st.builds(
    batch_of, st.integers(0, 12), st.integers(0, 8), st.sampled_from(DeliveryState), st.integers(0, 3)
)


@settings(max_examples=examples(200))
@given(st.lists(drawn_batches, max_size=8), st.sampled_from([-1, 0, 5]))
def test_each_offset_has_the_highest_of_its_batches(batches: list[StateBatch], start_offset: int) -> None:
    expected: dict[int, tuple[int, int]] = {}
    for batch in batches:
        for offset in range(max(batch.first_offset, start_offset), batch.last_offset + 1):
            rank = (batch.delivery_count, int(batch.delivery_state))
            expected[offset] = max(rank, expected.get(offset, rank))

    combined = combine_batches(batches, start_offset)

    offsets = [offset for each in combined for offset in range(each.first_offset, each.last_offset + 1)]
    assert offsets == sorted(expected)
    assert expected == {
        offset: (each.delivery_count, int(each.delivery_state))
        for each in combined
        for offset in range(each.first_offset, each.last_offset + 1)
    }


def test_batch_with_more_deliveries_has_the_offsets_that_two_batches_share() -> None:
    first = StateBatch(0, 9, DeliveryState.ARCHIVED, 1)
    later = StateBatch(3, 5, DeliveryState.AVAILABLE, 2)

    assert combine_batches([first, later], -1) == (
        first._replace(last_offset=2),
        later,
        first._replace(first_offset=6),
    )
