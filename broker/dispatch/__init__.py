"""From a decoded request header to its handler, and fault injection on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import delayed_responses as delayed_responses
    from . import throttling as throttling
else:
    __getattr__ = part_loader(__name__)
