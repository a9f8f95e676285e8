"""What is kept of a group without its members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .offset_store import CommittedOffset


@dataclass(frozen=True, slots=True)
class SavedGroup:
    """A group as it is when the last member has left; offsets by topic and partition."""

    group_id: str
    protocol_type: str | None
    generation_id: int
    offsets: Mapping[str, Mapping[int, CommittedOffset]]
