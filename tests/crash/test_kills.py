"""Killed brokers: every acknowledged record is in the log once and in order, whenever the process was killed.

`python -m tests.crash` runs a thousand rounds of each variant by default.
"""

from collections.abc import Iterator

import pytest

from ..run_counts import count
from .crash_rounds import VARIANTS, run_folder
from .node_rounds import run_node_rounds
from .round_folders import ROUNDS_OF_A_FOLDER_MAX
from .transaction_rounds import run_transaction_rounds

pytestmark = pytest.mark.crash

# How many folders of 20 rounds each variant has: 200 rounds in all. A slice has 5 rounds in one folder of each variant.
FOLDERS = {"written": 6, "flushed": 2, "deleted": 2}
ROUNDS = count(ROUNDS_OF_A_FOLDER_MAX, in_slice=5)
NODE_ROUNDS = count(20, in_slice=5)
TRANSACTION_ROUNDS = count(10, in_slice=5)


def folders() -> Iterator[object]:
    """Yield variant and seed of each folder. The first folder of each variant is in the slice."""
    for variant, folder_count in FOLDERS.items():
        for seed in range(1, folder_count + 1):
            yield pytest.param(variant, seed, marks=pytest.mark.slice if seed == 1 else ())


@pytest.mark.parametrize(("variant", "seed"), list(folders()))
def test_acknowledged_records_are_stored_once_and_in_order(variant: str, seed: int) -> None:
    tally = run_folder(VARIANTS[variant], ROUNDS, seed)

    assert tally.acknowledged_batches > 0
    assert tally.reported_records > 0
    assert tally.retried_batches > 0


@pytest.mark.parametrize(
    "options",
    [pytest.param((), id="written", marks=pytest.mark.slice), pytest.param(("--fsync", "always"), id="flushed")],
)
def test_transactions_are_wholly_there_or_wholly_not(options: tuple[str, ...]) -> None:
    tally = run_transaction_rounds(TRANSACTION_ROUNDS, 1, options)

    assert tally.kills >= TRANSACTION_ROUNDS
    assert tally.committed > 0
    assert tally.aborted > 0


@pytest.mark.parametrize("seed", [pytest.param(1, marks=pytest.mark.slice), 2, 3, 4])
def test_every_node_has_the_acknowledged_records_once_and_in_order(seed: int) -> None:
    tally = run_node_rounds(NODE_ROUNDS, seed)

    assert tally.process_kills > 0
    assert tally.node_kills > 0
    assert tally.reported_records > 0
    assert tally.read_records >= tally.reported_records
