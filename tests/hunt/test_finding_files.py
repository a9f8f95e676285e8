"""What a finding of a function keeps and writes: its output, its requests, its files, and a test."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from fauxka.testing import Broker, Result, hunt, replay, report_text
from fauxka.testing.hunting.arguments import How, options_of
from fauxka.testing.hunting.budget import Budget
from fauxka.testing.hunting.evidence import STARTED_AGAIN
from fauxka.testing.hunting.generated_test import text_of_test
from fauxka.testing.hunting.program import Command

from ..clients.aiokafka_client import aiokafka
from ..clients.kafka_python_client import kafka
from .programs import doubling, send

# kafka-python leaves sockets of connections that have failed to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
TEST_OF_A_FUNCTION = "test_finding_1.py"


def reporting(broker: Broker) -> None:
    """Send two events, and say that the result is wrong if one is there twice."""
    doubling(broker)
    assert len(broker.records("orders")) == 2, "an order is there twice"


def hunted_once() -> Result:
    result = hunt(reporting, budget=1)
    assert len(result.findings) == 1, report_text(result)
    return result


def test_a_finding_of_a_function_has_its_traceback_and_its_requests() -> None:
    (finding,) = hunted_once().findings
    evidence = finding.judgement.evidence

    assert finding.judgement.reasons == ["check: AssertionError: an order is there twice"]
    assert evidence.output.splitlines()[1].endswith(", in reporting")
    assert "\nAssertionError: an order is there twice" in evidence.output
    assert "no response; close at applied by rule 1" in evidence.requests[0]
    assert finding.found_seconds is not None


def test_a_result_writes_the_report_and_the_files_of_each_finding(tmp_path: Path) -> None:
    (tmp_path / "2").mkdir()
    (tmp_path / "2" / "rules.json").touch()
    result = hunted_once()

    page = result.write(tmp_path)

    assert page == tmp_path / "index.html"
    assert "an order is there twice" in page.read_text()
    assert sorted(str(file.relative_to(tmp_path)) for file in tmp_path.glob("*/*")) == [
        f"1/{name}" for name in ("curl.sh", "output.txt", "rules.json", "run.html", TEST_OF_A_FUNCTION)
    ]


def test_a_finding_of_a_function_is_a_test_that_fails_until_it_is_mended(tmp_path: Path) -> None:
    module = tmp_path / "orders.py"
    module.write_text(
        "from tests.hunt.programs import doubling, idempotent\n\ndef sent(broker):\n    doubling(broker)\n"
    )
    program = (
        "from fauxka.testing import hunt; import orders; hunt(orders.sent, topics=['orders'], budget=1).write('f')"
    )
    root = Path(__file__).parent.parent.parent
    variables = {"PYTHONPATH": f"{tmp_path}:{root}", "PATH": ""}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=variables, check=True, timeout=60)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"f/1/{TEST_OF_A_FUNCTION}"]

    first = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=60)
    module.write_text(module.read_text().replace("    doubling(", "    idempotent("))
    mended = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=60)

    assert "AssertionError: orders: 1 event ('a') too many, after lost acknowledgement: " in first.stdout
    assert mended.returncode == 0, mended.stdout


def test_a_function_that_no_test_can_import_has_no_test(tmp_path: Path) -> None:
    result = hunt(partial(send, events=[b"a"]), topics=["orders"], budget=1)

    result.write(tmp_path)

    assert (tmp_path / "1" / "rules.json").exists()
    assert not (tmp_path / "1" / TEST_OF_A_FUNCTION).exists()


def test_the_test_of_a_finding_has_all_options_that_are_not_the_default() -> None:
    (finding,) = hunted_once().findings
    how = How(groups=["billing"], processed=True, expect="at-least-once-in-order", as_version="3.9", restarts=1)

    text = text_of_test(finding, Command(["send"]), options_of(how, None, Budget())) or ""

    arguments = text.partition("        RULES,\n")[2].partition("    )\n")[0]
    assert arguments.split() == [
        *("groups=['billing'],", "processed=True,", "expect='at-least-once-in-order',"),
        *("restarts=1,", "as_version='3.9',"),
    ]


def test_a_function_is_run_once_more_with_the_rules_of_a_finding() -> None:
    (finding,) = hunted_once().findings

    again = replay(reporting, finding.rules)

    assert again.is_finding
    assert again.reasons == ["check: AssertionError: an order is there twice"]


def test_the_output_is_that_of_all_starts() -> None:
    def forgetting(broker: Broker) -> None:
        """Send an event, but not again after a failure: the topic is there by then."""
        if any(topic.name == "orders" for topic in broker.topics.list()):
            return
        send(broker, [b"a"], retries=0)

    result = hunt(forgetting, topics=["orders"], restarts=1, only=["TOPIC_AUTHORIZATION_FAILED"], budget=1)

    (finding,) = result.findings
    assert finding.judgement.kinds == {"missing"}
    output = finding.judgement.evidence.output
    assert output.endswith(f"RuntimeError: 1 orders were not sent\n{STARTED_AGAIN}")


def of_confluent_kafka(broker: Broker) -> None:
    send(broker, [b"a", b"b"])


async def of_aiokafka(broker: Broker) -> None:
    producer = aiokafka.AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, enable_idempotence=False)
    try:
        await producer.start()
        for event in (b"a", b"b"):
            await producer.send_and_wait("orders", event)
    finally:
        await producer.stop()


def of_kafka_python(broker: Broker) -> None:
    settings = {"bootstrap_servers": broker.bootstrap_servers, "enable_idempotence": False}
    with closing(kafka.KafkaProducer(**settings)) as producer:
        for event in (b"a", b"b"):
            producer.send("orders", event).get(60)


@pytest.mark.clients
@pytest.mark.parametrize("program", [of_confluent_kafka, of_aiokafka, of_kafka_python])
def test_the_faults_that_double_the_events_of_a_client_are_one_finding(program: Callable[[Broker], object]) -> None:
    faults = ["lost acknowledgement", "reset after it was applied", "REQUEST_TIMED_OUT although it was applied"]

    result = hunt(program, topics=["orders"], only=faults, budget=6, pairs=0, jobs=2)

    (finding,) = result.findings
    assert (finding.confirmed, finding.runs, finding.judgement.kinds) == (3, 3, frozenset({"too many"})), report_text(
        result
    )
    produced = {fault.name for trial in (finding.trial, *finding.others) for fault, _ in trial.faults}
    assert produced == set(faults)
