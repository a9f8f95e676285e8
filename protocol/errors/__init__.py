"""Error responses for any API and version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import error_responses as error_responses
else:
    __getattr__ = part_loader(__name__)
