"""The captured cases, asked of a real Kafka once more: the programs and the file belong together."""

from pathlib import Path

import pytest

from ..reference.kafka_process import running_kafka
from .replay import load_cases, run_all_programs

pytestmark = pytest.mark.reference


def test_kafka_answers_the_programs_as_it_was_captured(tmp_path: Path) -> None:
    with running_kafka(tmp_path / "kafka.log") as bootstrap:
        cases = list(run_all_programs(bootstrap))

    assert cases == load_cases()
