"""`/faults` with the paths and bodies of `kcl fake --control`; errors have the form of this API."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ..control import Control
from ..errors import unknown
from ..kcl_faults import KclFault, KclRule, KclRules, duration_ms
from ..operation import Caller, Operation
from .rule_models import AWAIT_TIMEOUT_MS_MAX, HitCount, RulePath
from .waiting import wait_for_hits

TAG = "kcl"


class KclFaultInfo(Struct, kw_only=True):
    """Rules under one id. left: the remaining hits, -1 if one of the rules has no limit."""

    id: int
    rules: list[KclRule]
    hits: int
    left: int


class KclFaultList(Struct, kw_only=True):
    """All sets of rules."""

    faults: list[KclFaultInfo]


class Removed(Struct, kw_only=True):
    """The number of removed sets."""

    removed: int


class KclWait(Struct, kw_only=True, forbid_unknown_fields=True):
    """hits: the number to wait for. timeout: a Go duration, in real time."""

    hits: HitCount = 1
    timeout: Annotated[str, Meta(max_length=100)] = "30s"


class KclHits(Struct, kw_only=True):
    """The hits so far."""

    hits: int


def add_kcl_fault(control: Control, body: KclRules) -> KclFaultInfo:
    """Add rules in kcl's format under one id."""
    return _fault_info(control.kcl.add(body.rules))


def list_kcl_faults(control: Control) -> KclFaultList:
    """List the rules in kcl's format."""
    return KclFaultList(faults=[_fault_info(fault) for fault in control.kcl.items()])


def remove_kcl_faults(control: Control) -> Removed:
    """Remove all rules in kcl's format, and no other rule."""
    faults = control.kcl.items()
    for fault in faults:
        control.kcl.remove(fault)
    return Removed(removed=len(faults))


def remove_kcl_fault(control: Control, path: RulePath) -> Removed:
    """Remove the rules under one id."""
    control.kcl.remove(_fault(control, path.id))
    return Removed(removed=1)


async def wait_for_kcl_fault(control: Control, path: RulePath, body: KclWait, caller: Caller) -> KclHits:
    """Wait for the hits of the rules; 408 after the timeout."""
    timeout_ms = duration_ms(body.timeout, ms_max=AWAIT_TIMEOUT_MS_MAX)
    return KclHits(hits=await wait_for_hits(_fault(control, path.id), body.hits, timeout_ms, caller))


def _fault(control: Control, fault_id: int) -> KclFault:
    fault = control.kcl.find(fault_id)
    if fault is None:
        raise unknown("fault", fault_id)
    return fault


def _fault_info(fault: KclFault) -> KclFaultInfo:
    return KclFaultInfo(id=fault.fault_id, rules=fault.rules, hits=fault.hits, left=fault.left)


OPERATIONS = (
    Operation(method="POST", path="/faults", perform=add_kcl_fault, tag=TAG),
    Operation(method="GET", path="/faults", perform=list_kcl_faults, tag=TAG),
    Operation(method="DELETE", path="/faults", perform=remove_kcl_faults, tag=TAG),
    Operation(method="DELETE", path="/faults/{id}", perform=remove_kcl_fault, tag=TAG, errors=(404,)),
    Operation(method="POST", path="/faults/{id}/wait", perform=wait_for_kcl_fault, tag=TAG, errors=(404, 408, 503)),
)
