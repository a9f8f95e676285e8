"""Planted faults cover every kind of finding, and the table shows each wrong and each missing finding."""

import re
from collections import Counter
from pathlib import Path

from .events import Found
from .plants import BROKER_PLANTS, FILE_PLANTS, planted_log
from .table import Comparison, Tally, table_of

FINDINGS_PAGE = Path(__file__).parents[2] / "docs" / "findings.md"
PLANTED = Found("log", "damaged_batch", "wrong_crc", "orders", 0, 7)


def rows_of(heading: str) -> list[str]:
    """The rows of the tables below a heading of the page."""
    section = FINDINGS_PAGE.read_text().split(f"\n## {heading}")[1].split("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("| ") and "`" in line]


def test_every_kind_and_cause_of_the_page_is_planted() -> None:
    expected = planted_log(0).expected
    planted = {found.kind for found in expected} | {found.cause for found in expected}
    kinds = [*(row.split("|")[2] for row in rows_of("Batch headers"))]
    kinds += [row.split("|")[1] for heading in ("Records", "Ledgers") for row in rows_of(heading)]

    names = {name for kind in kinds for name in re.findall(r"`(\w+)`", kind)} - {"key", "broker", "folder"}

    assert len(names) > 20
    assert names - planted == set()


def test_the_same_seed_plants_the_same_log() -> None:
    first, second = planted_log(3, record_count=500), planted_log(3, record_count=500)

    assert first.batches == second.batches
    assert first.expected == second.expected


def test_only_segment_files_have_what_a_broker_does_not_return() -> None:
    kinds = {(found.kind, found.cause) for found in planted_log(0, BROKER_PLANTS).expected}

    assert ("damaged_batch", "no_batch") not in kinds
    assert {kind for kind, _ in kinds} & {"truncated_log", "leader_epoch_regression", "old_format"} == set()
    assert len(FILE_PLANTS) == 8


def test_a_finding_at_another_offset_lowers_precision_and_recall() -> None:
    comparison = Comparison()

    comparison.add(
        Counter({PLANTED: 3}), Counter({PLANTED: 2, Found("log", "damaged_batch", "wrong_crc", "orders", 0, 8): 2})
    )

    assert comparison.total == Tally(planted=3, found=4, right=2)
    assert not comparison.is_exact
    assert table_of({"--path": comparison}).splitlines()[-1].split() == ["all", "3", "4", "0.500", "0.666"]


def test_a_kind_that_is_planted_in_files_only_has_no_numbers_for_a_broker() -> None:
    files = Comparison()
    files.add(Counter([PLANTED]), Counter([PLANTED]))

    row = table_of({"--path": files, "--bootstrap": Comparison()}).splitlines()[2]

    assert row.split()[-8:] == ["1", "1", "1.000", "1.000", "-", "-", "-", "-"]
