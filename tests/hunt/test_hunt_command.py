"""`fauxka hunt` on a program with a known defect, and on one without."""

import json
import shlex
import subprocess
import sys
from fnmatch import fnmatch
from html import escape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ..serving_process import run

PROGRAM = (sys.executable, str(Path(__file__).parent / "order_producer.py"))
DOUBLING, MENDED = (*PROGRAM, "plain"), (*PROGRAM, "idempotent")
# Lost acknowledgements are tried first: of three equivalent requests all.
TRIALS = ("--budget", "3", "--jobs", "2")
WITHOUT_ID = """
import os, uuid
from confluent_kafka import Producer

producer = Producer({"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"]})
producer.produce("orders", uuid.uuid4().bytes.hex())
producer.flush()
"""


def hunt(folder: Path, *words: str) -> tuple[int, str, str]:
    """Return exit code, output and log of a hunt that writes its findings to a folder."""
    ended = run("hunt", "--topic", "orders", "-o", str(folder), *words, seconds_max=120)
    return ended.exit_code, ended.output, ended.log


def test_a_producer_without_idempotence_is_found_to_double_an_event(tmp_path: Path) -> None:
    code, output, log = hunt(tmp_path, *TRIALS, "--", *DOUBLING)

    assert code == 1, log
    assert "1. lost acknowledgement: Produce 1 of 3 to orders-0\n   orders: 1 event ('order 0') too many\n" in output
    assert "in 3 of 3 more runs" in output
    assert "not tried: 3 broken; 1 of " in output.splitlines()[-1]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["1", "index.html"]
    page = (tmp_path / "index.html").read_text()
    assert "<h1>fauxka hunt: 1 finding</h1>" in page
    assert "lost acknowledgement: Produce 1 of 3 to orders-0</h2>" in page
    timeline = (tmp_path / "1" / "run.html").read_text()
    assert f'srcdoc="{escape(timeline)}"' in page
    assert "lost acknowledgement" in timeline.partition("</title>")[0]
    assert json.loads((tmp_path / "1" / "rules.json").read_text())[0]["action"] == {"kind": "close"}


def test_a_finding_is_replayed_and_its_test_fails(tmp_path: Path) -> None:
    hunt(tmp_path, *TRIALS, "--", *DOUBLING)
    rules = str(tmp_path / "1" / "rules.json")

    again = hunt(tmp_path, "--replay", rules, "--", *DOUBLING)
    mended = hunt(tmp_path, "--replay", rules, "--", *MENDED)
    test = tmp_path / "1" / "test_finding.py"
    checked = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)],
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert (again[0], again[1].splitlines()[0]) == (1, "broken")
    assert (mended[0], mended[1]) == (0, "held\n")
    assert checked.returncode == 1, checked.stdout
    assert "orders: 1 event ('order 0') too many" in checked.stdout
    assert len(test.read_text().splitlines()) <= 25


def test_an_idempotent_producer_holds(tmp_path: Path) -> None:
    code, output, log = hunt(tmp_path, *TRIALS, "--", *MENDED)

    assert code == 0, output + log
    assert "3 held" in output
    assert [each.name for each in tmp_path.iterdir()] == ["index.html"]
    assert "<h1>fauxka hunt: nothing found</h1>" in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("raise SystemExit('no orders')", "without a fault, the program ended with exit code 1: no orders"),
        ("pass", "the program wrote no event to orders"),
        (WITHOUT_ID, "without a fault, two runs of the program differ: orders: 1 event ('*') in one run only; *"),
    ],
)
def test_a_program_that_fails_without_a_fault_is_not_hunted(tmp_path: Path, program: str, words: str) -> None:
    code, output, log = hunt(tmp_path, "--", sys.executable, "-c", program)

    assert (code, output) == (3, "")
    assert fnmatch(log, f"fauxka: {words}\n")


@pytest.mark.parametrize(
    ("check", "program", "words"),
    [
        ("false", "import fauxka", "without a fault, the check fails: the check ended with exit code 1"),
        (
            "true",
            "import fauxka",
            "the program sent no request that a fault can be at: does it use the address of the broker?",
        ),
    ],
)
def test_a_program_that_cannot_be_judged_is_not_hunted(tmp_path: Path, check: str, program: str, words: str) -> None:
    ended = run("hunt", "--check", check, "-o", str(tmp_path), "--", sys.executable, "-c", program, seconds_max=60)

    assert (ended.exit_code, ended.output, ended.log) == (3, "", f"fauxka: {words}\n")


def test_a_check_that_fails_after_a_fault_is_in_the_results_for_ci(tmp_path: Path) -> None:
    # It counts what the second of three orders has left.
    counted = "from confluent_kafka import Consumer, TopicPartition; import os; "
    counted += "c = Consumer({'bootstrap.servers': os.environ['KAFKA_BOOTSTRAP_SERVERS'], 'group.id': 'c'}); "
    counted += "count = c.get_watermark_offsets(TopicPartition('orders', 0))[1]; "
    counted += "raise SystemExit(f'{count} orders' if count != 3 else 0)"
    check = shlex.join((sys.executable, "-c", counted))
    junit, result = tmp_path / "junit.xml", tmp_path / "result.json"
    files = ("--junit", str(junit), "--json", str(result))

    ended = run(
        "hunt", *TRIALS, "--check", check, *files, "-o", str(tmp_path / "found"), "--", *DOUBLING, seconds_max=120
    )

    assert ended.exit_code == 1, ended.log
    assert "   check: 4 orders\n" in ended.output
    (suite,) = ElementTree.fromstring(junit.read_text())
    assert {case.attrib["message"] for case in suite.iter("failure")} == {"check: 4 orders; the program ended well"}
    assert json.loads(result.read_text())["findings"][0]["reasons"][0] == "check: 4 orders"


def test_a_hunt_that_cannot_begin_keeps_what_an_earlier_one_has_found(tmp_path: Path) -> None:
    hunt(tmp_path, *TRIALS, "--", *DOUBLING)
    result = tmp_path / "result.json"

    assert hunt(tmp_path, "--json", str(result), "--", "false")[0] == 3
    assert not result.exists()
    assert (tmp_path / "1" / "rules.json").exists()

    assert hunt(tmp_path, *TRIALS, "--", *MENDED)[0] == 0
    assert [each.name for each in tmp_path.iterdir()] == ["index.html"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--budget", "soon"),
            "--budget: 'soon' is no budget; allowed: a duration such as 90s, 5m or 1h, or a number of trials",
        ),
        (("--event-id", "header:"), "--event-id: 'header:' is no event id; allowed: value, key or header:NAME"),
        (("--seed-topic", "a:0"), "--seed-topic: 'a:0' is no topic; allowed: NAME or NAME:PARTITIONS"),
        (("--json", "/no/such/x"), "--json: /no/such/x cannot be written: No such file or directory"),
        (("--check", "no-such"), "--check: 'no-such' cannot be run: No such file or directory; allowed: a program"),
        (("-c", "x"), "-c: expected key=value, got 'x'"),
        (("-c", "num.partitions=x"), "-c: Invalid value x for configuration num.partitions: Not a number of type INT"),
        (("--replay", "rules.json", "--json", "x"), "--json: not with --replay"),
    ],
)
def test_a_bad_option_is_one_line(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    assert hunt(tmp_path, *options, "--", "true") == (2, "", f"fauxka: {words}\n")


def test_a_command_that_does_not_exist_is_one_line(tmp_path: Path) -> None:
    code, _, log = hunt(tmp_path, "--", "no-such-program")

    assert code == 2
    assert log == "fauxka: COMMAND: 'no-such-program' cannot be run: No such file or directory; allowed: a program\n"
