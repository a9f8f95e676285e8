"""Small text and binary files beside the logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import properties_file as properties_file
else:
    __getattr__ = part_loader(__name__)
