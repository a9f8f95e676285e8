"""The coordinators of a node: of groups (classic, KIP-848, share) and of transactions; each keeps its state in a log.

- `coordinators.py` creates each with its first request, and finds those of the other nodes.
- A coordinator changes its state at once and appends the records of the change to its internal topic
  (`coordinator_log.py`). A response that reports a change waits until they are durable; the next start replays them.
- Only the node that leads a partition of the internal topic coordinates its groups or transactional ids.
- Handlers call coordinators; coordinators know nothing of sockets, request headers and frames.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import coordinators as coordinators
else:
    __getattr__ = part_loader(__name__)
