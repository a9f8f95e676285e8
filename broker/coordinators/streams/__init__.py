"""Streams groups (KIP-1071): the broker assigns the tasks of a Kafka Streams application to its members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....rare_parts import part_loader

if TYPE_CHECKING:
    from . import streams_groups as streams_groups
else:
    __getattr__ = part_loader(__name__)
