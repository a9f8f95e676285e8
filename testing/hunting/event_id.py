"""The event id of a hunt, checked."""

from __future__ import annotations

from ...faults.event_ids import ALLOWED, find_event_id
from .errors import BadHuntOption


def check_event_id(text: object, name: str = "--event-id") -> str:
    """Return text if it is an event id. Raises BadHuntOption with the name."""
    if not isinstance(text, str) or find_event_id(text) is None:
        raise BadHuntOption(f"{name}: {text!r} is no event id; allowed: {ALLOWED}")
    return text
