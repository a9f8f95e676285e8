"""Pairs of faults at requests that were in flight together."""

from collections.abc import Sequence

from confluent_kafka import Producer

from fauxka.testing import Broker
from fauxka.testing.hunting.finding import Tried
from fauxka.testing.hunting.functions import Function
from fauxka.testing.hunting.judgement import Damage, Judgement, Outcome
from fauxka.testing.hunting.learning import learn
from fauxka.testing.hunting.pairs import TwoTargets, pairs_of
from fauxka.testing.hunting.plan import Trial, faults_of
from fauxka.testing.hunting.run import Setting

from .programs import QUICK, raise_failure, send

HELD, BROKEN = Judgement(Outcome.HELD), Judgement(Outcome.BROKEN, ("x",), [Damage("missing", "x", ())])
FAULTS = {fault.name: fault for fault in faults_of("Produce")}
DROPPED, REFUSED, CLOSED = "dropped response", "NOT_LEADER_OR_FOLLOWER", "lost acknowledgement"


def send_to_two_partitions(broker: Broker) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, **QUICK, "batch.num.messages": 1})
    for partition in (0, 1):
        producer.produce("orders", b"a", partition=partition, on_delivery=raise_failure)
        producer.flush()
    for event in (b"b", b"c"):
        for partition in (0, 1):
            producer.produce("orders", event, partition=partition, on_delivery=raise_failure)
    producer.flush()


def is_at_close(pair: Trial) -> bool:
    return any(fault.name == CLOSED for fault, _ in pair.faults)


def in_flight_of_two_partitions() -> Sequence[TwoTargets]:
    setting = Setting(topics=["orders"], seed_topics={"orders": 2})
    return learn(Function(send_to_two_partitions), setting).in_flight


def test_requests_that_do_not_wait_for_each_other_are_in_flight_together() -> None:
    pairs = in_flight_of_two_partitions()

    first, second = pairs[0]
    assert {str(first), str(second)} == {"Produce 2 of 3 to orders-0", "Produce 2 of 3 to orders-1"}
    assert {str(target) for pair in pairs for target in pair} == {
        f"Produce {number} of 3 to orders-{partition}" for number in (2, 3) for partition in (0, 1)
    }


def test_requests_that_wait_for_each_other_are_not_in_flight_together() -> None:
    def program(broker: Broker) -> None:
        send(broker, [b"a", b"b", b"c"])

    assert learn(Function(program), Setting(topics=["orders"])).in_flight == []


def test_faults_at_requests_in_flight_come_first_and_drops_before_closes() -> None:
    in_flight = in_flight_of_two_partitions()
    targets = list(dict.fromkeys(target for pair in in_flight for target in pair))
    singles = [Trial([(FAULTS[name], target)]) for name in (CLOSED, REFUSED, DROPPED) for target in targets]
    tried = [Tried(trial, HELD, 1.0) for trial in singles]

    pairs = pairs_of(tried, in_flight, 100, seed=1)

    at_first = [pair for pair in pairs if {target for _, target in pair.faults} == set(in_flight[0])]
    names = [sorted(fault.name for fault, _ in pair.faults) for pair in at_first]
    assert names[:3] == [[DROPPED, DROPPED], [REFUSED, DROPPED], [REFUSED, DROPPED]]
    assert names[-1] == [CLOSED, CLOSED]
    before_closes = pairs[: next(number for number, pair in enumerate(pairs) if is_at_close(pair))]
    assert len({frozenset(target for _, target in pair.faults) for pair in before_closes}) > 1


def test_a_fault_that_breaks_the_program_alone_is_in_no_pair() -> None:
    in_flight = in_flight_of_two_partitions()
    tried = [
        Tried(Trial([(FAULTS[name], target)]), judgement, 1.0)
        for name, judgement in ((DROPPED, HELD), (REFUSED, BROKEN))
        for target in in_flight[0]
    ]

    assert {fault.name for pair in pairs_of(tried, in_flight, 9, seed=1) for fault, _ in pair.faults} == {DROPPED}
