"""docs/read-twice.md: its findings are those that `fauxka verdict --group` prints, and it has each kind and cause."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fauxka.admin.client.text_width import WIDTH
from fauxka.admin.client.verdict_text import verdict_lines
from fauxka.faults.consumption.explanations import explain
from fauxka.faults.consumption.facts import Cause, Fact, Kind
from fauxka.protocol.error_codes import ErrorCode
from fauxka.scenarios.all_scenarios import all_names

PAGE = (Path(__file__).parents[2] / "docs" / "read-twice.md").read_text()
# A code block of the page: lines with four spaces.
INDENT = " " * 4
FINDING = re.compile(rf"^{INDENT}  (?P<kind>[a-z_]+): orders-0 \d", re.MULTILINE)

ONE, TWO, ADMINISTRATOR = "worker-1", "worker-2", "kafka-consumer-groups"
TWICE, NEVER, ARCHIVED = Kind.DELIVERED_TWICE, Kind.NEVER_DELIVERED, Kind.ARCHIVED
FACTS = [
    Fact(TWICE, Cause.REBALANCE, 4, 10, TWO, ONE, 4),
    Fact(TWICE, Cause.RESTART, 0, 10, TWO, ONE),
    Fact(TWICE, Cause.REJOIN, 4, 10, TWO, ONE, 4, leave_reason="consumer poll timeout has expired."),
    Fact(TWICE, Cause.REJOIN, 4, 10, TWO, ONE, 4, leave_reason=""),
    Fact(TWICE, Cause.REJOIN, 4, 10, TWO, ONE, 4),
    Fact(TWICE, Cause.REJOIN, 4, 10, ONE, ONE, 4, leave_reason=""),
    Fact(TWICE, Cause.REBALANCE, 4, 10, TWO, ONE, 4, is_reported=True),
    Fact(Kind.PROCESSED_TWICE, Cause.REBALANCE, 4, 10, TWO, ONE, 4, count=2),
    Fact(Kind.PROCESSED_TWICE, Cause.DELIVERED_ONCE, 7, 8, count=2),
    Fact(Kind.COMMIT_MOVED_BACK, Cause.MEMBER, 5, 10, ONE, offset=5),
    Fact(TWICE, Cause.MOVED_BACK, 5, 10, TWO, ONE, 5),
    Fact(Kind.STALE_MEMBER_COMMITTED, Cause.REFUSED, 5, 5, ONE, TWO, error_code=ErrorCode.ILLEGAL_GENERATION),
    Fact(Kind.STALE_MEMBER_COMMITTED, Cause.ACCEPTED, 5, 5, ONE, TWO),
    Fact(Kind.COMMIT_MOVED_BACK, Cause.OTHER_CLIENT, 4, 10, ADMINISTRATOR, offset=4),
    Fact(TWICE, Cause.RESET, 4, 10, ONE, ONE, 4),
    Fact(TWICE, Cause.RESET, 0, 10, TWO, ONE),
    Fact(NEVER, Cause.RESET_TO_LATEST, 10, 15, TWO, offset=15),
    Fact(TWICE, Cause.SEEK, 2, 10, ONE, ONE, 10),
    Fact(Kind.OUT_OF_ORDER, Cause.SEEK, 2, 5, ONE),
    Fact(Kind.HANGING, Cause.SAME_OFFSET, 5, 10, ONE, ONE, count=12),
    Fact(Kind.PROCESSED_TWICE, Cause.SAME_OFFSET, 5, 10, ONE, ONE, count=12),
    Fact(Kind.COMMIT_BEYOND_DELIVERY, Cause.MEMBER, 10, 20, ONE, offset=20),
    Fact(NEVER, Cause.COMMITTED, 10, 20, ONE, offset=20),
    Fact(NEVER, Cause.DELETED, 10, 15),
    Fact(NEVER, Cause.SEEN_LATE, 0, 3, ONE),
    Fact(NEVER, Cause.RESET, 10, 13, ADMINISTRATOR, offset=13),
    Fact(NEVER, Cause.SEEK, 10, 13, ONE, offset=10),
    Fact(Kind.COMMITTED_UNPROCESSED, Cause.COMMITTED_FIRST, 5, 10, ONE, offset=10),
    Fact(Kind.NEVER_PROCESSED, Cause.PASSED_OVER, 7, 8, ONE, offset=5),
    Fact(Kind.BLOCKED, Cause.OPEN_TRANSACTION, 12, 22, "producer 7"),
    Fact(Kind.PROCESSED_UNCOMMITTED, Cause.NOT_COMMITTED, 5, 10, ONE, offset=5),
    Fact(Kind.DELIVERED_AND_TRUNCATED, Cause.TRUNCATED, 5, 10, ONE),
    Fact(NEVER, Cause.TRUNCATED, 5, 10, offset=10),
    Fact(NEVER, Cause.RECREATED, 0, 10, ONE),
    Fact(Kind.LOCK_ENDED, Cause.LOCK_ENDED, 4, 10, ONE, count=2),
    Fact(TWICE, Cause.LOCK_ENDED, 4, 10, TWO, ONE),
    Fact(Kind.ACKNOWLEDGEMENT_REFUSED, Cause.REFUSED, 4, 10, ONE, TWO, error_code=ErrorCode.INVALID_RECORD_STATE),
    Fact(TWICE, Cause.RELEASED, 4, 10, TWO, ONE),
    Fact(TWICE, Cause.MEMBER_LEFT, 4, 10, TWO, ONE),
    Fact(TWICE, Cause.BROKER_RESTART, 4, 10, ONE, ONE),
    Fact(TWICE, Cause.START_RESET, 0, 10, ONE, ONE, 0),
    Fact(NEVER, Cause.START_RESET, 10, 20, offset=20),
    Fact(Kind.REJECTED, Cause.REFUSED, 4, 5, ONE),
    Fact(ARCHIVED, Cause.LOCK_ENDED, 4, 5, ONE, count=5),
    Fact(ARCHIVED, Cause.DELETED, 4, 5),
]


def printed(fact: Fact) -> str:
    """Return a finding as a code block with what the command prints."""
    is_range = fact.kind is not Kind.STALE_MEMBER_COMMITTED
    offsets = [fact.first, fact.end - 1 if is_range else fact.end]
    finding = {"kind": fact.kind.value, "topic": "orders", "partition": 0, "offsets": offsets, "why": explain(fact)}
    lines = verdict_lines({"of": "group", "partitions": [], "notes": [], "findings": [finding]}, WIDTH)
    return "".join(f"{INDENT}{line}\n" for line in lines)


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact.kind.value}, {fact.cause.value}")
def test_finding_is_on_the_page_as_the_command_prints_it(fact: Fact) -> None:
    assert printed(fact) in PAGE


def test_page_has_no_other_findings() -> None:
    assert FINDING.findall(PAGE) == [fact.kind.value for fact in FACTS]


def test_each_kind_and_cause_is_on_the_page() -> None:
    assert {fact.kind for fact in FACTS} == set(Kind)
    assert {fact.cause for fact in FACTS} == set(Cause)


def test_scenarios_of_the_page_exist() -> None:
    names = set(re.findall(r"fauxka scenario run ([a-z-]+)", PAGE))

    assert names >= {"processed-twice", "skipped", "commit-moved-back", "hanging-transaction"}
    assert names <= set(all_names())
