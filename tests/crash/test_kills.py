"""Real kills: whatever was acknowledged is in the log once and in order, whenever the process was killed.

`python -m tests.crash` runs a thousand rounds of each variant, or as many as it is told.
"""

import pytest

from .crash_rounds import ROUNDS_OF_A_FOLDER_MAX, VARIANTS, run_folder
from .transaction_rounds import run_transaction_rounds

pytestmark = pytest.mark.crash

# By variant: how many folders of 20 rounds, 200 rounds in all.
FOLDERS = {"written": 6, "flushed": 2, "deleted": 2}


@pytest.mark.parametrize(
    ("variant", "seed"), [(name, seed) for name, count in FOLDERS.items() for seed in range(1, count + 1)]
)
def test_acknowledged_records_are_stored_once_and_in_order(variant: str, seed: int) -> None:
    tally = run_folder(VARIANTS[variant], ROUNDS_OF_A_FOLDER_MAX, seed)

    assert tally.acknowledged_batches > 0
    assert tally.reported_records > 0
    assert tally.retried_batches > 0


TRANSACTION_ROUNDS = 10


@pytest.mark.parametrize("options", [(), ("--fsync", "always")], ids=["written", "flushed"])
def test_transactions_are_wholly_there_or_wholly_not(options: tuple[str, ...]) -> None:
    tally = run_transaction_rounds(TRANSACTION_ROUNDS, 1, options)

    assert tally.kills >= TRANSACTION_ROUNDS
    assert tally.committed > 0
    assert tally.aborted > 0
