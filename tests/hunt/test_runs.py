"""Runs that fail in other ways than by their program, and what is read after a run."""

import sys
import time
from pathlib import Path
from threading import Event
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from fauxka.broker.replica.record_reader import StoredRecord
from fauxka.faults.rules.fault_rules import FaultRule
from fauxka.testing import Broker, CannotHunt, report_text
from fauxka.testing.broker_pool import Configuration
from fauxka.testing.errors import CallError
from fauxka.testing.hunting import hunted_test, in_process, learning, replay
from fauxka.testing.hunting.arguments import How, options_of
from fauxka.testing.hunting.budget import Budget
from fauxka.testing.hunting.changes import CHANGES, Change
from fauxka.testing.hunting.errors import StoppedEarly
from fauxka.testing.hunting.functions import Function
from fauxka.testing.hunting.hunt_program import hunt_program
from fauxka.testing.hunting.judgement import Outcome, judge
from fauxka.testing.hunting.learning import learn
from fauxka.testing.hunting.plan import plan_of
from fauxka.testing.hunting.program import Command, Place
from fauxka.testing.hunting.run import Setting, run_once

from .programs import fill, idempotent, send
from .test_faults_in_programs import judged
from .test_stopped_hunt import awaited_number, is_running

# A program of these settings is tried in less than a minute.
FEW = Budget(trials=3)


def test_a_pair_that_stops_all_nodes_is_judged() -> None:
    def run(broker: Broker) -> None:
        send(broker, [b"a", b"b"], **{"enable.idempotence": True, "message.timeout.ms": 3000})

    options = options_of(How(topics=["orders"], nodes=2), None, Budget())
    program = Function(run)
    faultless, targets, _ = learn(program, options.setting)
    killed = [trial for trial in plan_of(targets, 2) if str(trial).startswith("node killed: Produce")]
    rules = [rule for trial in killed for rule in trial.rules]
    assert len(rules) == 2

    judgement = judge(run_once(program, options.setting, rules, 20), faultless, options.promise)

    assert (judgement.outcome, judgement.hits) == (Outcome.ERROR, [True, True])


def test_offsets_that_a_hung_function_commits_after_its_run_are_none_of_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading, committed = Event(), Event()

    def program(broker: Broker) -> None:
        reading.wait()
        broker.groups.set_offsets("copy", {("orders", 0): 2})
        committed.set()

    def records_of(broker: Broker, topic: str) -> list[StoredRecord]:
        found = records(broker, topic)
        reading.set()
        committed.wait()
        return found

    records = Broker.records
    monkeypatch.setattr(Broker, "records", records_of)
    setting = options_of(How(topics=["orders"], seed_topics={"orders": 1}), None, Budget()).setting

    ended = run_once(Function(program), setting, [], 0.1)

    assert ended.ending.is_hung
    assert ended.committed == {}


def test_events_on_a_node_that_is_down_are_there() -> None:
    def program(broker: Broker) -> None:
        idempotent(broker)
        (partition,) = broker.partitions("orders")
        assert partition.leader is not None
        broker.stop_node(partition.leader, controlled=False, noticed=True)

    options = options_of(How(topics=["orders"], nodes=3, config={"default.replication.factor": 1}), None, Budget())

    run = run_once(Function(program), options.setting, [], 20)

    assert run.topics["orders"].events == {b"a": 1, b"b": 1}


@pytest.mark.hunt
def test_a_program_with_more_events_than_are_read_is_not_hunted() -> None:
    def program(broker: Broker) -> None:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "queue.buffering.max.messages": 200_000})
        for _ in range(100_100):
            producer.produce("orders", b"a")
        producer.flush()

    with pytest.raises(CannotHunt, match="orders has more than 100000 such records"):
        learn(Function(program), Setting(topics=["orders"]))


def test_a_change_that_cannot_be_made_lets_the_program_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(_broker: Broker, _held: object) -> None:
        raise CallError(409, "the producer has an open transaction")

    monkeypatch.setitem(CHANGES, "producers fenced", Change(("Produce",), make))

    judgement = judged("producers fenced: Produce 2 of 2 to orders-0", idempotent, topics=["orders"])

    assert (judgement.outcome, judgement.reasons) == (Outcome.NOT_JUDGED, ("the producer has an open transaction",))


def test_a_trial_whose_preparation_fails_ends_only_itself() -> None:
    count = 0

    def prepare(_: Broker) -> None:
        nonlocal count
        count += 1
        if count == learning.LEARNING_RUNS + 2:
            raise ValueError("no orders today")

    result = hunt_program(Function(idempotent), options_of(How(topics=["orders"], prepare=prepare), None, FEW))

    assert [each.judgement.outcome for each in result.tried] == [Outcome.HELD, Outcome.NOT_JUDGED, Outcome.HELD]
    assert result.tried[1].judgement.reasons == ("prepare: ValueError: no orders today",)
    assert "not judged: lost request: " in report_text(result)


def test_a_hunt_of_which_nothing_can_be_judged_fails() -> None:
    count = 0

    def prepare(_: Broker) -> None:
        nonlocal count
        count += 1
        if count > learning.LEARNING_RUNS:
            raise ValueError("no orders today")

    with pytest.raises(CannotHunt, match="no trial could be judged: prepare: ValueError: no orders today"):
        hunt_program(Function(idempotent), options_of(How(topics=["orders"], prepare=prepare), None, FEW))


def test_offsets_that_were_committed_before_the_program_tell_nothing_of_it() -> None:
    def prepare(broker: Broker) -> None:
        fill(broker)
        reader = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "before"})
        reader.commit(offsets=[TopicPartition("orders", 0, 2)], asynchronous=False)
        reader.close()

    def program(broker: Broker) -> None:
        send(broker, [b"c"], **{"enable.idempotence": True})

    fault = "TOPIC_AUTHORIZATION_FAILED: Produce to orders-0"

    assert judged(fault, program, topics=["orders"], prepare=prepare).outcome is Outcome.ERROR


def test_a_client_id_that_is_another_one_each_time_is_met() -> None:
    def program(broker: Broker) -> None:
        send(broker, [b"a", b"b"], **{"enable.idempotence": True, "client.id": f"sender-{uuid4()}"})

    judgement = judged("lost acknowledgement: Produce 2 of 2 to orders-0", program, topics=["orders"])

    assert (judgement.outcome, judgement.hits) == (Outcome.HELD, [True])


def test_two_clients_that_send_the_same_are_told_apart() -> None:
    def program(broker: Broker) -> None:
        send(broker, [b"a"], **{"client.id": "till"})
        send(broker, [b"b"], **{"client.id": "kitchen"})

    _, targets, _ = learn(Function(program), Setting(topics=["orders"]))

    produced = [str(target) for target in targets if target.api == "Produce"]
    assert produced == ["Produce to orders-0 from till", "Produce to orders-0 from kitchen"]


def test_of_many_partitions_in_a_request_three_are_tried() -> None:
    def program(broker: Broker) -> None:
        broker.topics.create("orders", partitions=7)
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 500})
        for partition in range(7):
            producer.produce("orders", b"a", partition=partition)
        producer.flush()

    _, targets, _ = learn(Function(program), Setting(topics=["orders"]))

    produced = [str(target) for target in targets if target.api == "Produce"]
    assert produced == [f"Produce to orders-{partition}" for partition in (0, 3, 6)]


def test_a_replay_of_a_slow_program_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "TIMEOUT_SECONDS_MIN", 0.5)
    monkeypatch.setattr(learning, "TIMEOUT_FACTOR", 1)
    starts = 0

    def program(broker: Broker) -> None:
        nonlocal starts
        starts += 1
        idempotent(broker)
        if starts > learning.LEARNING_RUNS:
            time.sleep(1.5)

    options = options_of(How(topics=["orders"]), None, Budget())

    assert replay.replayed(Function(program), options, list[FaultRule]()).judgement.outcome is Outcome.SLOW
    assert starts == learning.LEARNING_RUNS + 2


def test_a_finding_whose_request_is_not_sent_any_more_is_a_warning() -> None:
    rules = [{"match": {"api": "Produce", "topic": "others"}, "point": "applied", "action": {"kind": "close"}}]
    program = [sys.executable, str(Path(__file__).parent / "order_producer.py"), "idempotent"]

    with pytest.warns(UserWarning, match="no request met a fault"):
        replay.replay(program, rules, topics=["orders"])


def test_a_stopped_hunt_of_a_test_stops_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise StoppedEarly("stopped")

    monkeypatch.setattr(in_process, "hunt_program", stopped)

    framework = hunted_test.Framework((AssertionError,), (), Path)
    with pytest.raises(KeyboardInterrupt):
        hunted_test.hunt_test(idempotent, {"fauxka": None}, Configuration.of({}, None), framework, How())


def test_a_command_that_makes_a_process_group_is_ended_with_it(tmp_path: Path) -> None:
    words = ["sh", "-c", f"timeout 600 sleep 600 & echo $! > {tmp_path / 'child'}; wait"]
    with Broker() as broker:
        ending = Command(words).run(Place(broker, tmp_path), 1)

    assert ending.is_hung
    time.sleep(0.2)
    assert not is_running(awaited_number(tmp_path / "child"))
