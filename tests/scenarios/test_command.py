"""`fauxka scenario list` and `fauxka scenario run`."""

import importlib
import json
from collections.abc import Callable

import pytest

from fauxka.scenarios import command
from fauxka.scenarios.all_scenarios import all_names
from fauxka.scenarios.scenario import Expectation, Scenario
from fauxka.scenarios.scenario_files import load_scenario

from ..serving_process import run

Import = Callable[[str], object]


def test_list_names_every_scenario_with_its_title() -> None:
    lines = run("scenario", "list").output.splitlines()

    assert [line.split()[0] for line in lines if not line.startswith(" ")] == all_names()
    assert any(line.startswith("gap ") and line.endswith("A sequence is skipped") for line in lines)


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
    found = importlib.import_module

    def without_clients(name: str, package: str | None = None) -> object:
        if name in ("confluent_kafka", "aiokafka", "kafka"):
            raise ImportError(name)
        return found(name, package)

    monkeypatch.setattr(importlib, "import_module", without_clients)

    with pytest.raises(command.CannotRun) as refused:
        command.run_text("gap", client, None, as_json=False)

    assert str(refused.value) == f"the client {client} needs the package {package}"
