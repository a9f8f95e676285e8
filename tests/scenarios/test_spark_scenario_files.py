"""Scenario files with Spark, and invalid ones."""

import pytest

from fauxka.scenarios.all_scenarios import all_names, load_any
from fauxka.scenarios.scenario_files import ScenarioFileError, scenario_names
from fauxka.scenarios.spark.job_scenario import CopyJob, JobScenario, WriteJob
from fauxka.scenarios.spark.job_scenario_files import job_scenario_names, parse_job_scenario
from fauxka.scenarios.steps import Batch

GOOD = """
title = "t"
story = "s"
[topics]
events = 1
copied = 1
[batches]
A = "5..9"
[[steps]]
do = "send"
topic = "events"
batches = ["A"]
[[steps]]
do = "copy"
job = "copy"
topic = "events"
to = "copied"
checkpoint = "c"
options = { failOnDataLoss = "false" }
[[steps]]
do = "audit"
topic = "copied"
sent_to = ["events"]
[expect]
jobs = { copy = "succeeded" }
rows = { copied = 5 }
"""


def test_the_recipes_are_there() -> None:
    assert {"app-dedup", "spark-task-retry", "spark-nonretriable-midtask", "spark-offset-regression"} <= set(
        job_scenario_names()
    )


def test_no_name_is_used_twice() -> None:
    assert all_names() == sorted({*scenario_names(), *job_scenario_names()})


@pytest.mark.parametrize("name", job_scenario_names())
def test_every_job_and_every_audit_has_expectations(name: str) -> None:
    scenario = load_any(name)

    assert isinstance(scenario, JobScenario)
    jobs = [step.job for step in scenario.steps if isinstance(step, WriteJob | CopyJob)]
    assert set(scenario.expect.jobs) == set(jobs)
    assert scenario.expect.found


def test_a_file_is_read() -> None:
    scenario = parse_job_scenario("good", GOOD)

    assert scenario.batches == {"A": Batch("A", 5, 9)}
    assert scenario.topics == {"events": 1, "copied": 1}
    assert scenario.has_application


@pytest.mark.parametrize(
    ("written", "instead", "told"),
    [
        ('title = "t"', "", "title"),
        ('title = "t"', 'title = "t"\nnodes = 0', "Expected `int` >= 1 - at `$.nodes`"),
        ('do = "copy"', 'do = "move"', "move"),
        ('A = "5..9"', 'A = "5-9"', "114..120"),
        ('batches = ["A"]', 'batches = ["B"]', "unknown batch B"),
        ('to = "copied"', 'to = "copy"', "unknown topic copy"),
        ('sent_to = ["events"]', 'sent_to = ["sent"]', "unknown topic sent"),
        ("rows = { copied = 5 }", "rows = { copies = 5 }", "unknown topic copies"),
        ('jobs = { copy = "succeeded" }', 'jobs = { other = "succeeded" }', "unknown job other"),
        ("rows = ", "raws = ", "raws"),
        ('checkpoint = "c"', 'checkpoint = "c"\nfollow = true', "no end_copy of copy"),
        (
            'do = "audit"\ntopic = "copied"',
            'do = "end_copy"\njob = "copy"\n[[steps]]\ndo = "audit"\ntopic = "copied"',
            "end_copy of copy, which does not follow",
        ),
    ],
)
def test_invalid_scenario_is_refused_with_file_and_place(written: str, instead: str, told: str) -> None:
    with pytest.raises(ScenarioFileError) as refused:
        parse_job_scenario("bad", GOOD.replace(written, instead))

    assert str(refused.value).startswith("bad.toml: ")
    assert told in str(refused.value)
