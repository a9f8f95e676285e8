"""Streams groups in the data folder of a broker that follows a release without them: kept as share groups are."""

from __future__ import annotations

from pathlib import Path

import pytest

from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from fauxka.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from fauxka.protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from fauxka.protocol.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest,
)
from fauxka.testing import Broker

from ....wire.message_client import MessageClient
from ....wire.streams_member import CONFIG, GROUP, beat
from ....wire.wire_connection import ConnectionClosedError
from .streams_scene import begin, tasks_of

BEFORE_STREAMS_GROUPS = ["3.9", "4.1"]
HEARTBEAT = StreamsGroupHeartbeatRequest(group_id=GROUP, member_id="a", member_epoch=1)


# As Kafka 3.9.1, 4.0.0, 4.1.1 and 4.2.0 do, which do not advertise the API.
@pytest.mark.parametrize(
    ("release", "request_message"),
    [
        *((release, HEARTBEAT) for release in ("3.9", "4.0", "4.1")),
        ("4.1", StreamsGroupDescribeRequest(group_ids=[GROUP])),
        ("4.1", StreamsGroupTopologyDescriptionUpdateRequest(group_id=GROUP)),
        ("4.2", StreamsGroupTopologyDescriptionUpdateRequest(group_id=GROUP)),
        ("4.3", StreamsGroupTopologyDescriptionUpdateRequest(group_id=GROUP)),
    ],
)
def test_request_before_its_release_closes_the_connection(release: str, request_message: RequestMessage) -> None:
    with (
        Broker(as_version=release) as broker,
        MessageClient(broker.bootstrap_servers) as client,
        pytest.raises(ConnectionClosedError),
    ):
        client.call(request_message, 0)


@pytest.mark.parametrize("release", BEFORE_STREAMS_GROUPS)
def test_members_go_on_after_a_release_without_streams_groups(tmp_path: Path, release: str) -> None:
    with Broker(CONFIG, data_dir=tmp_path) as broker:
        epoch = begin(broker)
        before = tasks_of(broker)
    with Broker(data_dir=tmp_path, as_version=release) as broker, MessageClient(broker.bootstrap_servers) as client:
        meanwhile = client.call(DescribeGroupsRequest(groups=[GROUP]), 5, DescribeGroupsResponse).groups[0]
    with Broker(CONFIG, data_dir=tmp_path) as broker:
        answers = [beat(broker.bootstrap_servers, each, epoch) for each in "ab"]
        after = tasks_of(broker)

    assert (meanwhile.error_code, meanwhile.group_state) == (0, "Dead")
    assert [(each.error_code, each.member_epoch) for each in answers] == [(0, epoch)] * 2
    assert after == before


@pytest.mark.parametrize("release", BEFORE_STREAMS_GROUPS)
def test_export_by_a_release_without_streams_groups_has_the_group(tmp_path: Path, release: str) -> None:
    with Broker(CONFIG, data_dir=tmp_path / "data") as broker:
        epoch = begin(broker)
        before = tasks_of(broker)
    with Broker(data_dir=tmp_path / "data", as_version=release) as broker:
        broker.export(tmp_path / "exported")
    with Broker(CONFIG, import_logs=tmp_path / "exported") as broker:
        answers = [beat(broker.bootstrap_servers, each, epoch) for each in "ab"]
        after = tasks_of(broker)

    assert [(each.error_code, each.member_epoch) for each in answers] == [(0, epoch)] * 2
    assert after == before
