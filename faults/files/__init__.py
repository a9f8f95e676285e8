"""File fault rules, and the file system that applies them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import armed_file_rule as armed_file_rule
    from . import file_fault_injector as file_fault_injector
    from . import file_rules as file_rules
else:
    __getattr__ = part_loader(__name__)
