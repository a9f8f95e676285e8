"""Transactions of confluent-kafka (librdkafka)."""

import sys
from collections.abc import Sequence

import pytest

from .contract import TransactionsContract

pytestmark = pytest.mark.clients


@pytest.fixture
def program() -> Sequence[str]:
    return (sys.executable, "-m", "tests.transactions.confluent_program")


class TestConfluentKafka(TransactionsContract):
    fenced_names = frozenset({"_FENCED"})
