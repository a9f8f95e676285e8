"""The programs in README.md, run unchanged, do what README.md says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from .serving_process import environment, serving

README = Path(__file__).resolve().parent.parent / "README.md"
PROGRAM_SECONDS_MAX = 60


def program(first_line: str) -> str:
    """Return the one program of the page that begins so."""
    texts = [match[1] for match in re.finditer(r"```python\n(.*?)```", README.read_text(), re.DOTALL)]
    (found,) = [str(text) for text in texts if text.startswith(first_line)]
    return found


def run_program(text: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", text], env=environment(), capture_output=True, text=True, timeout=PROGRAM_SECONDS_MAX
    )
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


@pytest.mark.clients
def test_producer_and_consumer_print_the_sent_records(tmp_path: Path) -> None:
    text = program("from confluent_kafka")

    with serving(tmp_path) as broker:
        output = run_program(text.replace("127.0.0.1:9092", broker.bootstrap))

    assert output == "".join(f"{number} hello {number}\n" for number in range(10))


def test_broker_in_a_test_prints_its_address() -> None:
    output = run_program(program("from fauxka.testing"))

    assert re.fullmatch(r"127\.0\.0\.1:\d+\n", output)


def test_every_page_that_is_pointed_to_is_there() -> None:
    targets = [str(match[1]) for match in re.finditer(r"\]\((?!https?:)([^)#]+)\)", README.read_text())]

    assert targets != []
    assert [target for target in targets if not (README.parent / target).exists()] == []
