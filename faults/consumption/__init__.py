"""What was delivered to consumer groups and what they committed, and the verdict on a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import group_histories as group_histories
    from . import judge as judge
else:
    __getattr__ = part_loader(__name__)
