"""How the records of both sides are matched, and what is expected of them. This module does not use Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..bad_option import BadOption

MatchedBy = Literal["offsets", "event-id", "position"]
Expected = Literal["one-to-one", "one-to-many"]

# Two names are partition and offset, three are with the topic in front.
_OFFSET_NAMES = (2, 3)


@dataclass(frozen=True, slots=True)
class Matching:
    """How records are matched.

    by: what both sides have of the same record. expected: how many records of the right side one of the left has.
    optional: a SQL expression over the left side; true for records that need not arrive. late_after_ms: a record that
    arrives later than this is late; None: none is. is_caught_up: the right side has had the time for all records.
    """

    by: MatchedBy
    expected: Expected = "one-to-one"
    optional: str | None = None
    late_after_ms: int | None = None
    is_caught_up: bool = False
    is_empty_an_id: bool = False

    @property
    def is_one_to_many(self) -> bool:
        """Whether several records of the right side with different contents may be of one of the left side."""
        return self.expected == "one-to-many"


def parse_offset_columns(option: str, text: str) -> tuple[str, ...]:
    """Return the names of partition and offset, or of topic, partition and offset. Raises BadOption."""
    names = tuple(name.strip() for name in text.split(","))
    if len(names) not in _OFFSET_NAMES or not all(names):
        raise BadOption(f"{option}: must be the columns TOPIC,PARTITION,OFFSET or PARTITION,OFFSET, not {text}")
    return names
