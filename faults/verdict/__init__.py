"""The verdict on a topic: lost, duplicated, reordered and unacknowledged batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import batch_content as batch_content
    from . import delivery_counts as delivery_counts
    from . import verdict as verdict
else:
    __getattr__ = part_loader(__name__)
