"""`fauxka scenario list` and `fauxka scenario run`."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from fauxka.scenarios import command
from fauxka.scenarios.all_scenarios import all_names
from fauxka.scenarios.clients import clients
from fauxka.scenarios.report.diagram import WIDTH
from fauxka.scenarios.scenario import Expectation, Scenario
from fauxka.scenarios.scenario_files import load_scenario
from fauxka.scenarios.scenario_list import list_text

from ..serving_process import run
from .test_without_spark import HIDE_PYSPARK

pytestmark = pytest.mark.processes


def test_list_names_every_scenario_with_its_title() -> None:
    scenarios, _, _ = run("scenario", "list").output.partition("\n\n")

    lines = scenarios.splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == all_names()
    assert any(line.startswith("gap ") and line.endswith("A sequence is skipped") for line in lines)


def test_list_fits_into_80_columns() -> None:
    lines = run("scenario", "list", variables={"COLUMNS": "80"}).output.splitlines()

    assert max(map(len, lines)) <= 80


def test_list_names_only_clients_of_the_command_line() -> None:
    output = run("scenario", "list", variables={"COLUMNS": "100"}).output

    assert "java" not in output.partition("\n\n")[0]
    assert "not with confluent, aiokafka, kafka-python: it starts at sequence 0" in output
    assert "\n\nclients: raw, confluent, aiokafka, kafka-python\n" in output


def test_list_marks_clients_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "find_spec", without_clients)

    scenarios, _, found = list_text(WIDTH).partition("\n\n")

    assert "aiokafka" not in scenarios
    assert found.splitlines()[:2] == [
        "clients: raw",
        "not installed: confluent, aiokafka, kafka-python; install them with pip install 'fauxka[clients]'",
    ]


def test_list_marks_that_spark_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HIDE_PYSPARK)

    output = run("scenario", "list", variables={"PYTHONPATH": str(tmp_path), "COLUMNS": "80"}).output

    assert output.splitlines()[-2:] == [
        "without Spark: pyspark is not installed; install it with",
        "pip install 'fauxka[spark]'",
    ]


def without_clients(name: str) -> object:
    """Return the spec of a module, as if the packages of the clients were not installed."""
    return None if name in ("confluent_kafka", "aiokafka", "kafka") else find_spec(name)


def test_run_prints_a_diagram_and_exits_with_0_if_all_expectations_hold() -> None:
    ended = run("scenario", "run", "gap")

    assert (ended.exit_code, ended.log) == (0, "")
    assert "expected sequence 5, got 10: a gap is refused as a whole" in ended.output
    assert ended.output.endswith("All checks passed.\n")
    assert max(map(len, ended.output.splitlines())) <= 100


def test_json_has_the_timeline_the_verdict_and_the_checks() -> None:
    ended = run("scenario", "run", "whole-batch", "--json")

    report = json.loads(ended.output)
    assert ended.exit_code == 0
    assert report["passed"] is True
    assert report["verdict"]["batches"]["refused"] == 2
    assert [moment["batch"]["name"] for moment in report["timeline"] if moment.get("decision") == "refused"] == [
        "C",
        "D",
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nix"], "unknown scenario 'nix'; known are aborted-transaction, app-dedup, "),
        (["gap", "--client", "franz"], "unknown client 'franz'; known are raw, confluent, aiokafka, kafka-python"),
        (["gap", "--as-version", "9"], "not a Kafka version: '9'"),
        (["lost-ack", "--as-version", "0.11"], "lost-ack is about Kafka 1.0..4.5, not 0.11"),
        (["spark-task-retry", "--as-version", "2.4"], "spark-task-retry is about Kafka 2.5..4.5, not 2.4"),
        (
            ["spark-task-retry", "--client", "aiokafka"],
            "spark-task-retry uses only Spark's own client, not aiokafka",
        ),
        (["spark-task-retry", "--client", "raw"], "spark-task-retry uses only Spark's own client, not raw"),
        (
            ["sequence-wrap", "--client", "confluent"],
            "sequence-wrap does not run with confluent: it starts at sequence 0 and would have to send",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(words: list[str], told: str) -> None:
    ended = run("scenario", "run", *words)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log.startswith(f"fauxka: {told}")
    assert ended.log.count("\n") == 1


def test_unmet_expectation_is_reported_and_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(name: str) -> Scenario:
        scenario = load_scenario(name)
        scenario.expect[:] = [Expectation(log={"0": ["A", "C"]})]
        return scenario

    monkeypatch.setattr(command, "load_any", other)

    text, passed = command.run_text("gap", "raw", None, as_json=False)

    assert not passed
    assert "FAIL  log of partition 0: expected A C, seen A" in text
    assert text.endswith("Some checks FAILED.")


@pytest.mark.parametrize(
    ("client", "package"),
    [("confluent", "confluent-kafka"), ("aiokafka", "aiokafka"), ("kafka-python", "kafka-python")],
)
def test_a_missing_client_package_is_one_line(client: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "find_spec", without_clients)

    with pytest.raises(command.CannotRun) as refused:
        command.run_text("gap", client, None, as_json=False)

    assert str(refused.value) == (
        f"the client {client} needs the package {package}; install it with pip install 'fauxka[clients]'"
    )


@pytest.mark.parametrize("name", ["zombie", "whole-batch", "sequence-wrap"])
def test_a_report_fits_into_80_columns(name: str) -> None:
    ended = run("scenario", "run", name, variables={"COLUMNS": "80"})

    assert ended.exit_code == 0
    assert max(map(len, ended.output.splitlines())) <= 80


def test_another_process_has_a_lane_of_its_own() -> None:
    ended = run("scenario", "run", "zombie")

    header = next(line for line in ended.output.splitlines() if line.endswith("broker"))
    assert header.split() == ["client", "successor", "broker"]


@pytest.mark.clients
@pytest.mark.parametrize("client", ["raw", "confluent", "aiokafka", "kafka-python"])
def test_a_process_that_starts_again_has_a_lane_of_its_own(client: str) -> None:
    text, passed = command.run_text("producer-restart", client, None, as_json=False)

    assert passed
    header = next(line for line in text.splitlines() if line.endswith("broker"))
    assert header.split() == ["client", "client-2", "broker"]
