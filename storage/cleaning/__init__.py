"""Log compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import log_cleaner as log_cleaner
else:
    __getattr__ = part_loader(__name__)
