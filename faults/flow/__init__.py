"""What an application makes of the events of one topic in another, and the verdict on that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import flow_verdict as flow_verdict
else:
    __getattr__ = part_loader(__name__)
