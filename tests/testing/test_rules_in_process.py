"""Rules of a broker in process: by id and by name, disabled and enabled, replaced."""

from collections.abc import Iterator

import pytest

from fauxka.faults.rules.rule_lookup import AmbiguousRuleError, UnknownRuleError

from .producing import send
from .transports import Broker

pytestmark = pytest.mark.clients


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


def test_rule_is_named_by_id_and_by_name(broker: Broker) -> None:
    rule = broker.faults.lost_ack(topic="orders", name="lost")

    assert (broker.faults["lost"].id, broker.faults[1].name) == (rule.id, "lost")
    assert "lost" in broker.faults
    assert 2 not in broker.faults


def test_unknown_and_ambiguous_names_are_errors(broker: Broker) -> None:
    broker.faults.lost_ack()
    broker.faults.lost_ack()

    with pytest.raises(UnknownRuleError, match="there is no rule 'lost'; rules in force: 1 'lost ack', 2 'lost ack'"):
        _ = broker.faults["lost"]
    with pytest.raises(AmbiguousRuleError, match="use one of the ids 1, 2"):
        _ = broker.faults["lost ack"]


def test_rules_are_iterated_in_the_order_of_matching(broker: Broker) -> None:
    broker.faults.lost_ack(name="first")
    broker.faults.lost_ack(name="second")

    assert [rule.name for rule in broker.faults] == ["first", "second"]


def test_clear_returns_the_removed_rules_in_the_order_of_matching(broker: Broker) -> None:
    broker.faults.lost_ack(name="first")
    broker.faults.lost_ack(name="second")
    assert [removed.name for removed in broker.faults.clear()] == ["first", "second"]
    assert broker.faults.clear() == []


def test_disabled_rule_lets_requests_pass_until_it_is_enabled(broker: Broker) -> None:
    lost = broker.faults.lost_ack(topic="orders")
    lost.disable()
    send(broker.bootstrap_servers)
    matched_while_disabled = lost.matched

    lost.enable()
    send(broker.bootstrap_servers)

    assert (matched_while_disabled, lost.hits) == (0, 1)


def test_removed_rule_cannot_be_disabled(broker: Broker) -> None:
    lost = broker.faults.lost_ack()
    lost.remove()

    with pytest.raises(UnknownRuleError, match="there is no rule 1; rules in force: none"):
        lost.disable()


def test_rule_is_replaced_under_its_id(broker: Broker) -> None:
    broker.faults.lost_ack(name="lost")

    replaced = broker.faults.replace("lost", point="received", action={"kind": "observe"})

    assert [(rule.id, rule.name) for rule in broker.faults] == [(1, "")]
    assert replaced.id == 1


def test_replaced_rule_need_not_fire(broker: Broker) -> None:
    broker.faults.watch()
    broker.faults.lost_ack(name="lost")

    broker.faults.replace("lost", name="new", point="received", action={"kind": "observe"})

    assert [line.split(":")[0] for line in broker.faults.unfired()] == ["rule 1 'new'"]


def test_file_rule_is_disabled_by_name(broker: Broker) -> None:
    broker.files.add(name="full", action="disk_full")

    broker.files["full"].disable()

    assert send(broker.bootstrap_servers) == 0
