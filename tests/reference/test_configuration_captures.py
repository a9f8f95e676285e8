"""What was captured of Kafka's configuration is what Kafka says today."""

import subprocess
import sys
from pathlib import Path

import pytest

from .kafka_process import reference_jars

pytestmark = pytest.mark.reference

ROOT = Path(__file__).resolve().parent.parent.parent
CAPTURED = ROOT / "tests" / "broker"
PROGRAM_SECONDS_MAX = 120


@pytest.fixture(scope="module")
def jars() -> str:
    return reference_jars()


def printed_by_java(jars: str, program: str) -> str:
    command = ["java", "-cp", f"{jars}/*", str(CAPTURED / "programs" / program)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=PROGRAM_SECONDS_MAX).stdout


def test_values_are_taken_and_refused_as_captured(jars: str) -> None:
    assert printed_by_java(jars, "ConfigValues.java") == (CAPTURED / "config_values_4.3.0.jsonl").read_text()


def test_properties_are_read_as_captured(jars: str) -> None:
    assert printed_by_java(jars, "PropertiesLoad.java") == (CAPTURED / "properties_java_17.jsonl").read_text()


def test_principals_are_mapped_as_captured(jars: str) -> None:
    assert printed_by_java(jars, "PrincipalMapping.java") == (CAPTURED / "principal_mapping_4.3.0.jsonl").read_text()


def test_texts_are_trimmed_compared_and_decoded_as_captured(jars: str) -> None:
    assert printed_by_java(jars, "JavaText.java") == (CAPTURED / "java_text_17.jsonl").read_text()


def test_table_of_keys_equals_kafkas_definitions(jars: str) -> None:
    command = [
        sys.executable,
        str(ROOT / "tools" / "generate_config_table.py"),
        f"4.3={jars}",
        f"4.4={reference_jars('4.4.0')}",
        "--check",
    ]

    assert subprocess.run(command, check=False, timeout=PROGRAM_SECONDS_MAX).returncode == 0
