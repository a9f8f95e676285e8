"""The transaction coordinator and its transaction markers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....rare_parts import part_loader

if TYPE_CHECKING:
    from . import transaction_coordinator as transaction_coordinator
else:
    __getattr__ = part_loader(__name__)
