"""Consume, transform, produce: each record is copied exactly once although processes are killed."""

import pytest

from ..run_counts import count
from .copy_rounds import RECORDS_OF_A_ROUND, run_copy_rounds

pytestmark = [pytest.mark.clients, pytest.mark.crash, pytest.mark.slice]

# `python -m tests.transactions.copy_rounds` runs fifty by default.
ROUNDS = count(3, in_slice=1)


def test_every_record_is_copied_once_under_kills_of_copiers_and_broker() -> None:
    assert run_copy_rounds(ROUNDS, 1) == ROUNDS * RECORDS_OF_A_ROUND
