"""Kafka's wire protocol: wire types, generated messages, hand-written codecs and record batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rare_parts import part_loader

if TYPE_CHECKING:
    from . import compiled_modules as compiled_modules
    from . import consumer_protocol as consumer_protocol
    from . import similar_names as similar_names
else:
    __getattr__ = part_loader(__name__)
