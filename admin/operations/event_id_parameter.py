"""The parameter that names the event id of the records of a test."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ...faults.event_ids import ALLOWED, SHAPES, EventIdOf, find_event_id
from ...faults.rule_error import RuleError
from ...protocol.similar_names import suggestion

EVENT_ID_CHARACTERS_MAX = 1000

EventId = Annotated[
    str,
    Meta(
        max_length=EVENT_ID_CHARACTERS_MAX,
        description="The event id of the test: `value`, `key`, `header:NAME` or `json:PATH` such as `json:order.id`. "
        "Finds copies from any producer.",
    ),
]


def event_id_of_text(text: str) -> EventIdOf:
    """Return what reads the event id from a record. Raises RuleError for another text."""
    found = find_event_id(text)
    if found is None:
        hint = suggestion(text.partition(":")[0], SHAPES)
        raise RuleError("event_id", text, ALLOWED, f"event_id cannot be {text!r}; allowed: {ALLOWED}{hint}")
    return found
