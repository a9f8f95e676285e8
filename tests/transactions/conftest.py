"""Fixtures: a broker, a topic, and producers in processes that end with the test."""

import uuid
from collections.abc import Callable, Iterator, Sequence

import pytest

from ..reference.broker_under_test import bootstrap
from ..reference.log_client import log_client
from .piped_program import PipedProgram

__all__ = ["bootstrap"]

pytest.register_assert_rewrite(f"{__package__}.contract")


@pytest.fixture
def topic(bootstrap: str) -> str:
    """An empty topic."""
    name = f"transactions-{uuid.uuid4().hex[:8]}"
    with log_client(bootstrap) as client:
        client.create_topic(name, 1, {})
    return name


@pytest.fixture
def start(bootstrap: str, program: Sequence[str]) -> Iterator[Callable[[str], PipedProgram]]:
    """Return a function that starts a producer. Its transactional id is unique to the test."""
    run, started = uuid.uuid4().hex[:8], list[PipedProgram]()

    def start(transactional_id: str) -> PipedProgram:
        started.append(PipedProgram([*program, bootstrap, f"{transactional_id}-{run}"]))
        return started[-1]

    yield start
    for each in started:
        each.close()
