"""Programs that others wrote keep what they promise, with the faults that a short hunt tries.

docs/hunt-reference.md has the results of longer hunts.
"""

import pytest

from fauxka.testing import report_text
from fauxka.testing.hunting.arguments import How

from .others.hunting import hunted
from .others.programs import OTHERS

# The installation of a program of Java, its warm-up, and the hunt.
SECONDS_MAX = 1800
BUDGET = "2m"

pytestmark = [pytest.mark.hunt, pytest.mark.ecosystem, pytest.mark.timeout(SECONDS_MAX)]


@pytest.mark.parametrize("name", [name for name, other in OTHERS.items() if not other.known])
def test_program_keeps_its_promise(name: str) -> None:
    result = hunted(OTHERS[name], How(budget=BUDGET, jobs=2, pairs=0))

    assert not result.findings, report_text(result)
    assert any(each.met for each in result.tried), report_text(result)
