"""`/faults` as `kcl fake --control` has it: its keys, its paths, its answers; errors have the shape they have here."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ..control import Control
from ..errors import unknown
from ..operation import Caller, Operation
from .kcl_faults import KclFault, KclRule, KclRules, duration_ms
from .rule_models import AWAIT_TIMEOUT_MS_MAX, HitCount, RulePath
from .waiting import wait_for_hits

TAG = "kcl"


class KclFaultInfo(Struct, kw_only=True):
    """Rules that share an id; left: -1 where one of them is until it is removed."""

    id: int
    rules: list[KclRule]
    hits: int
    left: int


class KclFaultList(Struct, kw_only=True):
    """All of them."""

    faults: list[KclFaultInfo]


class Removed(Struct, kw_only=True):
    """How many were removed."""

    removed: int


class KclWait(Struct, kw_only=True, forbid_unknown_fields=True):
    """For how many hits to wait; timeout: as Go writes durations, in real time."""

    hits: HitCount = 1
    timeout: Annotated[str, Meta(max_length=100)] = "30s"


class KclHits(Struct, kw_only=True):
    """How many there are."""

    hits: int


def add_kcl_fault(control: Control, body: KclRules) -> KclFaultInfo:
    """Put rules in force that are written with kcl's keys, under one id."""
    return _told(control.kcl.add(body.rules))


def list_kcl_faults(control: Control) -> KclFaultList:
    """List what was put in force by kcl's keys."""
    return KclFaultList(faults=[_told(fault) for fault in control.kcl.items()])


def remove_kcl_faults(control: Control) -> Removed:
    """Remove all that was put in force by kcl's keys, and no other rule."""
    faults = control.kcl.items()
    for fault in faults:
        control.kcl.remove(fault)
    return Removed(removed=len(faults))


def remove_kcl_fault(control: Control, path: RulePath) -> Removed:
    """Remove the rules of one id."""
    control.kcl.remove(_fault(control, path.id))
    return Removed(removed=1)


async def wait_for_kcl_fault(control: Control, path: RulePath, body: KclWait, caller: Caller) -> KclHits:
    """Answer when the rules have hit so often; 408 where that takes too long."""
    timeout_ms = duration_ms(body.timeout, ms_max=AWAIT_TIMEOUT_MS_MAX)
    return KclHits(hits=await wait_for_hits(_fault(control, path.id), body.hits, timeout_ms, caller))


def _fault(control: Control, fault_id: int) -> KclFault:
    fault = control.kcl.find(fault_id)
    if fault is None:
        raise unknown("fault", fault_id)
    return fault


def _told(fault: KclFault) -> KclFaultInfo:
    return KclFaultInfo(id=fault.fault_id, rules=fault.rules, hits=fault.hits, left=fault.left)


OPERATIONS = (
    Operation(method="POST", path="/faults", perform=add_kcl_fault, tag=TAG),
    Operation(method="GET", path="/faults", perform=list_kcl_faults, tag=TAG),
    Operation(method="DELETE", path="/faults", perform=remove_kcl_faults, tag=TAG),
    Operation(method="DELETE", path="/faults/{id}", perform=remove_kcl_fault, tag=TAG, errors=(404,)),
    Operation(method="POST", path="/faults/{id}/wait", perform=wait_for_kcl_fault, tag=TAG, errors=(404, 408, 503)),
)
