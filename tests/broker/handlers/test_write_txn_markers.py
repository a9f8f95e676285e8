"""WriteTxnMarkers of an administrator: ends an open transaction, with its pending offsets."""

from __future__ import annotations

import pytest

from fauxka.broker.coordinators.group.group import OffsetCommitter
from fauxka.broker.coordinators.group.group_offsets import OffsetToCommit
from fauxka.broker.coordinators.internal_topics import CoordinatorType, partition_of_key
from fauxka.broker.handlers.transactions import write_txn_markers
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from fauxka.protocol.produced_records import TransactionalProducer

from ..steps import result_of
from .admin_scene import AdminScene

GROUP, TOPIC = "copiers", "events"
PRODUCER_ID = 9


def send(scene: AdminScene, topic: str, partition: int, *, commit: bool) -> WriteTxnMarkersResponse:
    marker = WritableTxnMarker(
        producer_id=PRODUCER_ID,
        producer_epoch=0,
        transaction_result=commit,
        topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[partition])],
    )
    response = result_of(write_txn_markers.handle(scene.context(1), WriteTxnMarkersRequest(markers=[marker])))
    return response


@pytest.mark.parametrize(("commit", "offset"), [(True, 7), (False, None)])
def test_marker_commits_or_drops_the_pending_offsets_of_its_partition(commit: bool, offset: int | None) -> None:
    scene = AdminScene()
    scene.topic(TOPIC)
    offsets = scene.cluster.node.coordinators.groups.offsets
    offsets.commit_pending(
        OffsetCommitter(group_id=GROUP, api_version=3, is_transactional=True),
        [OffsetToCommit(topic_name=TOPIC, partition=0, offset=7)],
        TransactionalProducer(PRODUCER_ID, 0),
    )
    partition = partition_of_key(scene.cluster.controller, scene.cluster.node.replicas, CoordinatorType.GROUP, GROUP)

    before = offsets.is_pending(GROUP, TOPIC, 0)
    send(scene, partition.topic_name, partition.index, commit=commit)

    committed = offsets.find(GROUP, TOPIC, 0)
    assert (before, offsets.is_pending(GROUP, TOPIC, 0)) == (True, False)
    assert (None if committed is None else committed.offset) == offset


def test_a_marker_completes_a_pending_fetch() -> None:
    scene = AdminScene()
    partition = scene.partition_of(scene.topic(TOPIC), 0)
    woken: list[int] = []
    partition.wait(object(), lambda: woken.append(partition.log.last_stable_offset))

    send(scene, TOPIC, 0, commit=True)

    assert woken == [1]


def test_missing_partition_is_reported_beside_an_existing_one() -> None:
    scene = AdminScene()
    scene.topic(TOPIC)

    answers = [send(scene, TOPIC, index, commit=True).markers[0].topics[0].partitions[0] for index in (0, 1)]

    assert [answer.error_code for answer in answers] == [ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
