"""Correct programs of Java, kafkajs and franz-go with the defaults of their clients: a hunt finds nothing."""

from collections.abc import Iterator
from functools import partial

import pytest

from fauxka.testing import Broker, hunt, report_text
from fauxka.testing.hunting.arguments import How

from ..runtimes import need
from .family.programs import TWINS, Program
from .family.runtime import close_runtimes
from .family.shape import NEEDED, OF_OTHER_LANGUAGES
from .family.world import World

PROGRAMS = [each for each in TWINS if each.client in OF_OTHER_LANGUAGES]


@pytest.fixture(scope="module", autouse=True)
def closed() -> Iterator[None]:
    """End the processes of the programs after the last test."""
    yield
    close_runtimes()


def run_with_defaults(program: Program, broker: Broker) -> None:
    """Run the program. Raises Failed."""
    program.shape.run(World(None, broker, None, "default"))


def how_of(program: Program) -> How:
    """Return how it is hunted: without a configuration of the broker for short waits."""
    how = How(expect=program.shape.promise)
    how.update(program.shape.how)
    return how


@pytest.mark.hunt
@pytest.mark.timeout(600)
@pytest.mark.parametrize("program", PROGRAMS, ids=[each.name for each in PROGRAMS])
def test_a_correct_program_is_not_accused(program: Program) -> None:
    need(*NEEDED[program.client], group=program.client)
    how = how_of(program)
    how["budget"], how["pairs"], how["jobs"] = "3m", 0, 4

    result = hunt(partial(run_with_defaults, program), **how)

    assert not result.findings, report_text(result)
