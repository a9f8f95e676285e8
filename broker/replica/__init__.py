"""Partitions and their logs on one node: append, fetch, flush and delayed fetches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import discarding_partition as discarding_partition
    from . import fetch_sessions as fetch_sessions
    from . import replication as replication
else:
    __getattr__ = part_loader(__name__)
