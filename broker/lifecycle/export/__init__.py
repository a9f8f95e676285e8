"""Exports the topics of a broker to a data folder for a real Kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....rare_parts import part_loader

if TYPE_CHECKING:
    from . import kafka_folder as kafka_folder
    from . import log_export as log_export
else:
    __getattr__ = part_loader(__name__)
