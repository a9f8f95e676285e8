"""Log segments and their indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import header_checks as header_checks
else:
    __getattr__ = part_loader(__name__)
