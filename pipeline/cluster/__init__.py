"""Spark itself: sessions on one machine or a cluster, jars, the archive for workers, progress, and the log.

The user's settings override the ones here. Spark is imported when a session starts, because that takes a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import spark_errors as spark_errors
    from . import spark_session as spark_session
else:
    __getattr__ = part_loader(__name__)
