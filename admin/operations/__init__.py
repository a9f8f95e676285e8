"""The operations of the admin API, one module a subject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import all_operations as all_operations
    from . import crash_operations as crash_operations
    from . import export_operations as export_operations
    from . import file_operations as file_operations
    from . import flow_verdicts as flow_verdicts
    from . import group_verdicts as group_verdicts
    from . import journal_operations as journal_operations
    from . import node_operations as node_operations
    from . import offset_pages as offset_pages
    from . import partition_operations as partition_operations
    from . import probe_operations as probe_operations
    from . import processed_operations as processed_operations
    from . import record_operations as record_operations
    from . import reset_operations as reset_operations
    from . import rule_operations as rule_operations
    from . import snapshot_operations as snapshot_operations
    from . import topic_operations as topic_operations
    from . import verdict_operations as verdict_operations
    from . import verdict_summaries as verdict_summaries
else:
    __getattr__ = part_loader(__name__)
