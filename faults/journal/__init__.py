"""The journal: each request with the broker's decisions and its response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import mark_texts as mark_texts
else:
    __getattr__ = part_loader(__name__)
