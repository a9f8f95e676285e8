"""The types of what a broker's methods take and return, for annotations in tests."""

from __future__ import annotations

from ..admin.async_methods.rules import AsyncFaults, AsyncFiles, AsyncRule
from ..admin.methods.acls import AclValues
from ..admin.methods.quotas import QuotaValues
from ..admin.methods.rules import Faults, Files, Rule
from ..admin.methods.topics import SeedFields

__all__ = [
    "AclValues",
    "AsyncFaults",
    "AsyncFiles",
    "AsyncRule",
    "Faults",
    "Files",
    "QuotaValues",
    "Rule",
    "SeedFields",
]
