"""The verdict from an input to its output if a share group reads the input, over the wire."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence

import pytest

from fauxka.faults.flow.flow_verdict import FlowVerdict
from fauxka.testing import Broker

from ..wire.share_member import ACCEPT, REJECT, RELEASE, ShareMember

GROUP, TOPIC, RESULTS = "couriers", "orders", "deliveries"
RECORDS = 5


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        for topic in (TOPIC, RESULTS):
            broker.topics.create(topic, partitions=1)
        write(broker, TOPIC, range(RECORDS))
        yield broker


@pytest.fixture
def member(broker: Broker) -> Iterator[ShareMember]:
    topic_id = base64.urlsafe_b64decode(broker.topics.get(TOPIC).topic_id + "==")
    with ShareMember(broker.bootstrap_servers, (GROUP, "one"), (TOPIC, topic_id)) as member:
        member.configure(auto_offset_reset="earliest")
        yield member


def write(broker: Broker, topic: str, numbers: Sequence[int]) -> None:
    broker.topics.seed(topic, [{"key": f"k{number}", "value": "v"} for number in numbers])


def verdict_of(broker: Broker) -> FlowVerdict:
    return broker.verdict(from_topic=TOPIC, to_topic=RESULTS, event_id="key")


def found_in(verdict: FlowVerdict) -> list[tuple[str, str, list[str]]]:
    return [(each.kind, each.cause, [event.event for event in each.events]) for each in verdict.findings]


def test_events_that_are_accepted_rejected_or_open_are_lost_for_their_own_reasons(
    broker: Broker, member: ShareMember
) -> None:
    assert member.fetch(records_max=4) == [(0, 3, 1)]
    member.acknowledge(1, 1, REJECT)
    member.acknowledge(2, 3, ACCEPT)
    write(broker, RESULTS, [3])

    verdict = verdict_of(broker)

    assert verdict.group == GROUP
    assert found_in(verdict) == [
        ("lost", "not_committed", ["k0", "k4"]),
        ("lost", "rejected", ["k1"]),
        ("lost", "committed", ["k2"]),
    ]


def test_event_that_is_processed_again_after_a_release_is_doubled(broker: Broker, member: ShareMember) -> None:
    member.fetch()
    write(broker, RESULTS, range(RECORDS))
    member.acknowledge(0, RECORDS - 2, ACCEPT)
    member.acknowledge(RECORDS - 1, RECORDS - 1, RELEASE)
    member.fetch()
    write(broker, RESULTS, [RECORDS - 1])
    member.acknowledge(RECORDS - 1, RECORDS - 1, ACCEPT)

    assert found_in(verdict_of(broker)) == [("doubled", "released", ["k4"])]


def test_events_that_are_accepted_with_their_results_are_clean(broker: Broker, member: ShareMember) -> None:
    member.fetch()
    write(broker, RESULTS, range(RECORDS))
    member.acknowledge(0, RECORDS - 1, ACCEPT)

    verdict = verdict_of(broker)

    assert verdict.findings == []
    verdict.assert_exactly_once()
    verdict.assert_in_order()
