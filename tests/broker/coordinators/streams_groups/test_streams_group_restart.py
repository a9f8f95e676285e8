"""Streams groups after a restart, a crash, and the loss of their coordinator."""

from __future__ import annotations

from pathlib import Path

from fauxka.protocol.error_codes import ErrorCode
from fauxka.testing import Broker

from ....wire.streams_member import CONFIG, GROUP, beat, coordinator_address
from .streams_scene import begin, tasks_of


def test_members_go_on_after_a_crash(tmp_path: Path) -> None:
    with Broker(CONFIG, data_dir=tmp_path) as broker:
        epoch = begin(broker)
        before = broker.groups.get(GROUP)
        broker.crash()
        broker.restart()

        answers = [beat(broker.bootstrap_servers, each, epoch) for each in "ab"]
        after = broker.groups.get(GROUP)

    assert [(each.error_code, each.member_epoch, each.active_tasks) for each in answers] == [(0, epoch, None)] * 2
    assert (after.state, after.members) == ("Stable", before.members)


def test_members_go_on_with_a_new_broker_on_the_folder(tmp_path: Path) -> None:
    with Broker(CONFIG, data_dir=tmp_path) as broker:
        epoch = begin(broker)
        before = tasks_of(broker)
    with Broker(CONFIG, data_dir=tmp_path) as broker:
        answers = [beat(broker.bootstrap_servers, each, epoch) for each in "ab"]
        after = tasks_of(broker)

    assert [(each.error_code, each.member_epoch) for each in answers] == [(0, epoch)] * 2
    assert after == before


def test_a_session_ends_after_a_crash(tmp_path: Path) -> None:
    with Broker(CONFIG, data_dir=tmp_path) as broker:
        epoch = begin(broker)
        broker.crash()
        broker.restart()
        broker.clock.advance(44_000, members="expire")
        beat(broker.bootstrap_servers, "a", epoch)

        broker.clock.advance(2_000, members="expire")
        remaining = broker.groups.get(GROUP).members
        response = beat(broker.bootstrap_servers, "b", epoch)

    assert [each.member_id for each in remaining] == ["a"]
    assert response.error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_another_node_goes_on_with_the_group() -> None:
    with Broker({**CONFIG, "default.replication.factor": "3"}, nodes=3) as broker:
        addresses = broker.bootstrap_servers.split(",")
        epoch = begin(broker)
        coordinator = coordinator_address(addresses[0])
        broker.stop_node(addresses.index(coordinator) + 1, controlled=False, noticed=True)
        bootstrap = next(address for address in addresses if address != coordinator)

        answers = [beat(bootstrap, each, epoch) for each in "ab"]
        group = broker.groups.get(GROUP)

    assert [(each.error_code, each.member_epoch) for each in answers] == [(0, epoch)] * 2
    assert group.state == "Stable"
