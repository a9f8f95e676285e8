"""The golden programs: each asks one broker and records how it answers, case by case."""

from collections.abc import Callable
from typing import TypeAlias

from ..case_recorder import CaseRecorder
from . import groups, idempotence, init_producer_id, produce_validation, sequences, transactions

Program: TypeAlias = Callable[[CaseRecorder], list[Callable[[], None]]]

# By the names that the cases carry, in the order of the captured file.
PROGRAMS: dict[str, Program] = {
    "exp_produce_validation": produce_validation.groups,
    "exp_idempotence": idempotence.groups,
    "exp_init_producer_id": init_producer_id.groups,
    "exp_transactions": transactions.groups,
    "exp_sequences": sequences.groups,
    "exp_groups": groups.groups,
}
