"""ACL matrix: python -m tests.golden.regenerate acl_matrix. The worlds are those of SEED; see recorder for lines."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from ..acl_brokers import MATRIX_CONFIG_OF, kafka_with_acls
from ..capture_normal_form import Json
from ..sasl_client import Addresses
from .recorder import AnswerTable, MatrixCapture, json_lines, line_of
from .worlds import SEED, World, worlds

# Runs a broker of that name.
RunningBroker = Callable[[str], AbstractContextManager[Addresses]]


def answers_of(seed: int, running: RunningBroker) -> dict[str, list[Json]]:
    """Return the answers of every world of a seed, by its name."""
    every = worlds(seed)
    answers: dict[str, list[Json]] = {}
    for broker in MATRIX_CONFIG_OF:
        with running(broker) as addresses, matrix_of(addresses) as capture:
            answers |= {world.name: capture.run(world) for world in every if world.broker == broker}
    return answers


@contextmanager
def matrix_of(addresses: Addresses) -> Generator[MatrixCapture, None, None]:
    """Return what runs worlds against a broker, and close it behind the block."""
    capture = MatrixCapture(addresses)
    try:
        yield capture
    finally:
        capture.close()


def lines_of(every: list[World], answers: dict[str, list[Json]]) -> list[Json]:
    """Return the lines of the golden file."""
    table = AnswerTable()
    of_worlds = [line_of(world, answers[world.name], table) for world in every]
    return [*table.lines(), *of_worlds]


def regenerate_matrix(target: Path) -> None:
    """Run the worlds of SEED against a fresh Kafka of each kind, and write the lines to target."""
    with tempfile.TemporaryDirectory() as folder:
        answers = answers_of(SEED, lambda broker: kafka_with_acls(Path(folder) / "kafka.log", broker))
    target.write_text(json_lines(lines_of(worlds(SEED), answers)))
