"""The operations of the admin API, one module a subject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import all_operations as all_operations
    from . import crash_operations as crash_operations
    from . import export_operations as export_operations
    from . import node_operations as node_operations
    from . import partition_operations as partition_operations
    from . import probe_operations as probe_operations
    from . import reset_operations as reset_operations
    from . import snapshot_operations as snapshot_operations
    from . import verdict_operations as verdict_operations
else:
    __getattr__ = part_loader(__name__)
