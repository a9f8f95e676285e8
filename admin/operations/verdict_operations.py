"""The verdict: what became of the batches of a topic."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ...faults.rule_error import RuleError
from ...faults.verdict.verdict import TopicVerdict, judge
from ..control import Control
from ..operation import Operation
from .topic_logs import ClusterLogs

TAG = "truth"

KEY = "key"
HEADER_PREFIX = "header:"
# Kafka's own limit of a topic's name.
TOPIC_CHARACTERS_MAX = 249
EVENT_ID_CHARACTERS_MAX = 1000

TopicName = Annotated[str, Meta(max_length=TOPIC_CHARACTERS_MAX, description="The topic; one that is gone counts.")]
EventId = Annotated[
    str,
    Meta(
        max_length=EVENT_ID_CHARACTERS_MAX,
        description="What tells events of the test apart: `key`, or `header:NAME`; copies of any producer count then.",
    ),
]


class VerdictQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Of which topic, and by what its events are told apart."""

    topic: TopicName
    event_id: EventId | None = None


def read_verdict(control: Control, query: VerdictQuery) -> TopicVerdict:
    """Judge a topic: what was appended once, twice, refused, lost though acknowledged, or stored though not.

    The log is read as a whole where a copy may be in it.
    """
    check_event_id(query.event_id)
    return judge(control.journal, ClusterLogs(control.cluster), query.topic, event_id=query.event_id)


def check_event_id(event_id: str | None) -> None:
    """Raise RuleError for an event id that is neither the key nor a header."""
    if event_id in (None, KEY) or (event_id.startswith(HEADER_PREFIX) and event_id != HEADER_PREFIX):
        return
    raise RuleError("event_id", event_id, "key or header:NAME", f"event_id cannot be {event_id!r}")


OPERATIONS = (Operation(method="GET", path="/v1/verdict", perform=read_verdict, tag=TAG),)
