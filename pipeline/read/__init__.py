"""Reading of logs, from segment files or from the topics of a broker, as rows of records or of batches.

- A log is what options select (options.py). log_splits.open_log opens it: FileLog for a path, FetchLog for a broker.
- A log is cut into splits, one for each task, which Spark sends to its workers. A split opens its file or connection.
- Nothing is written to a log, and a broker gets only requests that read.
- An invalid option, path or topic is a BadOption before the job starts. A broker that fails is a BrokerError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import log_source as log_source
    from . import records_around as records_around
else:
    __getattr__ = part_loader(__name__)
