"""Programs that no Python package brings: where one is missing its tests are skipped by name, and fail in CI."""

import os
import shutil

import pytest


def need(*programs: str, group: str = "this test") -> None:
    """Skip the test where one of these programs is not there; fail it where CI=true says that they all are."""
    missing = [program for program in programs if shutil.which(program) is None]
    if not missing:
        return
    reason = f"{group} needs {', '.join(missing)}, which this machine does not have"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
