"""Faults of a plan, each at one request of a small program."""

import gc
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import Unpack

import pytest

from fauxka.testing import Broker
from fauxka.testing.hunting.arguments import How, options_of
from fauxka.testing.hunting.budget import Budget
from fauxka.testing.hunting.functions import Function
from fauxka.testing.hunting.judgement import Judgement, Outcome, judge
from fauxka.testing.hunting.learning import learn
from fauxka.testing.hunting.plan import plan_of
from fauxka.testing.hunting.run import run_once

from ..clients.kafka_python_client import kafka
from .programs import book, book_in_flight, copy_as_member, count_as_member, fill, idempotent, send, send_in_flight

LATE_MS = 2500


def judged(fault: str, run: Callable[[Broker], object], **how: Unpack[How]) -> Judgement:
    """Return the judgement of a run with the first trial of the plan whose name begins like that."""
    options = options_of(how, None, Budget())
    program, setting = Function(run), options.setting
    faultless, targets, _ = learn(program, setting)
    plan = plan_of(targets, setting.broker.nodes, LATE_MS)
    trial = next((trial for trial in plan if str(trial).startswith(fault)), None)
    assert trial is not None, list(map(str, plan))
    return judge(run_once(program, setting, trial.rules, 20), faultless, options.promise)


def test_a_producer_expires_in_the_middle() -> None:
    assert (
        judged("producers expired: Produce 2 of 2 to orders-0", idempotent, topics=["orders"]).outcome is Outcome.HELD
    )


@pytest.mark.parametrize("fault", ["producers expired", "applied late", "hanging request"])
def test_no_request_in_flight_overtakes_the_one_with_the_fault(fault: str) -> None:
    def program(broker: Broker) -> None:
        send_in_flight(
            broker, [b"a", b"b", b"c"], has_keys=False, **{"enable.idempotence": True, "request.timeout.ms": 1000}
        )

    judgement = judged(f"{fault}: Produce 1 of 3 to orders-0", program, topics=["orders"])

    assert (judgement.outcome, judgement.kinds) == (Outcome.HELD, frozenset())


@pytest.mark.parametrize("api", ["AddOffsetsToTxn", "EndTxn", "Produce", "AddPartitionsToTxn"])
def test_a_fenced_producer_of_transactions_reports_it(api: str) -> None:
    program = partial(book, attempts=1)
    faultless, targets, _ = learn(Function(program), options_of(How(topics=["orders"]), None, Budget()).setting)
    names = [str(trial) for trial in plan_of(targets) if str(trial).startswith(f"producers fenced: {api}")]

    outcomes = [judged(name, program, topics=["orders"]).outcome for name in names]

    assert outcomes == [Outcome.ERROR] * len(names)
    assert bool(names) == any(entry.api == api for entry in faultless.requests)


def test_a_late_request_of_a_producer_without_idempotence_is_appended_twice() -> None:
    def program(broker: Broker) -> None:
        send(broker, [b"a"], **{"request.timeout.ms": 500})

    assert judged("applied late: Produce to orders-0", program, topics=["orders"]).kinds == {"too many"}


@pytest.mark.parametrize(("is_idempotent", "kinds"), [(False, ["too many"]), (True, [])])
@pytest.mark.parametrize("fault", ["dropped response", "changed correlation id"])
def test_a_response_that_is_not_the_own_one_is_a_lost_acknowledgement(
    fault: str, is_idempotent: bool, kinds: list[str]
) -> None:
    def program(broker: Broker) -> None:
        send(broker, [b"a"], **{"enable.idempotence": is_idempotent})

    judgement = judged(f"{fault}: Produce to orders-0", program, topics=["orders"])

    assert list(judgement.kinds) == kinds


def test_a_hanging_request_is_sent_again_without_a_loss() -> None:
    assert (
        judged("hanging request: Produce to orders-0", partial(send, events=[b"a"]), topics=["orders"]).outcome
        is Outcome.HELD
    )


@pytest.mark.parametrize(
    ("is_idempotent", "has_keys", "kinds"),
    [(False, False, ["reordered"]), (True, False, []), (False, True, ["reordered"])],
)
def test_an_error_at_one_of_the_requests_in_flight_reorders_without_idempotence(
    is_idempotent: bool, has_keys: bool, kinds: list[str]
) -> None:
    def program(broker: Broker) -> None:
        config = {"enable.idempotence": is_idempotent}
        send_in_flight(broker, [b"a", b"b", b"c"], has_keys=has_keys, **config)

    judgement = judged("NOT_ENOUGH_REPLICAS: Produce 2 of 3 to orders-0", program, topics=["orders"])

    assert list(judgement.kinds) == kinds


@pytest.mark.parametrize(
    ("is_idempotent", "has_keys", "kinds"),
    [(False, False, ["reordered"]), (True, False, []), (False, True, [])],
)
def test_an_order_of_each_key_is_promised_for_events_of_one_key(
    is_idempotent: bool, has_keys: bool, kinds: list[str]
) -> None:
    def program(broker: Broker) -> None:
        config = {"enable.idempotence": is_idempotent}
        send_in_flight(broker, [b"a", b"b", b"c"], has_keys=has_keys, **config)

    fault = "NOT_ENOUGH_REPLICAS: Produce 2 of 3 to orders-0"

    assert list(judged(fault, program, topics=["orders"], expect="at-least-once-in-order").kinds) == kinds
    assert not judged(fault, program, topics=["orders"], expect="at-least-once").kinds


def test_a_batch_that_is_sent_again_behind_one_of_an_aborted_transaction_is_in_order() -> None:
    program = partial(book_in_flight, events=[b"a", b"b", b"c"], attempts=2)

    judgement = judged("TOPIC_AUTHORIZATION_FAILED: Produce 1 of 3 to orders-0", program, topics=["orders"])

    assert (judgement.outcome, judgement.reasons) == (Outcome.HELD, ())


@pytest.mark.parametrize(("skips_counted", "kinds"), [(False, ["state"]), (True, [])])
def test_a_record_that_is_counted_twice_gives_a_wrong_state(skips_counted: bool, kinds: list[str]) -> None:
    program = partial(count_as_member, skips_counted=skips_counted)
    how = How(topics=["totals"], prepare=fill, expect="effectively-once", restarts=1)

    judgement = judged("REBALANCE_IN_PROGRESS: OffsetCommit 1 of 2 to orders of count", program, **how)

    assert list(judgement.kinds) == kinds


@pytest.mark.parametrize(("acks", "kinds"), [("1", ["missing"]), ("all", [])])
def test_a_killed_leader_loses_what_it_alone_has_acknowledged(acks: str, kinds: list[str]) -> None:
    fault = "node killed before its followers had it: Produce 1 of 2 to orders-0"

    judgement = judged(fault, partial(send, events=[b"a", b"b"], acks=acks), topics=["orders"], nodes=3)

    assert list(judgement.kinds) == kinds


def send_between_other_work(broker: Broker) -> None:
    """Send events with acks=1 while another thread keeps the client from reading its responses at once."""
    with closing(kafka.KafkaProducer(bootstrap_servers=broker.bootstrap_servers, acks=1)) as producer:
        for event in (b"a", b"b"):
            acknowledged = producer.send("orders", event)
            end = time.monotonic() + 0.1
            while time.monotonic() < end:
                sum(range(1000))
            acknowledged.get(10)


@pytest.mark.hunt
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_every_replay_of_a_killed_leader_loses_what_the_client_was_told_of() -> None:
    options = options_of(How(topics=["orders"], nodes=3), None, Budget())
    program, setting = Function(send_between_other_work), options.setting
    faultless, targets, _ = learn(program, setting)
    name = "node killed before its followers had it: Produce 1 of 2 to orders-0"
    (trial,) = (trial for trial in plan_of(targets, 3) if str(trial) == name)

    def replayed(_: int) -> str:
        judgement = judge(run_once(program, setting, trial.rules, 20), faultless, options.promise)
        return ", ".join((judgement.outcome.value, *judgement.kinds))

    with ThreadPoolExecutor(4) as pool:
        outcomes = Counter(pool.map(replayed, range(20)))

    assert outcomes == {"broken, missing": 20}
    # kafka-python leaves sockets to the garbage collector.
    gc.collect()


@pytest.mark.parametrize(("attempts", "outcome"), [(2, Outcome.HELD), (1, Outcome.ERROR)])
def test_a_transaction_expires_before_its_end(attempts: int, outcome: Outcome) -> None:
    fault = "transactions expired: EndTxn of book"

    assert judged(fault, partial(book, attempts=attempts), topics=["orders"]).outcome is outcome


def test_a_member_expires_before_it_commits() -> None:
    fault = "members expired: OffsetCommit 1 of 2 to orders of copy"
    how = How(topics=["copies"], prepare=fill, expect="at-least-once", restarts=1)

    assert judged(fault, copy_as_member, **how).outcome is Outcome.HELD


@pytest.mark.parametrize(("is_committed_first", "outcome"), [(True, Outcome.BROKEN), (False, Outcome.ERROR)])
def test_an_error_of_a_program_that_has_committed_the_event_is_a_loss(
    is_committed_first: bool, outcome: Outcome
) -> None:
    fault = "TOPIC_AUTHORIZATION_FAILED: Produce 2 of 2 to copies-0"
    program = partial(copy_as_member, is_committed_first=is_committed_first)

    judgement = judged(fault, program, topics=["copies"], prepare=fill, expect="at-least-once")

    assert judgement.outcome is outcome
    assert any("committed the offsets" in reason for reason in judgement.reasons) == is_committed_first
