"""Operation that resets rules, journal, data or all of them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ...broker.lifecycle.cluster_reset import reset_cluster
from ...faults.rule_error import RuleError
from ...protocol.error_codes import KafkaError
from ..control import Control
from ..errors import conflict
from ..operation import Operation
from .crash_operations import ensure_all_running

TAG = "state"

Scope = Literal["faults", "journal", "data", "all"]


class Reset(Struct, kw_only=True, forbid_unknown_fields=True):
    """What to reset.

    faults: removes all rules but those of the start, whose counts start at 0; connections with held, delayed or hanging
    requests are closed. Isolated nodes rejoin, paused replicas fetch again, partitions without a leader elect one, and
    listeners present their configured certificates.
    journal: deletes all requests and resets the verdict.
    data: closes all connections, deletes topics, groups, sessions and configs, recreates the seed topics and resets the
    clock. Isolated nodes rejoin, and unregistered ones register again. No request received before the reset is applied
    after it, and producer ids continue.
    """

    # Documented, for programs that catch it.
    error_type = RuleError

    scope: Scope = "all"


async def reset(control: Control, body: Reset) -> Reset:
    """Reset the broker. `data` and `all` start all nodes that are down."""
    if body.scope in ("faults", "all"):
        reset_faults(control)
    if body.scope in ("data", "all"):
        await ensure_all_running(control)
        reset_data(control)
    if body.scope in ("journal", "all"):
        control.journal.clear()
    return body


def reset_faults(control: Control) -> None:
    """Remove all rules, close the connections of the requests that they hold, and add the initial rules again.

    The rest is what Reset says of the scope `faults`.
    """
    control.plan.clear()
    control.server.lift_faults()
    if control.has_files:
        control.files.clear()
    control.arm_initial_rules()


def reset_data(control: Control) -> None:
    """Close all connections, delete all data of clients, and reset the verdict. Isolated nodes rejoin."""
    control.server.prepare_replacement()
    try:
        reset_cluster(control.cluster, control.seed_topics)
    except KafkaError as error:
        raise conflict(error.message, field="scope") from error
    control.journal.data_reset(control.cluster.controller.producer_ids.next_producer_id)


OPERATIONS = (Operation(method="POST", path="/v1/reset", perform=reset, tag=TAG, errors=(409,)),)
