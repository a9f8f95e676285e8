"""Scenarios with Spark jobs, which run in their own processes; nothing here imports Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import job_engine as job_engine
else:
    __getattr__ = part_loader(__name__)
