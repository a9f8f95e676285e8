"""Broker, topic and group configs: keys, types, sources and changes at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import config_documentation as config_documentation
    from . import config_history as config_history
    from . import config_since as config_since
    from . import config_sources as config_sources
else:
    __getattr__ = part_loader(__name__)
