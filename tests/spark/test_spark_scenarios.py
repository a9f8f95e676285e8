"""The scenarios with Spark, run as processes: all expectations are met."""

import json

import pytest

from fauxka.scenarios.spark.job_scenario_files import job_scenario_names

from ..serving_process import run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

# Up to five jobs and two audits, each with its own JVM.
SCENARIO_SECONDS_MAX = 1100


@pytest.mark.parametrize("name", job_scenario_names())
def test_the_expectations_are_met(name: str) -> None:
    ended = run("scenario", "run", name, "--json", seconds_max=SCENARIO_SECONDS_MAX)

    assert ended.exit_code in (0, 1), ended.log
    report = json.loads(ended.output)
    assert [check for check in report["checks"] if not check["passed"]] == []
    assert (ended.exit_code, report["passed"]) == (0, True)
