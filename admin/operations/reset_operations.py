"""Back to the start: rules, journal, data, or all of it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ...broker.lifecycle.cluster_reset import reset_cluster
from ...protocol.error_codes import KafkaError
from ..control import Control
from ..errors import conflict
from ..operation import Operation
from .crash_operations import ensure_running

TAG = "state"

Scope = Literal["faults", "journal", "data", "all"]


class Reset(Struct, kw_only=True, forbid_unknown_fields=True):
    """What goes back to the start.

    faults: rules of all kinds are removed, and what they hold, delay or hang is given up: these connections close.
    journal: no request is remembered, and the verdict begins anew.
    data: topics, groups, sessions and configs are deleted, but for the seed topics; the clock is reset; other
    connections stay.
    """

    scope: Scope = "all"


async def reset(control: Control, body: Reset) -> Reset:
    """Go back to the start, as far as is asked for; for `data` and `all` a node that is down is started again."""
    if body.scope in ("faults", "all"):
        reset_faults(control)
    if body.scope in ("data", "all"):
        await ensure_running(control)
        reset_data(control)
    if body.scope in ("journal", "all"):
        control.journal.clear()
    return body


def reset_faults(control: Control) -> None:
    """Remove all rules, and give up what they keep."""
    control.plan.clear()
    control.server.lift_faults()
    if control.has_files:
        control.files.clear()


def reset_data(control: Control) -> None:
    """Forget what clients have put there; the verdict on their topics begins anew."""
    topics = list(control.cluster.image.topics)
    try:
        reset_cluster(control.cluster, control.seed_topics)
    except KafkaError as error:
        raise conflict(error.message, field="scope") from error
    for topic in topics:
        control.journal.forget_topic(topic)


OPERATIONS = (Operation(method="POST", path="/v1/reset", perform=reset, tag=TAG, errors=(409,)),)
