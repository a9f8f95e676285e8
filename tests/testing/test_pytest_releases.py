"""Tests under several Kafka versions, each in a pytest run of its own."""

import pytest

from .child_pytest import prepare, run_tests

pytestmark = pytest.mark.processes

pytest_plugins = ["pytester"]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    return prepare(pytester, monkeypatch)


def test_a_marked_test_runs_under_each_version(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest
from confluent_kafka.admin import AdminClient

@pytest.mark.fauxka_versions("2.8", "3.9", "4.4")
def test_topics(fauxka, fauxka_as_version):
    AdminClient({"bootstrap.servers": fauxka.bootstrap_servers}).list_topics("orders", timeout=30)
    metadata = {"2.8": 11, "3.9": 12, "4.4": 13}[fauxka_as_version]
    assert {each.api_version for each in fauxka.journal.entries(api="Metadata")} == {metadata}
""")

    result = run_tests(run, "-v")

    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines([f"*::test_topics[[]kafka-{version}]*" for version in ("2.8", "3.9", "4.4")])


def test_a_list_of_versions_runs_each_test_with_a_broker_under_each(run: pytest.Pytester) -> None:
    run.makepyfile("""
def test_broker(fauxka_bootstrap, fauxka_as_version):
    assert fauxka_as_version in ("2.1", "3.9")

def test_session_broker(fauxka_broker, fauxka):
    assert fauxka is fauxka_broker

def test_without_a_broker():
    pass
""")

    run_tests(run, "--fauxka-as-version=2.1,3.9").assert_outcomes(passed=5)


def test_the_ini_file_has_a_list_of_versions_too(run: pytest.Pytester) -> None:
    run.makeini("[pytest]\nfauxka_as_version = 2.8, 4.0\n")
    run.makepyfile("def test_broker(fauxka): pass")

    run_tests(run).assert_outcomes(passed=2)
    run_tests(run, "--fauxka-as-version=3.9").assert_outcomes(passed=1)


def test_the_mark_has_precedence_over_the_fixture_of_a_module_and_this_one_over_the_list(run: pytest.Pytester) -> None:
    run.makepyfile("""
import pytest

@pytest.fixture
def fauxka_as_version():
    return "3.6"

def test_overridden(fauxka, fauxka_as_version):
    assert fauxka_as_version == "3.6"

@pytest.mark.fauxka_versions("2.8")
def test_marked(fauxka, fauxka_as_version):
    assert fauxka_as_version == "2.8"
""")

    run_tests(run, "--fauxka-as-version=2.1,3.9").assert_outcomes(passed=2)


def test_the_report_of_a_failed_test_names_the_version(run: pytest.Pytester) -> None:
    run.makepyfile("""
def test_version(fauxka, fauxka_as_version):
    assert fauxka_as_version == "2.8"
""")

    result = run_tests(run, "--fauxka-as-version=2.8,3.9")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["FAILED *::test_version[[]kafka-3.9]*"])


@pytest.mark.parametrize("versions", ["2.8,", "2.8,2.8"])
def test_a_wrong_list_of_versions_is_an_error_that_names_it(run: pytest.Pytester, versions: str) -> None:
    run.makepyfile("def test_version(fauxka): pass")

    result = run_tests(run, f"--fauxka-as-version={versions}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--fauxka-as-version: expected different versions, *, got '{versions}'"])


@pytest.mark.parametrize("arguments", ["", "2.8", "'2.8', '2.8'"])
def test_a_mark_without_different_texts_is_an_error_that_names_them(run: pytest.Pytester, arguments: str) -> None:
    run.makepyfile(f"""
import pytest

@pytest.mark.fauxka_versions({arguments})
def test_version(fauxka): pass
""")

    result = run_tests(run)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fauxka_versions: expected different versions such as '2.8', got (*)"])
