"""The committed offsets of a broker's groups, for the topics that are audited."""

from pathlib import Path

import pytest

from fauxka.client.errors import BrokerError
from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.group_input import check_groups
from fauxka.pipeline.read.group_offsets import GroupOffset, group_offsets
from fauxka.pipeline.read.stored_listing import with_listing
from fauxka.testing import Broker

from ..pipeline.logs_on_disk import GOLDEN, batches, options_of, write_segment

# Plain functions of modules that import pyspark.
pytestmark = [pytest.mark.spark, pytest.mark.slice]

DENIED = {
    "match": {"api": "OffsetFetch"},
    "point": "received",
    "action": {"kind": "error", "error": "GROUP_AUTHORIZATION_FAILED"},
}


def test_the_offsets_of_all_groups_of_all_nodes_are_read() -> None:
    with Broker(nodes=2) as broker:
        for topic in ("orders", "other"):
            broker.topics.create(topic, partitions=2)
        broker.groups.set_offsets("billing", {("orders", 0): 5, ("orders", 1): 0, ("other", 0): 3}, force=True)
        broker.groups.set_offsets("shipping", {("orders", 1): 7}, force=True)

        found = group_offsets(options_of(bootstrap=broker.bootstrap_servers, topics="orders"))

    assert sorted(found) == [
        GroupOffset("billing", "orders", 0, 5),
        GroupOffset("billing", "orders", 1, 0),
        GroupOffset("shipping", "orders", 1, 7),
    ]


def test_an_error_of_the_broker_is_raised() -> None:
    with Broker() as broker:
        broker.topics.create("orders")
        broker.groups.set_offsets("billing", {("orders", 0): 5}, force=True)
        broker.faults.add(DENIED)

        with pytest.raises(BrokerError, match="group billing: GROUP_AUTHORIZATION_FAILED"):
            group_offsets(options_of(bootstrap=broker.bootstrap_servers))


def test_the_offsets_of_named_groups_are_read_without_those_of_another_group() -> None:
    denied = {**DENIED, "match": {"api": "OffsetFetch", "group_id": "secret"}}
    with Broker() as broker:
        broker.topics.create("orders")
        for group in ("billing", "secret"):
            broker.groups.set_offsets(group, {("orders", 0): 5}, force=True)
        broker.faults.add(denied)
        options = options_of(bootstrap=broker.bootstrap_servers)

        found = group_offsets(options, {"billing"})
        with pytest.raises(BrokerError, match="group secret: GROUP_AUTHORIZATION_FAILED"):
            group_offsets(options)

    assert found == [GroupOffset("billing", "orders", 0, 5)]


@pytest.mark.parametrize("api", ["ListGroups", "OffsetFetch"])
@pytest.mark.parametrize("error", ["COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"])
def test_a_request_to_a_coordinator_that_is_not_ready_is_sent_again(api: str, error: str) -> None:
    not_ready = {"match": {"api": api}, "point": "received", "action": {"kind": "error", "error": error}}
    with Broker() as broker:
        broker.topics.create("orders")
        broker.groups.set_offsets("billing", {("orders", 0): 5}, force=True)
        broker.faults.add(not_ready)

        found = group_offsets(options_of(bootstrap=broker.bootstrap_servers))
        entries = broker.journal.entries(api=api)

    assert found == [GroupOffset("billing", "orders", 0, 5)]
    assert len(entries) == 2


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (" ,", "groups: must be all, or names of groups separated by commas, not ' ,'"),
        ("billing", f"groups: {GOLDEN} has no segments of __consumer_offsets"),
    ],
)
def test_groups_that_cannot_be_audited_are_refused(groups: str, message: str) -> None:
    with pytest.raises(BadOption) as raised:
        check_groups({"path": str(GOLDEN)}, groups)

    assert str(raised.value) == message


def test_the_commits_of_a_folder_are_those_of_its_listing(tmp_path: Path) -> None:
    write_segment(tmp_path / "orders-0", batches(0, 1))
    without_commits = with_listing({"path": str(tmp_path)})
    write_segment(tmp_path / "__consumer_offsets-0", batches(0, 1))
    with_commits = with_listing({"path": str(tmp_path)})

    check_groups(with_commits, "all")
    with pytest.raises(BadOption, match="has no segments of __consumer_offsets"):
        check_groups(without_commits, "all")
