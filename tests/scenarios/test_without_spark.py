"""A scenario with Spark without pyspark."""

from pathlib import Path

import pytest

from fauxka.scenarios.spark.job_scenario_files import job_scenario_names

from ..serving_process import run

pytestmark = pytest.mark.processes

# Python runs this file at its start; it hides pyspark.
HIDE_PYSPARK = """
import importlib.metadata as metadata

found = metadata.version


def version(name):
    if name == "pyspark":
        raise metadata.PackageNotFoundError(name)
    return found(name)


metadata.version = version
"""


@pytest.mark.parametrize("name", job_scenario_names())
def test_it_prints_in_one_line_what_to_install_and_exits_with_2(name: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HIDE_PYSPARK)

    ended = run("scenario", "run", name, variables={"PYTHONPATH": str(tmp_path)})

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log == "fauxka: pyspark is not installed; install it with pip install 'fauxka[spark]'\n"
