"""What was captured of Kafka's cleaning of batches is what Kafka does today."""

import subprocess
from pathlib import Path

import pytest

from .kafka_process import reference_jars

pytestmark = pytest.mark.reference

CAPTURED = Path(__file__).resolve().parent.parent / "storage"
PROGRAM_SECONDS_MAX = 120


def test_batches_are_filtered_as_captured() -> None:
    expected = (CAPTURED / "cleaned_batches_4.3.0.txt").read_text()
    cases = "".join(f"{line.rpartition(' ')[0]}\n" for line in expected.splitlines())
    command = ["java", "-cp", f"{reference_jars()}/*", str(CAPTURED / "programs" / "FilterBatches.java")]

    printed = subprocess.run(
        command, input=cases, check=True, capture_output=True, text=True, timeout=PROGRAM_SECONDS_MAX
    ).stdout

    assert printed == expected
