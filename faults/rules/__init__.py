"""Fault rules for requests: matching, counting and actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import armed_rule as armed_rule
    from . import rule_checks as rule_checks
else:
    __getattr__ = part_loader(__name__)
