"""Broker in a thread: every operation that a test can use."""

import threading
import time
from collections.abc import Iterator

import pytest

from fauxka.admin.errors import CallError
from fauxka.faults.actions import Delay
from fauxka.faults.files.file_rules import FileRule
from fauxka.faults.rule_error import RuleError
from fauxka.faults.rules.fault_rules import FaultRule
from fauxka.faults.rules.match import Match

from .producing import send
from .transports import Broker, in_a_thread_only

pytestmark = pytest.mark.clients

EIGHT_DAYS_MS = 8 * 24 * 3600 * 1000


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


def test_a_lost_ack_is_sent_again_and_recognised(broker: Broker) -> None:
    with broker.faults.lost_ack(topic="orders") as lost:
        offset = send(broker.bootstrap_servers)

    verdict = broker.verdict("orders")
    assert (offset, lost.hits) == (0, 1)
    assert (verdict.batches.appended_once, verdict.batches.duplicates_recognised) == (1, 1)


def test_a_lost_ack_without_idempotence_is_in_the_log_twice(broker: Broker) -> None:
    with broker.faults.lost_ack(topic="orders"):
        send(broker.bootstrap_servers, is_idempotent=False)

    [finding] = broker.verdict("orders").findings
    assert (finding.kind, finding.offsets) == ("appended_twice", [0, 1])


def test_events_that_were_sent_twice_are_identified_by_their_key(broker: Broker) -> None:
    for _ in range(2):
        send(broker.bootstrap_servers)

    assert broker.verdict("orders").records.duplicates == 0
    assert broker.verdict("orders", event_id="key").records.duplicates == 1


def test_a_rule_is_removed_at_the_end_of_its_block(broker: Broker) -> None:
    with broker.faults.lost_ack():
        assert len(broker.faults.rules) == 1

    assert broker.faults.rules == []


def test_a_removed_rule_keeps_its_counts(broker: Broker) -> None:
    with broker.faults.lost_ack(times=2) as lost:
        send(broker.bootstrap_servers)

    assert (lost.id, lost.name, lost.hits, lost.remaining, lost.rule.name) == (1, "lost ack", 2, 0, "lost ack")
    assert lost.last_hit_ms is not None


@pytest.mark.parametrize(
    "arguments",
    [
        FaultRule(name="slow", match=Match(api="Metadata"), point="applied", action=Delay(ms=1)),
        {"name": "slow", "match": {"api": "Metadata"}, "point": "applied", "action": {"kind": "delay", "ms": 1}},
    ],
)
def test_a_rule_is_armed_from_an_object_or_json(broker: Broker, arguments: FaultRule | dict[str, object]) -> None:
    rule = broker.faults.add(arguments)

    send(broker.bootstrap_servers)

    assert rule.rule == FaultRule(name="slow", match=Match(api="Metadata"), point="applied", action=Delay(ms=1))
    assert rule.hits == 1


def test_a_rule_is_armed_by_its_fields(broker: Broker) -> None:
    rule = broker.faults.add(match={"api": "Metadata"}, point="applied", action={"kind": "delay", "ms": 1})

    assert rule.rule == FaultRule(match=Match(api="Metadata"), point="applied", action=Delay(ms=1))


def test_an_invalid_rule_is_refused_with_the_field_name(broker: Broker) -> None:
    with pytest.raises(RuleError, match=r"action\.ms"):
        broker.faults.add(point="applied", action={"kind": "delay", "ms": "long"})


def test_await_hits_returns_the_hits(broker: Broker) -> None:
    rule = broker.faults.observed(api="Produce", topic="orders")
    sending = threading.Thread(target=lambda: [send(broker.bootstrap_servers) for _ in range(2)])
    sending.start()

    hits = rule.await_hits(2, timeout_ms=20_000)

    sending.join()
    assert hits == 2


def test_await_hits_times_out_with_the_near_misses(broker: Broker) -> None:
    rule = broker.faults.lost_ack(topic="orders", partition=1)
    send(broker.bootstrap_servers)

    with pytest.raises(TimeoutError) as raised:
        rule.await_hits(timeout_ms=1)

    lines = str(raised.value).splitlines()
    assert lines[0] == "0 of 1 hits after 1 ms"
    assert lines[2] == "    1 request first differed at partition: 0, not 1"


def test_held_requests_continue_in_the_order_of_their_release(broker: Broker) -> None:
    holding = broker.faults.held(topic="orders", times=2)
    sending = [threading.Thread(target=send, args=(broker.bootstrap_servers, "orders", value)) for value in "ab"]
    sending[0].start()
    holding.await_hits(1, timeout_ms=20_000)
    sending[1].start()
    holding.await_hits(2, timeout_ms=20_000)

    first, second = broker.held.list()
    broker.held.release(second, first)
    for thread in sending:
        thread.join()

    produced = broker.journal.entries(api="Produce")
    assert [entry.batches[0].base_offset for entry in produced] == [1, 0]
    assert broker.held.list() == []


def test_a_request_that_is_not_held_cannot_be_released(broker: Broker) -> None:
    with pytest.raises(CallError, match="there is no held request 7"):
        broker.held.release(7)


def test_the_journal_is_filtered_by_the_fields_of_a_match(broker: Broker) -> None:
    send(broker.bootstrap_servers, "orders")
    since = broker.journal.last_id
    send(broker.bootstrap_servers, "payments")

    assert [entry.batches[0].topic for entry in broker.journal.entries(api="Produce")] == ["orders", "payments"]
    assert broker.journal.count(api="Produce", topic="orders") == 1
    assert broker.journal.count(api="Metadata", topic="orders") >= 1
    assert broker.journal.count(api="Produce", since=since, topic="orders") == 0
    assert broker.journal.count(api="Fetch") == 0
    assert broker.journal.dropped == 0


def test_an_advanced_clock_expires_producers(broker: Broker) -> None:
    send(broker.bootstrap_servers)
    [producer] = broker.producers.list("orders", 0)

    broker.clock.set_mode("manual")
    before_ms = broker.clock.now_ms
    moved = broker.clock.advance(EIGHT_DAYS_MS)

    assert producer.next_sequence == 1
    assert (broker.clock.mode, moved.now_ms - before_ms) == ("manual", EIGHT_DAYS_MS)
    assert broker.producers.list() == []


def test_a_clock_in_real_mode_runs(broker: Broker) -> None:
    broker.clock.set_mode("manual")
    stood_at_ms = broker.clock.now_ms
    broker.clock.set_mode("real")

    deadline = time.monotonic() + 10
    while broker.clock.now_ms == stood_at_ms:
        assert time.monotonic() < deadline


def test_the_state_of_a_producer_is_changed(broker: Broker) -> None:
    send(broker.bootstrap_servers)
    [known] = broker.producers.list(topic="orders")

    evicted = broker.producers.evict_cache(known.producer_id)
    bumped = broker.producers.bump_epoch(known.producer_id, "orders")
    forgotten = broker.producers.forget(known.producer_id, "orders", 0)

    assert [len(each.cached) for each in (*evicted, *bumped)] == [1, 0]
    assert [each.producer_epoch for each in (*bumped, *forgotten)] == [0, 1]
    assert broker.producers.list() == []


def test_an_unknown_producer_cannot_be_changed(broker: Broker) -> None:
    with pytest.raises(CallError):
        broker.producers.expire(7)


def test_a_full_disk_fails_writes_until_its_rule_is_removed(broker: Broker) -> None:
    send(broker.bootstrap_servers)
    with broker.files.add(action="disk_full", folder="orders-0") as full:
        refused = broker.faults.observed(api="Produce")
        sending = threading.Thread(target=send, args=(broker.bootstrap_servers,))
        sending.start()
        refused.await_hits(2, timeout_ms=20_000)
    sending.join()

    assert full.hits >= 1
    assert broker.verdict("orders").batches.appended_once == 2


def test_file_rules_have_the_format_of_the_admin_api(broker: Broker) -> None:
    rule = broker.files.add({"action": "fail", "operation": "fsync"})

    assert rule.rule == FileRule(action="fail", operation="fsync")
    assert [each.id for each in broker.files.rules] == [rule.id]


def test_a_crash_loses_no_acknowledged_record_and_keeps_the_port(broker: Broker) -> None:
    address = broker.bootstrap_servers
    send(address)

    broker.crash()
    was_running = broker.is_running
    broker.restart()

    assert (was_running, broker.is_running, broker.bootstrap_servers) == (False, True, address)
    assert send(address) == 1


def test_a_crashed_broker_restarts_by_the_clock(broker: Broker) -> None:
    broker.clock.set_mode("manual")
    broker.crash(restart_after_ms=60_000)

    broker.clock.advance(60_000)

    assert send(broker.bootstrap_servers) == 0


def test_a_crash_without_snapshots_keeps_the_producers_of_the_log(broker: Broker) -> None:
    send(broker.bootstrap_servers)
    known = broker.producers.list()

    broker.crash()
    broker.restart(snapshots="drop")

    assert broker.producers.list() == known


def test_exception_of_a_call_is_raised_in_the_test(broker: Broker) -> None:
    with pytest.raises(ZeroDivisionError):
        broker.call(lambda: 1 // 0)


def test_a_port_in_use_is_reported(broker: Broker) -> None:
    from fauxka.broker.network.listeners import ListenerConfig

    port = int(broker.bootstrap_servers.rpartition(":")[2])

    with pytest.raises(OSError, match="address already in use"):
        Broker(listeners=[ListenerConfig(port=port)]).start()


def test_a_reset_leaves_nothing_but_the_address(broker: Broker) -> None:
    address = broker.bootstrap_servers
    send(address)
    broker.clock.set_mode("manual")
    broker.faults.hang()
    broker.files.add(action="read_only")

    broker.reset()

    assert (broker.bootstrap_servers, broker.clock.mode) == (address, "real")
    assert (broker.faults.rules, broker.files.rules) == ([], [])
    assert (broker.journal.count(), broker.producers.list()) == (0, [])
    assert send(address) == 0


def test_a_reset_of_faults_leaves_the_data(broker: Broker) -> None:
    send(broker.bootstrap_servers)
    broker.faults.hang(times=None)

    broker.reset("faults")

    assert broker.faults.rules == []
    assert send(broker.bootstrap_servers) == 1


def test_a_reset_of_the_journal_leaves_the_data(broker: Broker) -> None:
    send(broker.bootstrap_servers)

    broker.reset("journal")

    assert broker.journal.count() == 0
    assert send(broker.bootstrap_servers) == 1


def test_a_reset_starts_a_broker_that_is_down(broker: Broker) -> None:
    broker.crash()

    broker.reset()

    assert broker.is_running
    assert send(broker.bootstrap_servers) == 0


def test_a_hanging_client_continues_after_a_reset_of_faults(broker: Broker) -> None:
    hanging = broker.faults.hang()
    sending = threading.Thread(target=send, args=(broker.bootstrap_servers,))
    sending.start()
    hanging.await_hits(timeout_ms=20_000)

    broker.reset("faults")
    sending.join(20)

    assert not sending.is_alive()
    assert broker.verdict("orders").batches.duplicates_recognised == 1


def test_an_invalid_event_id_is_refused(broker: Broker) -> None:
    with pytest.raises(RuleError, match="event_id cannot be 'values'"):
        broker.verdict("orders", event_id="values")


def test_a_snapshot_can_be_restored_repeatedly(broker: Broker) -> None:
    send(broker.bootstrap_servers)
    known = broker.producers.list()
    snapshot_id = broker.snapshot()

    for _ in range(2):
        send(broker.bootstrap_servers)
        send(broker.bootstrap_servers, "payments")
        broker.restore(snapshot_id)

        assert broker.verdict("orders").records.in_log == 1
        with pytest.raises(CallError, match="there is no topic 'payments'"):
            broker.verdict("payments")
        assert broker.producers.list() == known


def test_an_unknown_snapshot_cannot_be_restored(broker: Broker) -> None:
    with pytest.raises(CallError, match="there is no snapshot 7"):
        broker.restore(7)


@in_a_thread_only
def test_a_call_may_be_nested(broker: Broker) -> None:
    assert broker.call(lambda: broker.clock.mode) == "real"


@in_a_thread_only
def test_a_crashed_broker_can_be_stopped() -> None:
    with Broker() as broker:
        broker.crash(restart_after_ms=60_000)

    assert not broker.is_running


@in_a_thread_only
def test_repr_of_a_rule_is_one_line_with_action_state_and_counts(broker: Broker) -> None:
    lost = broker.faults.lost_ack(topic="orders")
    full = broker.files.add(action="disk_full", enabled=False)

    assert repr(lost) == "<rule 1 'lost ack': close at applied, 0 hits, 0 matched>"
    assert repr(full) == "<rule 1 '': disk_full, disabled, 0 hits, 0 matched>"


@in_a_thread_only
def test_repr_of_a_broker_is_one_line_with_address_state_and_topics(broker: Broker) -> None:
    broker.topics.create("orders")
    running = repr(broker)
    broker.crash()

    assert running == f"<Broker {broker.bootstrap_servers}, running, topics: 1>"
    assert repr(broker) == f"<Broker {broker.bootstrap_servers}, not running, topics: 0>"
    assert repr(Broker()) == "<Broker, not started>"
