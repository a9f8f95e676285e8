"""Transactions of Kafka's Java client."""

from collections.abc import Sequence

import pytest

from ..clients.java_program import FOLDER
from ..reference.kafka_process import reference_jars
from .contract import TransactionsContract

pytestmark = pytest.mark.java


@pytest.fixture
def program() -> Sequence[str]:
    return ("java", "-cp", f"{reference_jars()}/*", str(FOLDER / "TransactionalProgram.java"))


class TestJava(TransactionsContract):
    fenced_names = frozenset({"INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED"})
