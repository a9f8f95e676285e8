"""Partition logs in Kafka's own formats; no socket, no event loop, no clock: time is an argument."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rare_parts import part_loader

if TYPE_CHECKING:
    from . import append_decision as append_decision
    from . import append_refused as append_refused
    from . import generated_log as generated_log
    from . import log_manager as log_manager
    from . import replica_files as replica_files
else:
    __getattr__ = part_loader(__name__)
