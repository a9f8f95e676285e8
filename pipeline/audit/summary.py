"""What an audit comes to, in few numbers; nothing here needs Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class TopicTotals:
    """What was read of a topic; records without those of markers, producers without those that have no id."""

    topic: str
    partitions: int
    batches: int
    records: int
    bytes: int
    producers: int


@dataclass(frozen=True, slots=True)
class Example:
    """One finding; see findings.py."""

    topic: str | None
    partition: int | None
    offset: int | None
    other_offset: int | None
    producer_id: int | None
    producer_epoch: int | None
    base_sequence: int | None
    event_id: str | None
    count: int | None
    timestamp: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """The findings of one kind and cause: how many, of how many records, and the first by place in the log."""

    check: str
    kind: str
    cause: str | None
    is_fault: bool
    findings: int
    records: int
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """An audit; checks are those that were made, pictures the rows of report_pictures.py, if they were asked for."""

    log: str
    checks: tuple[str, ...]
    topics: tuple[TopicTotals, ...]
    groups: tuple[FindingGroup, ...]
    pictures: Mapping[str, list[dict[str, object]]] = field(default_factory=dict[str, list[dict[str, object]]])

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found that is a fault."""
        return not any(group.is_fault for group in self.groups)

    def as_json(self) -> dict[str, object]:
        """Return it as plain data."""
        return {"verdict": "clean" if self.is_clean else "findings", **asdict(self)}
