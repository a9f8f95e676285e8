"""The report of a scenario: timeline, sequence diagram and text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import failure_report as failure_report
else:
    __getattr__ = part_loader(__name__)
