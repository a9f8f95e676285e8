"""`fauxka demo`, which needs no broker and no other package."""

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from fauxka.scenarios.demo import NEXT, SEND, SEND_ON_WINDOWS

from ..brokers_by_hand import StartedByHand
from ..serving_process import environment, run

pytestmark = [pytest.mark.processes, pytest.mark.slice]

PROGRAMS = Path(sys.executable).parent
SECONDS_MAX = 60
# Python runs this file at its start. It hides every package that is not fauxka's own dependency.
HIDE_OTHERS = """
import sys


class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name in ("confluent_kafka", "aiokafka", "kafka", "pyspark", "numpy", "pyarrow", "cryptography"):
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Hidden())
"""


def test_demo_draws_the_lost_acknowledgement_and_ends_with_the_next_commands(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HIDE_OTHERS)
    path = os.pathsep.join([str(tmp_path), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])

    ended = run("demo", variables={"PYTHONPATH": path, "COLUMNS": "80"})

    assert (ended.exit_code, ended.log) == (0, "")
    diagram, _, rest = ended.output.partition("\nVerdict\n")
    assert "lost: close at applied: the acknowledgement of B is lost" in diagram
    assert "duplicates recognised 1" in " ".join(rest.split())
    assert ended.output.endswith(NEXT.rstrip() + "\n")


@pytest.fixture
def by_hand(tmp_path: Path) -> Iterator[StartedByHand]:
    starts = StartedByHand(tmp_path)
    yield starts
    starts.close()


@pytest.mark.parametrize(
    ("send", "outcome"), [(SEND, '"outcome":"closed"'), (SEND_ON_WINDOWS, "outcome='closed'")], ids=["curl", "Windows"]
)
def test_next_commands_show_the_lost_acknowledgement(
    send: str, outcome: str, by_hand: StartedByHand, tmp_path: Path
) -> None:
    blocks = [textwrap.dedent(block) for block in re.findall(r"(?:^ {4}.*\n)+", NEXT, re.MULTILINE)]
    serve, others, _ = blocks
    options = serve.removeprefix("fauxka serve").split()
    broker = by_hand.serve(*options)
    by_hand.found(f"{broker.admin}\n")
    path = os.pathsep.join([str(PROGRAMS), os.environ["PATH"]])

    ended = subprocess.run(
        ["bash", "-c", others.replace(SEND, send.replace("http://localhost:9099", broker.admin))],
        cwd=tmp_path,
        env=environment({"PATH": path, **by_hand.variables}),
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )

    assert (ended.returncode, outcome in ended.stdout) == (1, True), ended.stderr
    assert "a batch without a producer id was appended at offsets 0..0" in " ".join(ended.stdout.split())


@pytest.mark.clients
def test_next_test_passes_with_a_producer(tmp_path: Path) -> None:
    *_, test = re.findall(r"(?:^ {4}.*\n|\n)+", NEXT, re.MULTILINE)
    producer = """
        from confluent_kafka import Producer

        def send_order(servers):
            producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
            producer.produce("orders", "one coffee")
            producer.flush()
    """
    file = tmp_path / "test_pasted.py"
    file.write_text(textwrap.dedent(producer) + textwrap.dedent(test))

    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )

    assert ended.returncode == 0, ended.stdout
