"""Classic consumer groups: membership, rebalance and committed offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....rare_parts import part_loader

if TYPE_CHECKING:
    from . import group_coordinator as group_coordinator
    from . import group_offsets as group_offsets
    from . import group_settings as group_settings
else:
    __getattr__ = part_loader(__name__)
