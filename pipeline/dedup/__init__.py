"""Deduplication of a topic by event id, as a stream or a batch, to parquet or to another topic.

- No event is lost: what cannot be compared is kept.
- A checkpoint belongs to one source, one target and one event id (dedup_job.py).
- A repeated micro-batch writes the same records again, so each sink replaces or skips them (dedup_sinks.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import dedup_job as dedup_job
    from . import dedup_run as dedup_run
else:
    __getattr__ = part_loader(__name__)
