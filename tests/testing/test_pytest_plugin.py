"""The fixtures of the pytest plugin, each in its own pytest run."""

from importlib.metadata import entry_points
from pathlib import Path

import pytest

from .child_pytest import SEND, prepare, run_tests

pytestmark = [pytest.mark.processes, pytest.mark.slice]

pytest_plugins = ["pytester"]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    return prepare(pytester, monkeypatch)


def test_the_plugin_is_loaded_wherever_the_package_is_installed() -> None:
    [entry] = [entry for entry in entry_points(group="pytest11") if entry.name == "fauxka"]

    assert entry.value == "fauxka.pytest_plugin"


def test_a_test_gets_an_empty_broker_after_a_test_that_left_data(run: pytest.Pytester) -> None:
    run.makepyfile(
        SEND
        + """
@pytest.mark.parametrize("time", range(2))
def test_first_record_has_offset_0(fauxka, fauxka_bootstrap, time):
    assert fauxka.journal.count() == 0
    send(fauxka_bootstrap)
    assert fauxka.verdict("orders").records.in_log == 1
"""
    )

    run_tests(run).assert_outcomes(passed=2)


def test_all_tests_of_a_process_share_one_broker(run: pytest.Pytester) -> None:
    run.makepyfile("""
brokers = []

def test_first(fauxka):
    brokers.append(fauxka)

def test_second(fauxka, fauxka_broker):
    assert brokers == [fauxka] == [fauxka_broker]
""")

    run_tests(run).assert_outcomes(passed=2)


def test_a_fault_that_fired_passes(run: pytest.Pytester) -> None:
    run.makepyfile(
        SEND
        + """
def test_lost_ack(fauxka_bootstrap, faults, fauxka):
    with faults.lost_ack(topic="orders") as lost:
        send(fauxka_bootstrap)
    assert lost.hits == 1
    assert fauxka.verdict("orders").batches.duplicates_recognised == 1
"""
    )

    run_tests(run).assert_outcomes(passed=1)


UNFIRED = (
    SEND
    + """
def test_other_partition(fauxka_bootstrap, faults):
    with faults.lost_ack(topic="orders", partition=7):
        send(fauxka_bootstrap)
"""
)


def test_a_fault_that_never_fired_fails_the_test_and_reports_its_near_misses(run: pytest.Pytester) -> None:
    run.makepyfile(UNFIRED)

    result = run_tests(run)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*rule 1 'lost ack': 0 hits, 0 matched: *",
            "*1 request first differed at partition: 0, not 7",
            "*fauxka_allow_unfired*",
        ]
    )


def test_a_test_that_failed_anyway_reports_its_own_failure(run: pytest.Pytester) -> None:
    run.makepyfile("""
def test_wrong(faults):
    faults.lost_ack()
    assert 1 == 2
""")

    result = run_tests(run)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E * assert 1 == 2"])
    result.stdout.no_fnmatch_line("*fauxka_allow_unfired*")


@pytest.mark.parametrize("arguments", ["", "('lost ack')"])
def test_a_marker_allows_unfired_faults(run: pytest.Pytester, arguments: str) -> None:
    run.makepyfile(f"""
import pytest

@pytest.mark.fauxka_allow_unfired{arguments}
def test_no_request(faults):
    faults.lost_ack()
""")

    run_tests(run).assert_outcomes(passed=1)


def test_a_marker_with_names_allows_only_these(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.mark.fauxka_allow_unfired("lost ack")
def test_no_request(faults):
    faults.lost_ack()
    faults.hang()
""")

    result = run_tests(run)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*_ test_no_request _*", "rule 2 'hang': 0 hits*", "*fauxka_allow_unfired*"], consecutive=True
    )


def test_an_unfired_fault_fails_an_asyncio_test_too(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.mark.asyncio
async def test_no_request(faults):
    faults.lost_ack()
""")

    run_tests(run).assert_outcomes(failed=1)


def test_an_unfired_file_rule_fails_the_test_too(run: pytest.Pytester) -> None:
    run.makepyfile("""
def test_no_write(fauxka):
    fauxka.files.add(action="disk_full", name="full")
""")

    result = run_tests(run)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*'full': 0 hits*"])


@pytest.mark.parametrize("broker", ["fauxka", "fauxka_broker"])
def test_an_unfired_fault_fails_a_test_without_the_fixture_faults(run: pytest.Pytester, broker: str) -> None:
    run.makepyfile(f"""
def test_no_request({broker}):
    {broker}.faults.lost_ack()
""")

    result = run_tests(run)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*'lost ack': 0 hits*"])


def test_an_unfired_fault_of_a_fixture_fails_the_test(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.fixture
def lossy(fauxka):
    with fauxka.faults.lost_ack():
        yield

def test_no_request(lossy):
    pass
""")

    run_tests(run).assert_outcomes(failed=1)


def test_a_rule_that_a_wider_fixture_keeps_in_force_need_not_fire_in_each_test(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.fixture(scope="module")
def lossy(fauxka_broker):
    with fauxka_broker.faults.lost_ack():
        yield

def test_no_request(lossy, fauxka_broker):
    assert len(fauxka_broker.faults.rules) == 1
""")

    run_tests(run).assert_outcomes(passed=1)


def test_faults_of_a_test_are_removed_before_the_next_one(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.mark.fauxka_allow_unfired
def test_first(faults):
    faults.hang(times=None)

def test_second(faults):
    assert faults.rules == []
""")

    run_tests(run).assert_outcomes(passed=2)


def test_the_clock_is_reset_before_the_next_test(run: pytest.Pytester) -> None:
    run.makepyfile("""
import time

def test_first(fauxka):
    fauxka.clock.set_mode("manual")
    fauxka.clock.advance(8 * 24 * 3600 * 1000)

def test_second(fauxka):
    assert fauxka.clock.mode == "real"
    assert abs(fauxka.clock.now_ms - time.time() * 1000) < 10_000
""")

    run_tests(run).assert_outcomes(passed=2)


def test_the_broker_is_configured_by_the_ini_file(run: pytest.Pytester) -> None:
    run.makeini("[pytest]\nfauxka_config =\n    num.partitions=3\n    auto.create.topics.enable = false\n")
    run.makepyfile("""
def test_config(fauxka):
    config = fauxka.cluster.node.config
    assert (config.num_partitions, config.auto_create_topics_enable) == (3, False)
""")

    run_tests(run).assert_outcomes(passed=1)


def test_the_broker_is_configured_by_a_fixture(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.fixture(scope="session")
def fauxka_config():
    return {"num.partitions": "5"}

def test_config(fauxka):
    assert fauxka.cluster.node.config.num_partitions == 5
""")

    run_tests(run).assert_outcomes(passed=1)


def test_the_version_on_the_command_line_overrides_the_ini_file(run: pytest.Pytester) -> None:
    run.makeini("[pytest]\nfauxka_as_version = 2.4\n")
    run.makepyfile("def test_version(fauxka): pass")

    run_tests(run).assert_outcomes(passed=1)
    result = run_tests(run, "--fauxka-as-version", "the-newest")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the-newest*"])


def test_the_broker_is_not_imported_without_a_fixture(run: pytest.Pytester) -> None:
    run.makepyfile("""
import sys

def test_modules():
    loaded = sorted(name for name in sys.modules if name.startswith("fauxka."))
    # The packages without a module of theirs.
    plugins = ["fauxka.pytest_plugin", "fauxka.testing.pytest_releases"]
    assert loaded == sorted(["fauxka.rare_parts", "fauxka.scenarios", "fauxka.testing", *plugins])
""")

    run_tests(run).assert_outcomes(passed=1)


def test_each_worker_of_xdist_has_its_own_broker(run: pytest.Pytester, tmp_path: Path) -> None:
    run.makepyfile(
        SEND
        + f"""
import pathlib

@pytest.mark.parametrize("number", range(8))
def test_one_record(fauxka, faults, fauxka_bootstrap, worker_id, number):
    with faults.lost_ack(topic="orders"):
        send(fauxka_bootstrap)
    assert fauxka.verdict("orders").records.in_log == 1
    (pathlib.Path({str(tmp_path)!r}) / worker_id).write_text(fauxka_bootstrap)
"""
    )

    run_tests(run, "-n", "2").assert_outcomes(passed=8)

    addresses = [file.read_text() for file in tmp_path.iterdir()]
    assert len(addresses) == len(set(addresses)) >= 1


KEPT_PRODUCER = """
from confluent_kafka import Producer

producers = []

def send():
    producers[0].produce("orders", value="one coffee")
    assert producers[0].flush(30) == 0

def test_first(fauxka, fauxka_broker):
    # After the reset for this test, which would come before or after the id of an earlier producer.
    config = {"bootstrap.servers": fauxka.bootstrap_servers, "enable.idempotence": True, "log_level": 0}
    producers.append(Producer(config))
    send()
    assert fauxka.verdict("orders").findings == []

def test_second(fauxka):
    send()
    assert {assertion}
"""


def test_a_failed_test_reports_the_records_of_a_producer_made_before_it(run: pytest.Pytester) -> None:
    run.makepyfile(KEPT_PRODUCER.replace("{assertion}", "False"))

    result = run_tests(run)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["Earlier producers", "  a producer made before this test wrote 1 record to orders-0 (producer 0)"]
    )


def test_a_passed_test_reports_nothing_of_a_producer_made_before_it(run: pytest.Pytester) -> None:
    run.makepyfile(KEPT_PRODUCER.replace("{assertion}", "True"))

    result = run_tests(run, "-rA")

    result.assert_outcomes(passed=2)
    result.stdout.no_fnmatch_line("*made before this test*")


def test_a_failed_test_without_such_a_producer_has_no_such_section(run: pytest.Pytester) -> None:
    run.makepyfile(
        SEND
        + """
def test_wrong(fauxka_bootstrap):
    send(fauxka_bootstrap)
    assert False
"""
    )

    result = run_tests(run)

    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*made before this test*")


def test_connections_of_a_test_are_closed_before_the_next_one(run: pytest.Pytester) -> None:
    run.makepyfile("""
import socket

connections = []

def test_first(fauxka):
    host, port = fauxka.bootstrap_servers.split(":")
    connections.append(socket.create_connection((host, int(port)), 10))

def test_second(fauxka):
    assert connections[0].recv(1) == b""
""")

    run_tests(run).assert_outcomes(passed=2)


@pytest.mark.parametrize("order", ["fauxka, fauxka_secured", "fauxka_secured, fauxka"])
@pytest.mark.parametrize("name", ["fauxka", "fauxka_secured"])
def test_an_unfired_fault_of_either_broker_fails_the_test(run: pytest.Pytester, order: str, name: str) -> None:
    run.makepyfile(f"""
def test_no_request({order}):
    {name}.faults.lost_ack(topic="orders")
""")

    result = run_tests(run)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["rule 1 'lost ack': 0 hits*"])
    assert sum(line.startswith("<Broker ") for line in result.outlines) == 2
