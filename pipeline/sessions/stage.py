"""A running stage of a Spark job. This module does not use Spark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """A running stage. rows: None if they are not counted; then bytes_shuffled is 0."""

    number: int
    tasks: int
    tasks_done: int
    rows: int | None = None
    bytes_shuffled: int = 0
