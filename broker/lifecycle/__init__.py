"""From options to a running cluster and back: options, data folder, start, recovery, crash, reset, snapshot, shutdown.

- Options are checked before anything is created; an error names the option, its value and what is allowed.
- A data folder has one owner at a time (`data_directory.py`). Its metadata file says which topics exist.
- Loading is by Kafka's rules for a clean and an unclean shutdown; a log that cannot be recovered stops the start.
- A node that crashes keeps what was on the disk, and nothing else. The other nodes go on.
- The commands that need no broker of their own, such as health and topics, are here too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import advertised_file as advertised_file
    from . import cluster_loader as cluster_loader
    from . import command_line as command_line
    from . import data_folder_check as data_folder_check
    from . import health as health
    from . import health_addresses as health_addresses
    from . import metadata_store as metadata_store
    from . import nodes_loader as nodes_loader
    from . import secret_files as secret_files
    from . import serve_command as serve_command
    from . import topic_command as topic_command
    from . import topic_loader as topic_loader
else:
    __getattr__ = part_loader(__name__)
