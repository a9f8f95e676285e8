"""The broker: sockets to handlers to partition logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rare_parts import part_loader

if TYPE_CHECKING:
    from . import membership as membership
else:
    __getattr__ = part_loader(__name__)
