"""Programs that others wrote: most keep what they promise, with the faults that a short hunt tries.

docs/hunt-reference.md has the results of longer hunts.
"""

import pytest

from fauxka.testing import report_text
from fauxka.testing.hunting.arguments import How
from fauxka.testing.hunting.judgement import Outcome

from .others.hunting import hunted
from .others.programs import OTHERS

# The installation of a program, its warm-up, and the hunt.
SECONDS_MAX = 1800
# It handles an order in milliseconds.
HANG_SECONDS = 60
# The faults that abort a transaction of Flink between its checkpoint and its commit, see the last test.
KNOWN = {"flink": ["transactions expired", "producers fenced", "broker down for an hour"]}

pytestmark = [pytest.mark.hunt, pytest.mark.ecosystem, pytest.mark.timeout(SECONDS_MAX)]


@pytest.mark.parametrize("name", OTHERS)
def test_program_keeps_its_promise(name: str) -> None:
    result = hunted(OTHERS[name], How(budget="2m", jobs=2, pairs=0, skip=KNOWN.get(name, [])))

    assert not result.findings, report_text(result)
    assert any(each.met for each in result.tried), report_text(result)


def test_faststream_does_not_go_on_after_a_batch_that_kafka_refuses() -> None:
    how = How(only=["INVALID_RECORD"], timeout_seconds=HANG_SECONDS, budget="10m", first=True)

    result = hunted(OTHERS["faststream"], how)

    (finding,) = result.findings
    assert finding.judgement.outcome is Outcome.HUNG
    assert finding.is_certain
    assert any("group bills: hanging" in reason for reason in finding.judgement.reasons)


def test_flink_loses_a_transaction_that_expires_between_its_checkpoint_and_its_commit() -> None:
    how = How(only=["transactions expired"], budget="10m", first=True, pairs=0)

    result = hunted(OTHERS["flink"], how)

    (finding,) = result.findings
    assert str(finding.trial).startswith("transactions expired: EndTxn")
    assert finding.judgement.kinds == {"missing"}
    assert finding.is_certain
