"""Programs that report what they process, judged by that: planted defects are found, and their mended twins hold."""

import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest
from confluent_kafka import Consumer, TopicPartition

from fauxka.testing import Broker, CannotHunt, hunt, report_text
from fauxka.testing.hunting.errors import BadHuntOption
from fauxka.testing.hunting.judgement import Judgement, Outcome

from ..serving_process import run
from .consumers import COUNT, GROUP, TOPIC, fill, is_committed, valid
from .programs import QUICK
from .test_faults_in_programs import judged

# What the program keeps of each broker, as in a table.
Known = WeakKeyDictionary[Broker, set[int]]


def process(
    broker: Broker,
    *,
    is_committed_first: bool = False,
    commits_position: bool = False,
    known: Known | None = None,
) -> None:
    """Read the orders, then process and report each, and commit it. Raises KafkaException.

    is_committed_first: whether it is committed before, and passed over if that is refused. commits_position: whether
    the position of the consumer is committed, which is behind all orders.
    known: the orders that are processed, which are not processed again; None to process each time.
    """
    settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": GROUP, **QUICK}
    ours = {"enable.auto.commit": False, "auto.offset.reset": "earliest", "session.timeout.ms": 6000}
    processed = set[int]() if known is None else known.setdefault(broker, set())
    with closing(Consumer({**settings, **ours})) as consumer:
        begin = max(0, consumer.committed([TopicPartition(TOPIC, 0)], timeout=20)[0].offset)
        consumer.subscribe([TOPIC])
        for offset, message in enumerate(consumer.consume(COUNT - begin, 20) if begin < COUNT else [], begin):
            if is_committed_first and not is_committed(consumer, valid(message)):
                continue
            if offset not in processed:
                processed.add(offset)
                broker.processed(TOPIC, 0, offset, group=GROUP)
            if commits_position:
                consumer.commit(offsets=[TopicPartition(TOPIC, 0, COUNT)], asynchronous=False)
            elif not is_committed_first:
                consumer.commit(message=valid(message), asynchronous=False)


def judged_by_reports(fault: str, program: Callable[[Broker], object], promise: str = "exactly-once") -> Judgement:
    return judged(fault, program, groups=[GROUP], processed=True, prepare=fill, expect=promise, restarts=1)


LOST_MEMBER = "members expired: OffsetCommit 2 of 3 to orders of billing"


@pytest.mark.parametrize(
    ("knows", "promise", "outcome"),
    [
        (False, "exactly-once", Outcome.BROKEN),
        (False, "at-least-once", Outcome.HELD),
        (True, "exactly-once", Outcome.HELD),
    ],
)
def test_record_that_is_processed_again_after_a_restart(*, knows: bool, promise: str, outcome: Outcome) -> None:
    program = partial(process, known=Known() if knows else None)

    judgement = judged_by_reports(LOST_MEMBER, program, promise)

    assert judgement.outcome is outcome
    if outcome is Outcome.BROKEN:
        assert judgement.kinds == {"processed twice"}
        first = "group billing: processed twice: orders-0, offset 1: the application processed them 2 times: "
        assert judgement.reasons[0].startswith(first)


@pytest.mark.parametrize(("commits_position", "outcome"), [(True, Outcome.BROKEN), (False, Outcome.HELD)])
def test_record_that_is_committed_before_it_is_processed(*, commits_position: bool, outcome: Outcome) -> None:
    program = partial(process, commits_position=commits_position)

    judgement = judged_by_reports(LOST_MEMBER, program, "at-least-once")

    assert judgement.outcome is outcome
    if outcome is Outcome.BROKEN:
        assert judgement.kinds == {"not processed"}
        assert "and 3 is committed, and the application never processed them" in judgement.reasons[0]


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (2, "committed unprocessed: orders-0, offset 1: "),
        (3, "orders-0: 1 of 3 not processed"),
    ],
)
def test_record_that_is_passed_over_with_a_refused_commit(number: int, reason: str) -> None:
    fault = f"REBALANCE_IN_PROGRESS: OffsetCommit {number} of 3 to orders of billing"
    program = partial(process, is_committed_first=True)

    judgement = judged_by_reports(fault, program, "at-least-once")

    assert (judgement.outcome, judgement.kinds) == (Outcome.BROKEN, frozenset({"not processed"}))
    assert judgement.reasons[0].startswith(f"group billing: {reason}")


def test_correct_program_is_not_accused() -> None:
    result = hunt(
        partial(process, known=Known()),
        groups=[GROUP],
        processed=True,
        prepare=fill,
        restarts=1,
        only=["lost acknowledgement", "lost request", "members expired", "crash after it was applied"],
        budget=8,
        jobs=2,
    )

    assert not result.findings, report_text(result)


def test_program_that_reports_nothing_is_not_hunted() -> None:
    def read(broker: Broker) -> None:
        process(broker, known=WeakKeyDictionary({broker: set(range(COUNT))}))

    with pytest.raises(CannotHunt, match="the program reported nothing that group billing has processed"):
        hunt(read, groups=[GROUP], processed=True, prepare=fill)


def test_reports_without_a_group_are_refused() -> None:
    with pytest.raises(BadHuntOption, match="processed: reports are about the records of a group"):
        hunt(process, topics=[TOPIC], processed=True)


# -- a command

PROGRAM = """
import json, os, urllib.request
from contextlib import closing
from confluent_kafka import Consumer, Producer, TopicPartition

address = {"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"], "log_level": 0}
ours = {"group.id": "billing", "enable.auto.commit": False, "auto.offset.reset": "earliest", "session.timeout.ms": 6000}
with closing(Consumer({**address, **ours})) as consumer:
    begin = max(0, consumer.committed([TopicPartition("orders", 0)], timeout=20)[0].offset)
    consumer.subscribe(["orders"])
    for offset in range(begin, 2):
        message = consumer.poll(20)
        report = {"group": "billing", "topic": "orders", "partition": 0, "offset": message.offset()}
        body = json.dumps(report).encode()
        headers = {"Content-Type": "application/json"}
        urllib.request.urlopen(urllib.request.Request(os.environ["FAUXKA_ADMIN"] + "/v1/processed", body, headers))
        consumer.commit(message=message, asynchronous=False)
"""
FILL = """
import os
from confluent_kafka import Producer

producer = Producer({"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"]})
for order in ("a", "b"):
    producer.produce("orders", order)
producer.flush()
"""


@pytest.mark.processes
@pytest.mark.parametrize(("promise", "exit_code"), [("exactly-once", 1), ("at-least-once", 0)])
def test_command_reports_to_the_admin_api(tmp_path: Path, promise: str, exit_code: int) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "fill.py").write_text(FILL)
    words = ["--group", GROUP, "--processed", "--prepare", f"{sys.executable} {tmp_path / 'fill.py'}"]
    words += ["--expect", promise, "--restarts", "1", "--only", "members expired", "--pairs", "0"]

    ended = run("hunt", *words, "-o", str(tmp_path / "found"), "--", sys.executable, str(tmp_path / "program.py"))

    assert ended.exit_code == exit_code, ended.output + ended.log
    if exit_code:
        assert "group billing: processed twice: orders-0, offset" in ended.output
        (test,) = (tmp_path / "found" / "1").glob("test_finding_*.py")
        assert "processed=True" in test.read_text()
