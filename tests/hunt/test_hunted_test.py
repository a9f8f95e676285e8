"""Tests with the mark fauxka_hunt, each in its own pytest run."""

import pytest

from ..testing.child_pytest import prepare, run_tests

pytestmark = pytest.mark.processes

pytest_plugins = ["pytester"]

# A send that is repeated by itself after a lost acknowledgement; only an idempotent producer is not doubled by that.
ORDERS = """
import asyncio
import pytest
from confluent_kafka import Producer

QUICK = {"retries": 5, "retry.backoff.ms": 20, "reconnect.backoff.ms": 20, "socket.timeout.ms": 2000, "log_level": 0}

def send(bootstrap, **config):
    producer = Producer({"bootstrap.servers": bootstrap, **QUICK, **config})
    producer.produce("orders", b"one coffee")
    assert producer.flush(20) == 0
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    return prepare(pytester, monkeypatch)


def test_a_marked_test_fails_with_the_fault_that_breaks_it(run: pytest.Pytester) -> None:
    run.makepyfile(
        ORDERS
        + """
@pytest.mark.fauxka_hunt(budget=2)
def test_order(fauxka, fauxka_bootstrap, tmp_path):
    send(fauxka_bootstrap)
    assert len(fauxka.records("orders")) == 1

@pytest.mark.fauxka_hunt(budget=2)
def test_order_of_an_idempotent_producer(fauxka, fauxka_bootstrap):
    send(fauxka_bootstrap, **{"enable.idempotence": True})
    assert len(fauxka.records("orders")) == 1
"""
    )

    result = run_tests(run)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "fauxka_hunt: check: AssertionError: assert 2 == 1, after lost acknowledgement: Produce to orders-0",
            "1. lost acknowledgement: Produce to orders-0",
            "   check: AssertionError: assert 2 == 1",
            "   in 3 of 3 more runs",
            "*/1",
            "   rules:",
            """      {"name": "lost acknowledgement", *, "point": "applied", "action": {"kind": "close"}}""",
            "   requests:",
            "*Produce 10 orders: no response; close at applied by rule 1",
            "   output:",
            "*in test_order",
        ]
    )
    assert "exit code" not in result.stdout.str()
    assert "what happened" not in result.stdout.str()


def test_the_files_of_a_finding_are_beside_the_reports_of_failed_tests(run: pytest.Pytester) -> None:
    run.makepyfile(
        ORDERS
        + """
@pytest.mark.fauxka_hunt(budget=1)
def test_order(fauxka, fauxka_bootstrap):
    send(fauxka_bootstrap)
    assert len(fauxka.records("orders")) == 1
"""
    )

    result = run_tests(run, "--fauxka-report", "reports")

    result.assert_outcomes(failed=1)
    (folder,) = (run.path / "reports").iterdir()
    assert f"   {folder / '1'}" in result.outlines
    assert sorted(file.name for file in folder.rglob("*") if file.is_file()) == [
        *("curl.sh", "index.html", "output.txt", "rules.json", "run.html")
    ]


def test_a_marked_coroutine_and_events_of_a_topic(run: pytest.Pytester) -> None:
    run.makepyfile(
        ORDERS
        + """
@pytest.mark.asyncio
@pytest.mark.fauxka_hunt(budget=2, topics=["orders"])
async def test_order(fauxka_bootstrap):
    await asyncio.to_thread(send, fauxka_bootstrap)
"""
    )

    result = run_tests(run, "-p", "pytest_asyncio")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*orders: 1 event ('one coffee') too many"])


DECORATED = """
import functools

CONFIG = {}

def idempotent(test):
    @functools.wraps(test)
    async def with_idempotence(**fixtures):
        CONFIG["enable.idempotence"] = True
        try:
            await test(**fixtures)
        finally:
            CONFIG.clear()
    return with_idempotence
"""


@pytest.mark.parametrize(("plugin", "mark"), [("pytest_asyncio", "asyncio"), ("anyio", "anyio")])
def test_a_marked_coroutine_keeps_its_decorators(run: pytest.Pytester, plugin: str, mark: str) -> None:
    run.makepyfile(
        ORDERS
        + DECORATED
        + f"""
@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.{mark}
class TestOrders:
    @pytest.mark.fauxka_hunt(budget=2)
    async def test_order(self, fauxka, fauxka_bootstrap):
        await asyncio.to_thread(send, fauxka_bootstrap)
        assert len(fauxka.records("orders")) == 1

@pytest.mark.{mark}
@pytest.mark.fauxka_hunt(budget=2)
@idempotent
async def test_order(fauxka, fauxka_bootstrap):
    await asyncio.to_thread(send, fauxka_bootstrap, **CONFIG)
    assert len(fauxka.records("orders")) == 1
"""
    )

    result = run_tests(run, "-p", plugin)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*in 3 of 3 more runs"])


@pytest.mark.parametrize(
    ("mark", "fixture", "words"),
    [
        (
            "bugdet=2",
            "fauxka",
            "fauxka_hunt: bugdet: there is no such argument; allowed: topics, groups, processed, event_id, *",
        ),
        ("budget='soon'", "fauxka", "fauxka_hunt: budget: 'soon' is no budget; *"),
        ("budget=2", "tmp_path", "fauxka_hunt: the test has no fixture of a broker; allowed: fauxka, *"),
        ("'60s'", "fauxka", "fauxka_hunt: '60s' has no name; allowed: budget='60s' and others"),
        ("jobs=0", "fauxka", "fauxka_hunt: jobs: 0; allowed: an integer >= 1"),
        ("timeout_seconds=0", "fauxka", "fauxka_hunt: timeout_seconds: 0; allowed: a number > 0"),
        (
            "event_id=b'x'",
            "fauxka",
            "fauxka_hunt: event_id: b'x' is no event id; allowed: value, key, header:NAME or json:PATH",
        ),
        ("topics='orders'", "fauxka", "fauxka_hunt: topics: 'orders' is a text; allowed: a list of topics"),
    ],
)
def test_a_wrong_mark_is_one_line(run: pytest.Pytester, mark: str, fixture: str, words: str) -> None:
    run.makepyfile(f"""
import pytest

@pytest.mark.fauxka_hunt({mark})
def test_order({fixture}):
    pass
""")

    result = run_tests(run)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([words])


def test_a_test_that_fails_without_a_fault_says_so(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.mark.fauxka_hunt
def test_order(fauxka):
    assert fauxka.journal.count() == 1
""")

    result = run_tests(run)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["fauxka_hunt: without a fault, the program raised AssertionError: *"])


def test_a_marked_test_may_skip_itself(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.mark.fauxka_hunt
def test_order(fauxka):
    pytest.skip("no order today")

@pytest.mark.asyncio
@pytest.mark.fauxka_hunt
async def test_late_order(fauxka):
    pytest.xfail("no order is late")
""")

    result = run_tests(run, "-p", "pytest_asyncio")

    result.assert_outcomes(skipped=1, xfailed=1)
