"""`fauxka hunt` on a program with a known defect, and on one without."""

import json
import os
import re
import shlex
import subprocess
import sys
import urllib.request
from fnmatch import fnmatch
from html import escape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ..serving_process import run, serving

pytestmark = pytest.mark.processes

PROGRAM = (sys.executable, str(Path(__file__).parent / "order_producer.py"))
DOUBLING, MENDED = (*PROGRAM, "plain"), (*PROGRAM, "idempotent")
# The first three faults, each at one request.
TRIALS = ("--budget", "3", "--jobs", "2")
WITHOUT_ID = """
import os, uuid
from confluent_kafka import Producer

producer = Producer({"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"]})
producer.produce("orders", uuid.uuid4().bytes.hex())
producer.flush()
"""

# The same order has another value in each run. It is sent again without idempotence.
NUMBERED = """
import sys, os, uuid
from confluent_kafka import Producer

def send(bootstrap):
    quick = {"retries": 5, "retry.backoff.ms": 20, "reconnect.backoff.ms": 20, "socket.timeout.ms": 2000}
    producer = Producer({"bootstrap.servers": bootstrap, **quick})
    producer.produce("orders", uuid.uuid4().bytes.hex(), headers={"id": "order 7"})
    assert producer.flush(20) == 0
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
    assert "not tried: 2 broken, 1 held; 3 of " in output.splitlines()[-1]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["1", "hunt.json", "index.html"]
    page = (tmp_path / "index.html").read_text()
    assert "<h1>fauxka hunt: 1 finding</h1>" in page
    assert "lost acknowledgement: Produce 1 of 3 to orders-0</h2>" in page
    timeline = (tmp_path / "1" / "run.html").read_text()
    assert f'srcdoc="{escape(timeline)}"' in page
    assert "lost acknowledgement" in timeline.partition("</title>")[0]
    assert json.loads((tmp_path / "1" / "rules.json").read_text())[0]["action"] == {"kind": "close"}


def test_a_finding_is_replayed_and_its_test_fails(tmp_path: Path) -> None:
    hunt(tmp_path, "--budget", "1", "--", *DOUBLING)
    rules = str(tmp_path / "1" / "rules.json")

    again = hunt(tmp_path, "--replay", rules, "--", *DOUBLING)
    mended = hunt(tmp_path, "--replay", rules, "--", *MENDED)
    test = tmp_path / "1" / "test_finding_1.py"
    checked = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)],
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert (again[0], again[1].splitlines()[0]) == (1, "broken")
    assert "   output:\n" in again[1]
    assert again[1].endswith("\nsent 3 orders\n")
    assert (mended[0], mended[1].splitlines()[0]) == (0, "held")
    page = (tmp_path / "replay.html").read_text()
    assert "\nsent 3 orders</pre>" in page or "<pre>sent 3 orders</pre>" in page
    assert "Timeline" in page
    assert checked.returncode == 1, checked.stdout
    sentence = "orders: 1 event ('order 0') too many, after lost acknowledgement: Produce 1 of 3 to orders-0"
    assert f'    assert not replayed.is_finding, "{sentence}"\n' in test.read_text()
    assert f"AssertionError: {sentence}" in checked.stdout
    (rule,) = json.loads(Path(rules).read_text())
    assert f"RULES = [\n    {rule!r},\n]\n" in test.read_text()


def test_all_findings_of_an_earlier_hunt_are_removed_and_nothing_else(tmp_path: Path) -> None:
    for file in ("2/rules.json", "2/test_finding_2.py", "12/rules.json", "12/notes.txt", "mine/rules.json"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()

    code, _, log = hunt(tmp_path, "--budget", "1", "--", *MENDED)

    assert code == 0, log
    left = sorted(str(file.relative_to(tmp_path)) for file in tmp_path.glob("*/*"))
    assert left == ["12/notes.txt", "mine/rules.json"]


@pytest.mark.parametrize("is_test", [True, False])
def test_a_test_or_a_program_with_an_address_is_hunted_by_a_header_of_its_events(tmp_path: Path, is_test: bool) -> None:
    if is_test:
        file = tmp_path / "test_orders.py"
        file.write_text(NUMBERED + '\n\ndef test_orders():\n    send(os.environ["FAUXKA_BOOTSTRAP_SERVERS"])\n')
        words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    else:
        file = tmp_path / "orders.py"
        file.write_text(f"{NUMBERED}\nsend(sys.argv[1])\n")
        words = [str(file), "{bootstrap}"]

    code, output, log = hunt(
        tmp_path / "found", "--event-id", "header:id", "--budget", "1", "--", sys.executable, *words
    )

    assert code == 1, log
    assert "1. lost acknowledgement: Produce to orders-0\n   orders: 1 event ('order 7') too many\n" in output


def test_the_curl_lines_of_a_finding_add_its_rules_to_a_running_broker(tmp_path: Path) -> None:
    hunt(tmp_path, *TRIALS, "--", *DOUBLING)
    command = tmp_path / "bin" / "fauxka"
    command.parent.mkdir()
    with serving(tmp_path, "--admin-port", "0") as broker:
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -m fauxka "$@" --ready-file {broker.ready_file}\n')
        command.chmod(0o755)
        path = f"{command.parent}:{os.environ['PATH']}"
        subprocess.run(["sh", str(tmp_path / "1" / "curl.sh")], env=os.environ | {"PATH": path}, check=True)
        with urllib.request.urlopen(f"{broker.admin}/v1/rules") as response:
            (rule,) = json.load(response)["items"]

    (wanted,) = json.loads((tmp_path / "1" / "rules.json").read_text())
    assert {name: rule[name] for name in wanted} == wanted


def test_a_terminal_shows_how_far_the_hunt_is(tmp_path: Path) -> None:
    terminal, of_hunt = os.openpty()
    words = ("hunt", "--topic", "orders", *TRIALS, "-o", str(tmp_path), "--", *MENDED)
    subprocess.run([sys.executable, "-m", "fauxka", *words], stdout=subprocess.PIPE, stderr=of_hunt, check=True)
    os.close(of_hunt)
    shown = os.read(terminal, 100_000).decode()
    os.close(terminal)

    lines = [line for line in shown.split("\r\x1b[K") if " trials, " in line]
    # How many trials there are depends on the requests of the first run.
    planned = lines[0].partition(" of ")[2].partition(" ")[0]
    assert int(planned) > 3
    heads = [line.partition(" trials, 0 found, ")[0] for line in lines]
    assert list(dict.fromkeys(heads)) == [f"{number} of {planned}" for number in (1, 2, 3)]
    assert all(re.search(r", [0-9]+ a minute, [0-9]+ s left$", line) for line in lines)
    # Nothing of it is left before the report.
    assert shown.endswith("\r\x1b[K")


def test_an_idempotent_producer_holds(tmp_path: Path) -> None:
    code, output, log = hunt(tmp_path, *TRIALS, "--", *MENDED)

    assert code == 0, output + log
    assert "3 held" in output
    assert sorted(each.name for each in tmp_path.iterdir()) == ["hunt.json", "index.html"]
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
    assert sorted(each.name for each in tmp_path.iterdir()) == ["hunt.json", "index.html"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--budget", "soon"),
            "--budget: 'soon' is no budget; allowed: a duration such as 90s, 5m or 1h, or a number of trials",
        ),
        (
            ("--event-id", "header:"),
            "--event-id: 'header:' is no event id; allowed: value, key, header:NAME or json:PATH",
        ),
        (
            ("--only", "lost requests"),
            "--only: 'lost requests' is no fault; allowed: a name of the table of a report; did you mean lost request?",
        ),
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


def test_a_hunt_goes_on_where_the_earlier_one_has_ended(tmp_path: Path) -> None:
    first = hunt(tmp_path, "--budget", "2", "--", *DOUBLING)
    timeline = (tmp_path / "1" / "run.html").read_bytes()
    result = tmp_path / "result.json"

    code, output, log = hunt(tmp_path, "--budget", "2", "--continue", "--json", str(result), "--", *DOUBLING)

    tried = [each["faults"][0]["name"] for each in json.loads(result.read_text())["tried"]]
    assert (first[0], code) == (1, 1), log
    assert len(tried) == len(set(tried)) == 4
    assert "1. lost acknowledgement: Produce 1 of 3 to orders-0\n" in output
    assert (tmp_path / "1" / "run.html").read_bytes() == timeline
    assert hunt(tmp_path, "--continue", "--seed", "7", "--", *DOUBLING)[2] == (
        "fauxka: --continue: the earlier hunt has --seed 0, not 7\n"
    )
