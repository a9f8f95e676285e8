"""What pytest shows of a failed test: the section on its broker, and a traceback that ends in the test."""

import pytest

from .child_pytest import SEND, prepare, run_tests

pytestmark = pytest.mark.processes

pytest_plugins = ["pytester"]

HEADING = "*- fauxka: what happened -*"


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    return prepare(pytester, monkeypatch)


def sections(result: pytest.RunResult) -> int:
    return sum("- fauxka: what happened -" in line for line in result.outlines)


def test_a_failed_test_shows_requests_verdict_and_rules(run: pytest.Pytester) -> None:
    run.makepyfile(
        SEND
        + """
def test_wrong(fauxka, faults):
    faults.lost_ack(topic="orders")
    faults.hang(topic="payments")
    send(fauxka.bootstrap_servers)
    assert fauxka.verdict("orders").records.in_log == 2
"""
    )

    result = run_tests(run)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            HEADING,
            "rdkafka * broker",
            "* Produce orders: producer 0 epoch 0 sequences 0..0 *",
            "* sequences 0..0 appended at offsets 0..0 *",
            "* lost: close at applied: rule 1 'lost ack' X - - - offset 0 *",
            "* a new connection *",
            "* Produce orders: producer 0 epoch 0 sequences 0..0 *",
            "*<* offset 0 *",
            "Verdict",
            "  orders: appended once 1, duplicates recognised 1, 1 record in the log",
            "Fault rules",
            "  rule 1 'lost ack': 1 hits, *",
            "  rule 2 'hang': 0 hits, *",
            "    1 request first differed at topic: orders, not payments",
        ]
    )
    result.stdout.no_fnmatch_line("*ApiVersions -*")


def test_a_passed_test_does_not_even_load_the_report(run: pytest.Pytester) -> None:
    run.makeconftest("""
import sys

def pytest_unconfigure():
    print("LOADED", [name for name in sys.modules if name.startswith("fauxka.scenarios.")])
""")
    run.makepyfile("def test_right(fauxka): pass")

    result = run_tests(run, "-s", "-rA")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["LOADED *[[]]"])
    assert sections(result) == 0


def test_a_failure_of_a_fixture_and_of_its_teardown_are_reported(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.fixture
def refused(fauxka):
    raise ValueError("refused")

@pytest.fixture
def unclosed(fauxka):
    yield
    raise ValueError("unclosed")

def test_setup(refused):
    pass

def test_teardown(unclosed):
    pass
""")

    result = run_tests(run)

    result.assert_outcomes(passed=1, errors=2)
    assert sections(result) == 2


def test_a_test_that_fails_twice_has_one_section(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.fixture
def unclosed(fauxka):
    yield
    raise ValueError("unclosed")

def test_both(unclosed):
    assert 1 == 2
""")

    result = run_tests(run)

    result.assert_outcomes(failed=1, errors=1)
    assert sections(result) == 1


def test_a_skipped_test_and_one_that_fails_as_expected_have_no_section(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

def test_skipped(fauxka):
    pytest.skip("later")

@pytest.mark.xfail
def test_expected(fauxka):
    assert 1 == 2
""")

    result = run_tests(run, "-rA")

    result.assert_outcomes(skipped=1, xfailed=1)
    assert sections(result) == 0


def test_a_failed_asyncio_test_in_a_worker_of_xdist_is_reported(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.mark.asyncio
async def test_wrong(fauxka):
    assert 1 == 2
""")

    result = run_tests(run, "-n", "1")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([HEADING, "The broker received no requests."])


def test_the_requests_of_earlier_tests_with_the_session_broker_are_left_out(run: pytest.Pytester) -> None:
    run.makepyfile(
        SEND
        + """
def test_first(fauxka_broker):
    send(fauxka_broker.bootstrap_servers, "orders")

def test_second(fauxka_broker):
    send(fauxka_broker.bootstrap_servers, "payments")
    assert 1 == 2
"""
    )

    result = run_tests(run)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([HEADING, "* Produce payments: *"])
    result.stdout.no_fnmatch_line("* Produce orders: *")


def test_a_broker_of_the_test_itself_has_no_section(run: pytest.Pytester) -> None:
    run.makepyfile("""
from fauxka.testing import Broker

def test_wrong():
    with Broker():
        assert 1 == 2
""")

    result = run_tests(run)

    result.assert_outcomes(failed=1)
    assert sections(result) == 0


def test_a_report_that_cannot_be_made_is_one_line_beside_the_failure(run: pytest.Pytester) -> None:
    run.makepyfile("""
def test_stopped(fauxka):
    fauxka.stop()
    assert 1 == 2
""")

    result = run_tests(run, "-W", "error")

    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(["E * assert 1 == 2"])
    result.stdout.fnmatch_lines(
        [HEADING, "not available, BrokerStateError: the broker is stopped *"],
        consecutive=True,
    )


UNKNOWN_PRODUCER = """
def test_unknown(fauxka):
    fauxka.producers.forget(7)
"""


def test_a_traceback_ends_in_the_test(run: pytest.Pytester) -> None:
    run.makepyfile(UNKNOWN_PRODUCER)

    result = run_tests(run)

    result.stdout.fnmatch_lines(
        [">       fauxka.producers.forget(7)", "E       *CallError: producer 7 has no entry in any topic"],
        consecutive=True,
    )
    result.stdout.no_fnmatch_line("*producer_operations.py*")
    result.stdout.no_fnmatch_line("*_base.py*")


def test_all_frames_are_shown_with_full_trace(run: pytest.Pytester) -> None:
    run.makepyfile("""
def wrong():
    raise ValueError("of the test")

def test_call(fauxka):
    fauxka.call(wrong)
""")

    result = run_tests(run, "--full-trace")

    result.stdout.fnmatch_lines(["*testing/broker.py:*"])


def test_a_function_that_the_broker_calls_stays_in_the_traceback(run: pytest.Pytester) -> None:
    run.makepyfile("""
def wrong():
    raise ValueError("of the test")

def test_call(fauxka):
    fauxka.call(wrong)
""")

    result = run_tests(run)

    result.stdout.fnmatch_lines([">       fauxka.call(wrong)", '>       raise ValueError("of the test")'])
    result.stdout.no_fnmatch_line("*testing/broker.py*")


def test_a_failed_test_with_a_marked_flow_shows_its_verdict(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

def event(id):
    return {"value": "v", "partition": 0, "headers": {"id": id}}

@pytest.mark.fauxka_flow("orders", "invoices", event_id="header:id")
@pytest.mark.fauxka_flow("orders", "letters", "header:id")
def test_wrong(fauxka):
    fauxka.topics.create("orders")
    fauxka.topics.create("invoices")
    fauxka.topics.seed("orders", [event("a"), event("b")])
    fauxka.topics.seed("invoices", [event("a"), event("a")])
    assert False
""")

    result = run_tests(run)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            HEADING,
            "From input to output",
            "  orders to letters: there is no topic 'letters'",
            "  orders to invoices: input 2, output 1, lost 1, doubled 1",
            "    lost: b (0@1 to nowhere): *",
            "    doubled: a (0@0 to 0@0, 0@1): *",
        ]
    )


def test_a_mark_of_a_flow_with_other_arguments_fails_the_test(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.mark.fauxka_flow("orders")
def test_right(fauxka):
    pass
""")

    result = run_tests(run)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*MarkedFlow*missing 2 required positional arguments: 'to_topic' and 'event_id'"])
