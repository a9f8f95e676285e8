"""Groups of the consumer protocol (KIP-848): the broker assigns partitions, members reconcile with it by heartbeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....rare_parts import part_loader

if TYPE_CHECKING:
    from . import consumer_groups as consumer_groups
    from . import settings as settings
    from . import topics as topics
else:
    __getattr__ = part_loader(__name__)
