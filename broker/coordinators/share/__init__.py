"""Share groups (KIP-932): several consumers of a partition, each record is acknowledged separately."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....rare_parts import part_loader

if TYPE_CHECKING:
    from . import share_groups as share_groups
    from . import share_nodes as share_nodes
    from . import share_partitions as share_partitions
    from . import share_state as share_state
    from . import state_requests as state_requests
else:
    __getattr__ = part_loader(__name__)
